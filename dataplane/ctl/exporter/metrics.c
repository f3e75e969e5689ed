/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "exporter/complaint.h"
#include "exporter/exposition.h"
#include "exporter/metrics.h"
#include "exporter/policy_rows.h"
#include "exporter/tunnel_names.h"
#include "huge_pages.h"

/* clang-format off */
#define PACKETS(name, field, help) {name "_packets", "packets", field, help, true, VALUE_NUMBER}
#define BYTES(name, field, help) {name "_bytes", "bytes", field, help, true, VALUE_NUMBER}
#define COUNT(name, field, help) {name, NULL, field, help, true, VALUE_NUMBER}
#define GAUGE(name, unit, field, help, value) {name, unit, field, help, false, value}
#define END {NULL, NULL, NULL, NULL, false, VALUE_NUMBER}
/* clang-format on */

static const struct label no_labels[] = {{NULL, NULL}};
static const struct label build_labels[] = {{"version", "version"}, {NULL, NULL}};

static const struct family build_families[] = {
	GAUGE("cygnet_build_info", NULL, "version", "Version of cygnetd.", VALUE_ONE),
	END,
};

static const struct family info_families[] = {
	GAUGE("cygnet_start_time_seconds", "seconds", "started",
	      "Start of cygnetd, seconds since 1970.", VALUE_NUMBER),
	GAUGE("cygnet_charon_up", NULL, "charon_pid", "Whether charon has opened the SAD and SPD.",
	      VALUE_ANY),
	GAUGE("cygnet_charon_down_seconds", "seconds", "charon_down_s",
	      "Time since charon has gone, as far as this cygnetd knows; 0 while it runs.",
	      VALUE_NUMBER),
	GAUGE("cygnet_taken_over", NULL, "taken_over",
	      "1 if this cygnetd has taken over from another one, which is no restart.",
	      VALUE_NUMBER),
	GAUGE("cygnet_sas", NULL, "sas", "SAs, including reserved SPIs.", VALUE_NUMBER),
	GAUGE("cygnet_sas_limit", NULL, "sas_max", "SAs that the SAD has room for.", VALUE_NUMBER),
	GAUGE("cygnet_policies", NULL, "policies", "Policies.", VALUE_NUMBER),
	GAUGE("cygnet_policies_held", NULL, "policies_held",
	      "Policies of an earlier charon or boot that drop packets until charon has installed its own.",
	      VALUE_NUMBER),
	GAUGE("cygnet_policies_limit", NULL, "policies_max", "Policies that the SPD has room for.",
	      VALUE_NUMBER),
	GAUGE("cygnet_deleted_entries", NULL, "deleted",
	      "Deleted SAs and policies that are not wiped yet.", VALUE_NUMBER),
	COUNT("cygnet_database_repairs", "repairs",
	      "Repairs of the SAD and SPD after the death of a writer."),
	COUNT("cygnet_events", "events",
	      "Events for charon (acquire, expire, NAT mapping) and audit records."),
	END,
};

static const struct label worker_labels[] = {{"worker", "worker"}, {NULL, NULL}};
static const struct family worker_families[] = {
	PACKETS("cygnet_worker_forwarded", "forwarded", "Packets forwarded in plaintext."),
	PACKETS("cygnet_worker_encapsulated", "encapsulated", "Packets protected with ESP or AH."),
	PACKETS("cygnet_worker_decapsulated", "decapsulated",
		"Packets authenticated and decrypted, and allowed by policy."),
	PACKETS("cygnet_worker_dummy", "dummies", "Dummy packets discarded (RFC 4303, 2.6)."),
	PACKETS("cygnet_worker_keepalive", "keepalives",
		"NAT keepalives discarded (RFC 3948, 2.3)."),
	PACKETS("cygnet_worker_waited_for_sa", "waited_for_sa", "Packets that waited for an SA."),
	PACKETS("cygnet_worker_came_early", "came_early",
		"ESP and AH packets that waited until charon had installed their SA."),
	PACKETS("cygnet_worker_reassembled", "reassembled",
		"ESP, AH and IKE packets reassembled from fragments."),
	PACKETS("cygnet_worker_handed_off", "handed_off",
		"Packets and frames handed off to other workers."),
	COUNT("cygnet_worker_sas_moved", "sas_moved",
	      "SAs given to another worker, because this one was overloaded."),
	COUNT("cygnet_worker_sas_shared", "sas_shared",
	      "SAs of this worker that others have begun to protect packets with."),
	COUNT("cygnet_worker_order_gaps", "order_gaps",
	      "Sequence numbers that packets of a shared SA waited for in vain."),
	PACKETS("cygnet_worker_crypto_core", "crypto_cores",
		"Packets whose crypto was done by a crypto core."),
	PACKETS("cygnet_worker_known_flow", "shortcut", "Packets of known flows."),
	PACKETS("cygnet_worker_dropped", "dropped", "Packets dropped."),
	COUNT("cygnet_worker_path_mtu_lowered", "too_big_learned",
	      "ICMP errors that lowered the path MTU of an SA."),
	COUNT("cygnet_worker_path_mtu_ignored", "too_big_ignored",
	      "ICMP errors that match no SA or are implausible."),
	COUNT("cygnet_worker_turns", "turns", "Turns of the worker's loop."),
	GAUGE("cygnet_worker_buffers", NULL, "buffers",
	      "Packet buffers in use, of the mempool of the worker, which others may share.",
	      VALUE_NUMBER),
	GAUGE("cygnet_worker_buffers_limit", NULL, "buffers_max", "Packet buffers of that mempool.",
	      VALUE_NUMBER),
	{"cygnet_worker_busy_seconds", "seconds", "busy_cycles",
	 "Time in turns that moved a packet; its rate is how busy the worker is.", true,
	 VALUE_SECONDS},
	END,
};

