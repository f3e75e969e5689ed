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
#include "tunnels.h"

/* What the SAs of one tunnel have in common. Compared as bytes, so that there is no padding. */
struct tunnel_id {
	struct cygnet_addr local, peer;
	uint32_t reqid;
	uint8_t af, proto, zero[2];
};
_Static_assert(sizeof(struct tunnel_id) == 40, "no padding");

/* A live SA. */
struct member {
	struct tunnel_id id;
	uint32_t spi;
	uint8_t mode, encap;
	bool inbound;
	uint64_t install_time, use_time, packets, bytes, soft, hard;
	const json_t *child;
};

struct members {
	struct member *member;
	size_t n;
};

/* By tunnel, then the newest first. */
static int compare(const void *one, const void *other)
{
	const struct member *a = one, *b = other;
	int order = memcmp(&a->id, &b->id, sizeof(a->id));

	if (order)
		return order;
	return a->install_time == b->install_time ? 0
						  : (a->install_time < b->install_time ? 1 : -1);
}

static struct member make_member(const struct cygnet_sa *sa, const json_t *children)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	bool inbound = sa->flags & CYGNET_SA_INBOUND;

	return (struct member){
		.id =
			{
				.local = inbound ? path->dst : path->src,
				.peer = inbound ? path->src : path->dst,
				.reqid = sa->reqid,
				.af = path->af,
				.proto = sa->proto,
			},
		.spi = sa->spi,
		.mode = sa->mode,
		.encap = path->encap,
		.inbound = inbound,
		.install_time = sa->install_time,
		.use_time = sa->use_time,
		.packets = sa->packets,
		.bytes = sa->bytes,
		.soft = sa->lifetime.soft_seconds,
		.hard = sa->lifetime.hard_seconds,
		.child = charon_child(children, inbound, sa->spi, path->af, &path->dst),
	};
}

static int read_members(struct cygnet_db *db, const struct sa_filter *filter,
			const json_t *children, struct members *members)
{
	struct cygnet_db_info info;
	struct cygnet_sa sa;

	cygnet_db_info(db, &info);
	*members = (struct members){calloc(info.geometry.sas, sizeof(struct member)), 0};
	if (!members->member)
		return -ENOMEM;
	for (uint32_t i = 0; i < info.geometry.sas; i++)
		if (cygnet_sa_snapshot(db, i, &sa) && sa.state == CYGNET_SLOT_LIVE &&
		    sa_filter_takes(filter, &sa))
			members->member[members->n++] = make_member(&sa, children);
	qsort(members->member, members->n, sizeof(struct member), compare);
	return 0;
}

/* What outbound policies protect: an array of selectors for each reqid. */
static json_t *read_selectors(struct cygnet_db *db)
{
	struct if_nameindex *interfaces = if_nameindex();
	json_t *selectors = json_object();
	struct cygnet_policy policy;
	struct cygnet_db_info info;

	cygnet_db_info(db, &info);
	for (uint32_t i = 0; selectors && i < info.geometry.policies; i++) {
		char text[SELECTOR_TEXT], key[16];
		json_t *list;

		if (!cygnet_policy_snapshot(db, i, &policy) || policy.dir != CYGNET_OUT ||
		    policy.action != CYGNET_PROTECT || !policy.reqid)
			continue;
		snprintf(key, sizeof(key), "%u", policy.reqid);
		list = json_object_get(selectors, key);
		if (!list) {
			list = json_array();
			json_object_set_new(selectors, key, list);
		}
		selector_text(&policy, interfaces, text, sizeof(text));
		json_array_append_new(list, json_string(text));
	}
	if (interfaces)
		if_freenameindex(interfaces);
	return selectors;
}

/* The SAs of one direction. */
struct direction {
	const struct member *newest;
	size_t n;
	uint64_t packets, bytes, use_time;
};

static struct direction sum(const struct member *member, size_t n, bool inbound)
{
	struct direction d = {0};

	for (size_t i = 0; i < n; i++) {
		if (member[i].inbound != inbound)
			continue;
		if (!d.n++)
			d.newest = &member[i];
		d.packets += member[i].packets;
		d.bytes += member[i].bytes;
		d.use_time = member[i].use_time > d.use_time ? member[i].use_time : d.use_time;
	}
	return d;
}

static json_t *spi_or_null(const struct direction *d)
{
	char text[16];

	if (!d->n)
		return json_null();
	snprintf(text, sizeof(text), "0x%08x", ntohl(d->newest->spi));
	return json_string(text);
}

