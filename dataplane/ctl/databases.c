/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/selector_text.h"
#include "charon.h"
#include "databases.h"
#include "esp/path_mtu.h"
#include "text.h"

/* Seconds since a time; null if the time is 0 (never). */
static json_t *ago(uint64_t now, uint64_t then)
{
	return then ? json_integer((json_int_t)(now > then ? now - then : 0)) : json_null();
}

static json_t *mtu_or_null(unsigned int mtu)
{
	return mtu ? json_integer(mtu) : json_null();
}

/* Seconds until a limit; null if there is none. */
static json_t *until(uint64_t now, uint64_t then, uint64_t limit)
{
	uint64_t age = then && now > then ? now - then : 0;

	return limit ? json_integer((json_int_t)(limit > age ? limit - age : 0)) : json_null();
}

static json_t *cpu_or_null(int cpu)
{
	return cpu == CYGNET_CPU_ANY ? json_null() : json_integer(cpu);
}

static json_t *limit_or_null(uint64_t limit)
{
	return limit ? json_integer((json_int_t)limit) : json_null();
}

/* Age and limits, and what charon knows. */
static int add_lifetime(json_t *row, const struct cygnet_sa *sa, uint64_t now)
{
	const struct cygnet_lifetime *l = &sa->lifetime;

	return json_object_set_new(row, "age", ago(now, sa->install_time)) ||
	       json_object_set_new(row, "rekey_in",
				   until(now, sa->install_time, l->soft_seconds)) ||
	       json_object_set_new(row, "expires_in",
				   until(now, sa->install_time, l->hard_seconds)) ||
	       json_object_set_new(row, "soft_bytes", limit_or_null(l->soft_bytes)) ||
	       json_object_set_new(row, "hard_bytes", limit_or_null(l->hard_bytes)) ||
	       json_object_set_new(row, "soft_packets", limit_or_null(l->soft_packets)) ||
	       json_object_set_new(row, "hard_packets", limit_or_null(l->hard_packets));
}

static int add_child(json_t *row, const json_t *child)
{
	static const char *const keys[] = {"ike", "ike_id", "child", "child_id", "remote_id"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *value = json_object_get(child, keys[i]);

		if (value ? json_object_set(row, keys[i], value)
			  : json_object_set_new(row, keys[i], json_null()))
			return -ENOMEM;
	}
	return 0;
}

json_t *databases_sa(const struct cygnet_sa *sa, const json_t *child, uint64_t now)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	char spi[SPI_TEXT], proto[8], src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	bool inbound = sa->flags & CYGNET_SA_INBOUND;
	json_t *row;

	addr_text(path->af, &path->src, src);
	addr_text(path->af, &path->dst, dst);
	row = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:i, s:s, s:i, s:I, s:b,"
		" s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:I}",
		"spi", spi_text(sa->spi, spi), "dir", inbound ? "in" : "out", "state",
		sa->state == CYGNET_SLOT_LIVE ? "live" : "larval", "src", src, "dst", dst, "peer",
		inbound ? src : dst, "proto", proto_text(sa->proto, proto, sizeof(proto)), "mode",
		sa->mode == CYGNET_TUNNEL ? "tunnel" : "transport", "encap",
		path->encap ? "udp" : "none", "sport", path->encap ? ntohs(path->sport) : 0,
		"dport", path->encap ? ntohs(path->dport) : 0, "cipher",
		cygnet_cipher_name(sa->cipher), "key_bits", sa->cipher_key_len * 8, "auth",
		cygnet_auth_name(sa->auth), "icv", sa->icv_len, "reqid", (json_int_t)sa->reqid,
		"esn", !!(sa->flags & CYGNET_SA_ESN), "seq", (json_int_t)sa->seq, "packets",
		(json_int_t)sa->packets, "bytes", (json_int_t)sa->bytes, "last_used",
		ago(now, sa->use_time), "window", (json_int_t)sa->replay_window, "replay_drops",
		(json_int_t)sa->replay_drops, "auth_drops", (json_int_t)sa->auth_drops, "path_mtu",
		mtu_or_null(path_mtu_reported(sa->path_mtu, now)), "cpu",
		cpu_or_null(cygnet_sa_cpu(sa)), "if_id", (json_int_t)sa->if_id);
	if (row && (add_lifetime(row, sa, now) || add_child(row, child))) {
		json_decref(row);
		return NULL;
	}
	return row;
}

static const char *name_of(const json_t *child, const char *key)
{
	return json_string_value(json_object_get(child, key));
}