static const struct label port_labels[] = {{"port", "name"}, {"device", "device"}, {NULL, NULL}};
static const struct family port_families[] = {
	GAUGE("cygnet_port_up", NULL, "state", "Whether the port's TAP is up.", VALUE_UP),
	GAUGE("cygnet_port_link_up", NULL, "link", "Whether the port's device has a link.",
	      VALUE_UP),
	GAUGE("cygnet_port_mtu_bytes", "bytes", "mtu", "MTU of the port.", VALUE_NUMBER),
	PACKETS("cygnet_port_receive", "rx_packets", "Packets received."),
	BYTES("cygnet_port_receive", "rx_bytes", "Bytes received."),
	PACKETS("cygnet_port_transmit", "tx_packets", "Packets sent."),
	BYTES("cygnet_port_transmit", "tx_bytes", "Bytes sent."),
	PACKETS("cygnet_port_to_kernel", "to_kernel", "Packets passed to the kernel."),
	PACKETS("cygnet_port_from_kernel", "from_kernel", "Packets taken from the kernel."),
	PACKETS("cygnet_port_receive_missed", "rx_missed",
		"Packets that the device dropped because no worker took them."),
	PACKETS("cygnet_port_receive_error", "rx_errors", "Packets received with an error."),
	PACKETS("cygnet_port_transmit_error", "tx_errors",
		"Packets that the device failed to send."),
	END,
};

static const struct label engine_labels[] = {
	{"device", "device"},
	{"engine", "engine"},
	{NULL, NULL},
};
static const struct family engine_families[] = {
	GAUGE("cygnet_engine_up", NULL, "state", "0 once the crypto device has failed.", VALUE_UP),
	GAUGE("cygnet_engine_sessions", NULL, "sas", "Sessions on the crypto device.",
	      VALUE_NUMBER),
	PACKETS("cygnet_engine_encrypted", "encrypted", "Packets encrypted."),
	PACKETS("cygnet_engine_decrypted", "decrypted", "Packets decrypted."),
	BYTES("cygnet_engine_processed", "bytes", "Bytes of encrypted and decrypted packets."),
	PACKETS("cygnet_engine_failed", "failed",
		"Packets that the device returned with an error."),
	END,
};

static const struct label drop_labels[] = {{"reason", "reason"}, {NULL, NULL}};
static const struct family drop_families[] = {
	PACKETS("cygnet_dropped", "packets", "Packets dropped, by reason."),
	END,
};

static const struct label stage_labels[] = {{"stage", "stage"}, {NULL, NULL}};
static const struct family stage_families[] = {
	PACKETS("cygnet_stage", "packets", "Packets that the stage was given."),
	COUNT("cygnet_stage_vectors", "vectors", "Vectors of packets that the stage was given."),
	{"cygnet_stage_cycles", "cycles", "cycles",
	 "Cycles of the time-stamp counter in the stage.", true, VALUE_NUMBER},
	END,
};

static const struct label core_labels[] = {{"core", "core"}, {NULL, NULL}};
static const struct family core_families[] = {
	COUNT("cygnet_crypto_core_batches", "batches",
	      "Batches of packets that the core has done."),
	{"cygnet_crypto_core_busy_seconds", "seconds", "busy_cycles",
	 "Time with a batch; its rate is how busy the crypto core is.", true, VALUE_SECONDS},
	END,
};