/* Seconds from an SA's installation until a limit, now; null: no limit. */
static json_t *until(uint64_t age, uint64_t limit)
{
	return limit ? json_integer((json_int_t)(limit > age ? limit - age : 0)) : json_null();
}

static json_t *value_of(const json_t *child, const char *key)
{
	json_t *value = json_object_get(child, key);

	return value ? json_incref(value) : json_null();
}

/* The CHILD_SA of the newest SA that charon has. @return NULL: of none */
static const json_t *child_of(const struct member *member, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (member[i].child)
			return member[i].child;
	return NULL;
}

/* @param member  the n SAs of a tunnel, the newest first */
static json_t *make_row(const struct member *member, size_t n, const json_t *selectors,
			uint64_t now)
{
	struct direction in = sum(member, n, true), out = sum(member, n, false);
	const struct tunnel_id *id = &member->id;
	char local[INET6_ADDRSTRLEN] = "?", peer[INET6_ADDRSTRLEN] = "?", key[16];
	uint64_t used = in.use_time > out.use_time ? in.use_time : out.use_time;
	uint64_t age = now > member->install_time ? now - member->install_time : 0;
	const json_t *child = child_of(member, n);
	json_t *selected;

	inet_ntop(id->af, &id->local, local, sizeof(local));
	inet_ntop(id->af, &id->peer, peer, sizeof(peer));
	snprintf(key, sizeof(key), "%u", id->reqid);
	selected = json_object_get(selectors, key);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:I,"
			 " s:I, s:o, s:o, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:o}",
			 "ike", value_of(child, "ike"), "ike_id", value_of(child, "ike_id"),
			 "child", value_of(child, "child"), "child_id", value_of(child, "child_id"),
			 "remote_id", value_of(child, "remote_id"), "reqid", (json_int_t)id->reqid,
			 "local", local, "peer", peer, "state",
			 in.n && out.n ? "up"
			 : in.n	       ? "inbound only"
				       : "outbound only",
			 "proto", id->proto == IPPROTO_AH ? "ah" : "esp", "mode",
			 member->mode == CYGNET_TUNNEL ? "tunnel" : "transport", "encap",
			 member->encap ? "udp" : "none", "selectors",
			 selected ? json_incref(selected) : json_array(), "sas_in",
			 (json_int_t)in.n, "sas_out", (json_int_t)out.n, "spi_in", spi_or_null(&in),
			 "spi_out", spi_or_null(&out), "age", (json_int_t)age, "rekey_in",
			 until(age, member->soft), "expires_in", until(age, member->hard),
			 "packets_in", (json_int_t)in.packets, "bytes_in", (json_int_t)in.bytes,
			 "packets_out", (json_int_t)out.packets, "bytes_out", (json_int_t)out.bytes,
			 "last_used",
			 used ? json_integer((json_int_t)(now > used ? now - used : 0))
			      : json_null());
}

static bool is_wanted(const struct sa_filter *filter, const struct member *member, size_t n)
{
	const json_t *child = child_of(member, n);
	bool spi = !filter->spi;

	for (size_t i = 0; i < n && !spi; i++)
		spi = member[i].spi == filter->spi;
	return spi && sa_filter_takes_name(filter, json_string_value(json_object_get(child, "ike")),
					   json_string_value(json_object_get(child, "child")));
}

static json_t *make_rows(const struct members *members, const struct sa_filter *filter,
			 const json_t *selectors, uint64_t now)
{
	json_t *rows = json_array();

	for (size_t first = 0, end; first < members->n; first = end) {
		const struct member *member = &members->member[first];

		for (end = first + 1; end < members->n && !memcmp(&members->member[end].id,
								  &member->id, sizeof(member->id));
		     end++)
			;
		if (is_wanted(filter, member, end - first))
			json_array_append_new(rows, make_row(member, end - first, selectors, now));
	}
	return rows;
}

json_t *tunnels_rows(struct cygnet_db *db, const struct sa_filter *filter, const json_t *children,
		     uint64_t now)
{
	json_t *selectors = read_selectors(db), *rows = NULL;
	struct members members;

	if (selectors && !read_members(db, filter, children, &members)) {
		rows = make_rows(&members, filter, selectors, now);
		free(members.member);
	}
	json_decref(selectors);
	return rows;
}