json_t *databases_sad(struct cygnet_db *db, const struct sa_filter *filter, const json_t *children,
		      uint64_t now)
{
	json_t *rows = json_array();
	struct cygnet_db_info info;
	struct cygnet_sa sa;

	cygnet_db_info(db, &info);
	for (uint32_t i = 0; i < info.geometry.sas; i++) {
		const struct cygnet_path *path;
		const json_t *child;

		if (!cygnet_sa_snapshot(db, i, &sa) || !sa_filter_takes(filter, &sa) ||
		    (filter->spi && filter->spi != sa.spi))
			continue;
		path = cygnet_sa_path(&sa);
		child = charon_child(children, sa.flags & CYGNET_SA_INBOUND, sa.spi, path->af,
				     &path->dst);
		if (sa_filter_takes_name(filter, name_of(child, "ike"), name_of(child, "child")))
			json_array_append_new(rows, databases_sa(&sa, child, now));
	}
	return rows;
}

static json_t *policy_row(const struct cygnet_policy *policy, uint32_t slot,
			  const struct if_nameindex *interfaces, uint64_t now)
{
	const struct cygnet_selector *sel = &policy->sel;
	char src[RANGE_TEXT], dst[RANGE_TEXT], sports[16], dports[16], protos[8], sa_protos[8];
	char selector[SELECTOR_TEXT], spi[SPI_TEXT], number[INTERFACE_TEXT];
	const char *interface = interface_text(interfaces, sel, number);
	const char *proto = proto_text(sel->proto, protos, sizeof(protos));
	const char *sport = ports_text(sel->sport_lo, sel->sport_hi, sports, sizeof(sports));
	const char *dport = ports_text(sel->dport_lo, sel->dport_hi, dports, sizeof(dports));
	bool protect = policy->action == CYGNET_PROTECT;

	range_text(sel->af, &sel->src_lo, &sel->src_hi, src);
	range_text(sel->af, &sel->dst_lo, &sel->dst_hi, dst);
	selector_text(policy, interfaces, selector, sizeof(selector));
	return json_pack(
		"{s:s, s:o, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:b, s:I, s:I, s:s?, s:s?, s:s?, s:I, s:o,"
		" s:I, s:I, s:n, s:n}",
		"dir", policy_dir_text(policy->dir), "selector",
		text_json(selector, sizeof(selector)), "src", src, "dst", dst, "proto", proto,
		"sport", sport, "dport", dport, "interface",
		text_json(interface, strlen(interface)), "action",
		policy_action_text(policy->action), "held", cygnet_policy_held(policy), "priority",
		(json_int_t)policy->priority, "reqid", (json_int_t)policy->reqid, "spi",
		policy->spi ? spi_text(policy->spi, spi) : NULL, "sa_proto",
		protect ? proto_text(policy->proto, sa_protos, sizeof(sa_protos)) : NULL, "mode",
		!protect			? NULL
		: policy->mode == CYGNET_TUNNEL ? "tunnel"
						: "transport",
		"refs", (json_int_t)policy->refs, "last_used", ago(now, policy->use_time), "slot",
		(json_int_t)slot, "generation", (json_int_t)policy->generation, "passed",
		"dropped");
}

json_t *databases_spd(struct cygnet_db *db, uint64_t now)
{
	struct if_nameindex *interfaces = if_nameindex();
	json_t *rows = json_array();
	struct cygnet_policy policy;
	struct cygnet_db_info info;

	cygnet_db_info(db, &info);
	for (uint32_t i = 0; i < info.geometry.policies; i++)
		if (cygnet_policy_snapshot(db, i, &policy))
			json_array_append_new(rows, policy_row(&policy, i, interfaces, now));
	if (interfaces)
		if_freenameindex(interfaces);
	return rows;
}

/* @return the rows by slot; NULL: no memory */
static json_t **index_rows(json_t *rows, json_int_t slots)
{
	json_t **by_slot = calloc((size_t)slots + 1, sizeof(json_t *)), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		json_int_t slot = json_integer_value(json_object_get(row, "slot"));

		if (by_slot && slot >= 0 && slot < slots)
			by_slot[slot] = row;
		json_object_set_new(row, "passed", json_integer(0));
		json_object_set_new(row, "dropped", json_integer(0));
	}
	return by_slot;
}

int databases_add_counts(json_t *rows, const json_t *counts)
{
	json_int_t slots = 0, slot;
	json_t **by_slot, *row, *count;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		slot = json_integer_value(json_object_get(row, "slot"));
		slots = slot >= slots ? slot + 1 : slots;
	}
	by_slot = index_rows(rows, slots);
	if (!by_slot)
		return -ENOMEM;
	json_array_foreach(counts, i, count)
	{
		slot = json_integer_value(json_object_get(count, "slot"));
		row = slot >= 0 && slot < slots ? by_slot[slot] : NULL;
		if (!row || !json_equal(json_object_get(row, "generation"),
					json_object_get(count, "generation")))
			continue;
		json_object_set(row, "passed", json_object_get(count, "passed"));
		json_object_set(row, "dropped", json_object_get(count, "dropped"));
	}
	free(by_slot);
	return 0;
}