static const struct label kind_labels[] = {{"kind", "kind"}, {NULL, NULL}};
static const struct family kind_families[] = {
	COUNT("cygnet_events_by_kind", "events",
	      "Events for charon (acquire, expire-soft, expire-hard, mapping) and audit records, by kind."),
	END,
};

static const struct label tunnel_labels[] = {
	{"connection", "connection"}, {"child", "child"}, {"reqid", "reqid"},
	{"local", "local"},	      {"peer", "peer"},	  {NULL, NULL},
};
static const struct family tunnel_families[] = {
	GAUGE("cygnet_tunnel_up", NULL, "up",
	      "Whether the tunnel has SAs in both directions; the same over rekeyings.",
	      VALUE_NUMBER),
	GAUGE("cygnet_tunnel_age_seconds", "seconds", "age",
	      "Age of the tunnel's newest SA: it resets with each rekeying.", VALUE_NUMBER),
	END,
};

static const struct family tunnels_families[] = {
	GAUGE("cygnet_tunnels", NULL, "tunnels", "Tunnels that have SAs.", VALUE_NUMBER),
	GAUGE("cygnet_tunnels_up", NULL, "up", "Tunnels that have SAs in both directions.",
	      VALUE_NUMBER),
	END,
};

static const struct label policy_labels[] = {
	{"dir", "dir"},	    {"action", "action"}, {"selector", "selector"},
	{"reqid", "reqid"}, {NULL, NULL},
};
static const struct family policy_families[] = {
	PACKETS("cygnet_policy_passed", "passed",
		"Packets that the policy was looked up for and let pass; of a known flow about one a second."),
	PACKETS("cygnet_policy_dropped", "dropped", "Packets that were dropped by the policy."),
	END,
};

static const struct label page_labels[] = {{"size", "size"}, {NULL, NULL}};
static const struct family page_families[] = {
	GAUGE("cygnet_huge_pages", NULL, "pages", "Huge pages of the host, by size in bytes.",
	      VALUE_NUMBER),
	GAUGE("cygnet_huge_pages_free", NULL, "free", "Those that no process uses.", VALUE_NUMBER),
	END,
};

static const struct label sa_labels[] = {
	{"spi", "spi"}, {"dir", "dir"},	    {"src", "src"},
	{"dst", "dst"}, {"reqid", "reqid"}, {NULL, NULL},
};
static const struct family sa_families[] = {
	PACKETS("cygnet_sa", "packets", "Packets of the SA."),
	BYTES("cygnet_sa", "bytes", "Bytes of the SA's inner packets."),
	PACKETS("cygnet_sa_replay_dropped", "replay_drops", "Packets outside the replay window."),
	PACKETS("cygnet_sa_auth_failed", "auth_drops", "Packets with a wrong ICV."),
	END,
};

/* The commands to cygnetd's telemetry, in the order of the output. */
static const struct source {
	const char *command;
	struct table table;
	bool added; /* after the first release: cygnetd may be an older one that does not know it */
} sources[] = {
	{"/cygnet/info", {build_labels, build_families}, false},
	{"/cygnet/info", {no_labels, info_families}, false},
	{"/cygnet/stats", {worker_labels, worker_families}, false},
	{"/cygnet/ports", {port_labels, port_families}, false},
	{"/cygnet/engines", {engine_labels, engine_families}, false},
	{"/cygnet/drops", {drop_labels, drop_families}, false},
	{"/cygnet/stages", {stage_labels, stage_families}, false},
	{"/cygnet/crypto_cores", {core_labels, core_families}, true},
	{"/cygnet/event_kinds", {kind_labels, kind_families}, true},
	{"/cygnet/tunnel_counts", {no_labels, tunnels_families}, true},
	{"/cygnet/tunnels", {tunnel_labels, tunnel_families}, true},
	{"/cygnet/policies_named", {policy_labels, policy_families}, true},
	{"/cygnet/sas", {sa_labels, sa_families}, false},
};
#define SOURCES (sizeof(sources) / sizeof(sources[0]))

/* @return the most rows that are wanted; 0: the table is left out */
static size_t most_rows(const struct metrics *metrics, const struct source *source)
{
	if (source->table.families == stage_families)
		return metrics->stages ? SIZE_MAX : 0;
	if (source->table.families == policy_families)
		return metrics->policies;
	if (source->table.families == tunnel_families || source->table.families == tunnels_families)
		return metrics->tunnels;
	return source->table.families == sa_families ? metrics->sas : SIZE_MAX;
}

