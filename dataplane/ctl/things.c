/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "databases.h"
#include "things.h"

static const struct column sad_columns[] = {
	{"spi", "SPI"},		{"dir", "DIR"},	    {"src", "SRC"},	   {"dst", "DST"},
	{"proto", "PROTO"},	{"encap", "ENCAP"}, {"cipher", "CIPHER"},  {"key_bits", "BITS"},
	{"auth", "AUTH"},	{"icv", "ICV"},	    {"reqid", "REQID"},	   {"seq", "SEQ"},
	{"packets", "PACKETS"}, {"bytes", "BYTES"}, {"last_used", "USED"}, {"window", "WINDOW"},
	{NULL, NULL},
};

static const struct column spd_columns[] = {
	{"dir", "DIR"},
	{"selector", "SELECTOR"},
	{"action", "ACTION"},
	{"held", "HELD"},
	{"priority", "PRIORITY"},
	{"reqid", "REQID"},
	{"spi", "SPI"},
	{"last_used", "USED"},
	{"passed", "PASSED"},
	{"dropped", "DROPPED"},
	{NULL, NULL},
};

static const struct column ports_columns[] = {
	{"name", "PORT"},
	{"tap", "TAP"},
	{"driver", "DRIVER"},
	{"address", "ADDRESS"},
	{"mac", "MAC"},
	{"mtu", "MTU"},
	{"state", "STATE"},
	{"queues", "QUEUES"},
	{"rx_packets", "RX"},
	{"rx_bytes", "RX-BYTES"},
	{"tx_packets", "TX"},
	{"tx_bytes", "TX-BYTES"},
	{"to_kernel", "TO-KERNEL"},
	{"from_kernel", "FROM-KERNEL"},
	{"rx_missed", "MISSED"},
	{NULL, NULL},
};

static const struct column routes_columns[] = {
	{"prefix", "PREFIX"}, {"kind", "KIND"},	    {"gateway", "GATEWAY"}, {"port", "PORT"},
	{"table", "TABLE"},   {"metric", "METRIC"}, {"mtu", "MTU"},	    {NULL, NULL},
};

static const struct column ike_columns[] = {
	{"family", "FAMILY"},
	{"port", "PORT"},
	{"passes", "PASSES"},
	{NULL, NULL},
};

static const struct column engines_columns[] = {
	{"device", "DEVICE"},
	{"driver", "DRIVER"},
	{"engine", "ENGINE"},
	{"state", "STATE"},
	{"sas", "SAS"},
	{"encrypted", "ENCRYPTED"},
	{"decrypted", "DECRYPTED"},
	{"bytes", "BYTES"},
	{"failed", "FAILED"},
	{NULL, NULL},
};

const struct column things_measured[] = {
	{"algorithm", "ALGORITHM"},
	{"length", "BYTES"},
	{"device", "DEVICE"},
	{"packet_ns", "PACKET-NS"},
	{"gbps", "GBPS"},
	{"core_ns", "CORE-NS"},
	{"latency_us", "LATENCY-US"},
	{"chosen", "CHOSEN"},
	{"pays_from_gbps", "PAYS-FROM-GBPS"},
	{NULL, NULL},
};

/* Columns by packet length, as measured by cygnetd; Gbps. */
const struct column things_chosen[] = {
	{"algorithm", "ALGORITHM"}, {"64", "64 BYTES"},	    {"256", "256 BYTES"},
	{"1024", "1024 BYTES"},	    {"1408", "1408 BYTES"}, {NULL, NULL},
};

static const struct column stats_columns[] = {
	{"worker", "WORKER"},
	{"forwarded", "FORWARDED"},
	{"encapsulated", "ENCAPSULATED"},
	{"decapsulated", "DECAPSULATED"},
	{"dummies", "DUMMIES"},
	{"keepalives", "KEEPALIVES"},
	{"waited_for_sa", "WAITED-FOR-SA"},
	{"reassembled", "REASSEMBLED"},
	{"too_big_learned", "TOO-BIG-LEARNED"},
	{"too_big_ignored", "TOO-BIG-IGNORED"},
	{"handed_off", "HANDED-OFF"},
	{"sas_moved", "SAS-MOVED"},
	{"crypto_cores", "CRYPTO-CORES"},
	{"shortcut", "SHORTCUT"},
	{"dropped", "DROPPED"},
	{NULL, NULL},
};

static const struct column drops_columns[] = {
	{"packets", "PACKETS"},
	{"reason", "REASON"},
	{"help", "WHAT IT MEANS"},
	{NULL, NULL},
};

static const struct column stages_columns[] = {
	{"stage", "STAGE"},
	{"packets", "PACKETS"},
	{"vectors", "VECTORS"},
	{"packets_per_vector", "PER-VECTOR"},
	{"cycles_per_packet", "CYCLES"},
	{"help", "WHAT IT DOES"},
	{NULL, NULL},
};

const struct thing things[THINGS] = {
	[THING_SAD] = {"sad", NULL, databases_sad, sad_columns, "SAs"},
	[THING_SPD] = {"spd", NULL, databases_spd, spd_columns, "policies"},
	[THING_PORTS] = {"ports", "/cygnet/ports", NULL, ports_columns, "ports of the gateway"},
	[THING_ROUTES] = {"routes", "/cygnet/routes", NULL, routes_columns, "routes in force"},
	[THING_IKE] = {"ike", "/cygnet/ike", NULL, ike_columns,
		       "UDP ports of charon that are exempt from policies"},
	[THING_ENGINES] =
		{"engines", "/cygnet/engines", NULL, engines_columns,
		 "crypto devices; --measurements: what serves which algorithm;\n"
		 "             ALGORITHM: what was measured of those whose names begin so"},
	[THING_STATS] = {"stats", "/cygnet/stats", NULL, stats_columns, "packets by worker"},
	[THING_DROPS] = {"drops", "/cygnet/drops", NULL, drops_columns,
			 "dropped packets by reason"},
	[THING_STAGES] = {"stages", "/cygnet/stages", NULL, stages_columns,
			  "what the workers' stages do in a second"},
};

const char *const *things_names(void)
{
	static const char *names[THINGS + 1];

	for (size_t i = 0; i < THINGS; i++)
		names[i] = things[i].name;
	return names;
}

const struct thing *things_find(const char *name)
{
	for (size_t i = 0; i < THINGS; i++)
		if (!strcmp(name, things[i].name))
			return &things[i];
	return NULL;
}

void things_help(FILE *out)
{
	fprintf(out, "things:\n");
	for (size_t i = 0; i < THINGS; i++)
		fprintf(out, "  %-9s  %s\n", things[i].name, things[i].help);
}