static void free_rows(json_t *const *rows)
{
	for (size_t i = 0; i < SOURCES; i++)
		json_decref(rows[i]);
}

enum outcome {
	COMPLETE,   /* all that this cygnetd has */
	INCOMPLETE, /* a table is missing that it has */
	DOWN,	    /* it does not answer */
};

/* @param error  why the outcome is not COMPLETE */
static enum outcome ask_table(int fd, const struct source *source, size_t most, json_t **rows,
			      char *error, size_t size)
{
	int known;

	*rows = client_rows(fd, source->command, most, error, size);
	if (*rows)
		return COMPLETE;
	known = client_knows(fd, source->command);
	if (!known && source->added)
		return COMPLETE;
	/* The first table is of the process: without it there is none that serves. */
	return known > 0 && source != sources ? INCOMPLETE : DOWN;
}

/* A table that fails is left out, and the others are there. @param error  why the outcome is not COMPLETE */
static enum outcome ask(const struct metrics *metrics, json_t **rows, char *error, size_t size)
{
	int fd = options_connect(&metrics->options, error, size);
	enum outcome all = fd < 0 ? DOWN : COMPLETE;

	for (size_t i = 0; i < SOURCES && all != DOWN; i++) {
		size_t most = most_rows(metrics, &sources[i]);
		enum outcome outcome = COMPLETE;
		char reason[1024];

		if (most)
			outcome = ask_table(fd, &sources[i], most, &rows[i], reason,
					    sizeof(reason));
		if (outcome > all) {
			snprintf(error, size, "%s", reason);
			all = outcome;
		}
	}
	if (fd >= 0)
		close(fd);
	return all;
}

static void put_policies(const struct exposition *exposition, const json_t *policies)
{
	static const struct table table = {policy_labels, policy_families};
	json_t *rows = policies ? policy_rows(policies) : NULL;

	exposition_table(exposition, &table, rows);
	json_decref(rows);
}

static void put_tables(const struct exposition *exposition, const struct metrics *metrics,
		       json_t *const *rows)
{
	for (size_t i = 0; i < SOURCES; i++) {
		if (sources[i].table.families == policy_families) {
			put_policies(exposition, rows[i]);
			continue;
		}
		if (sources[i].table.families == tunnel_families && rows[i])
			tunnel_names_add(rows[i], metrics->options.vici);
		exposition_table(exposition, &sources[i].table, rows[i]);
	}
}

static void put_host(const struct exposition *exposition)
{
	static const struct table table = {page_labels, page_families};
	json_t *rows = huge_pages_rows("");

	exposition_table(exposition, &table, rows);
	json_decref(rows);
}

char *metrics_text(const struct metrics *metrics, bool openmetrics, size_t *length)
{
	static long long scrapes, errors;
	static struct complaint complaint;
	struct exposition exposition = {.openmetrics = openmetrics};
	json_t *rows[SOURCES] = {0};
	char error[1024] = "out of memory", *text = NULL;
	enum outcome outcome;
	bool up;

	exposition.out = open_memstream(&text, length);
	if (!exposition.out)
		return NULL;
	outcome = ask(metrics, rows, error, sizeof(error));
	complain(&complaint, "cygnetd", outcome == COMPLETE ? NULL : error);
	up = outcome != DOWN;
	scrapes++;
	errors += outcome != COMPLETE;
	exposition_gauge(&exposition, "cygnet_up", "Whether cygnetd answers.", up);
	exposition_counter(&exposition, "cygnet_exporter_scrapes",
			   "Scrapes since cygnet-exporter has started.", scrapes);
	exposition_counter(
		&exposition, "cygnet_exporter_scrape_errors",
		"Scrapes for which cygnetd did not answer, or without a table that it has.",
		errors);
	put_host(&exposition);
	if (up)
		put_tables(&exposition, metrics, rows);
	exposition_end(&exposition);
	free_rows(rows);
	if (fclose(exposition.out)) {
		free(text);
		return NULL;
	}
	return text;
}

void metrics_keep_stages(const struct metrics *metrics)
{
	char error[1024];
	int fd = options_connect(&metrics->options, error, sizeof(error));

	if (fd < 0)
		return;
	json_decref(client_table(fd, "/cygnet/stages", error, sizeof(error)));
	close(fd);
}
