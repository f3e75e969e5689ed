/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/selector_text.h"
#include "base/tunnels.h"
#include "charon.h"
#include "text.h"
#include "tunnels.h"

static bool takes(const void *filter, const struct cygnet_sa *sa)
{
	return sa_filter_takes(filter, sa);
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
		json_array_append_new(list, text_json(text, sizeof(text)));
	}
	if (interfaces)
		if_freenameindex(interfaces);
	return selectors;
}

static json_t *spi_or_null(const struct tunnel_direction *d)
{
	char text[SPI_TEXT];

	return d->n ? json_string(spi_text(d->newest->spi, text)) : json_null();
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
static const json_t *child_of(const struct tunnel_sa *sa, size_t n, const json_t *children)
{
	const json_t *child = NULL;

	for (size_t i = 0; i < n && !child; i++)
		child = charon_child(children, sa[i].inbound, sa[i].spi, sa[i].id.af,
				     sa[i].inbound ? &sa[i].id.local : &sa[i].id.peer);
	return child;
}

/* @param sa  the n SAs of a tunnel */
static json_t *make_row(const struct tunnel_sa *sa, size_t n, const json_t *child,
			const json_t *selectors, uint64_t now)
{
	struct tunnel_direction in = tunnel_direction(sa, n, true);
	struct tunnel_direction out = tunnel_direction(sa, n, false);
	const struct tunnel_id *id = &sa->id;
	char local[INET6_ADDRSTRLEN] = "?", peer[INET6_ADDRSTRLEN] = "?", key[16];
	uint64_t used = in.use_time > out.use_time ? in.use_time : out.use_time;
	uint64_t age = now > sa->install_time ? now - sa->install_time : 0;
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
			 "proto", sa->proto == IPPROTO_AH ? "ah" : "esp", "mode",
			 sa->mode == CYGNET_TUNNEL ? "tunnel" : "transport", "encap",
			 sa->encap ? "udp" : "none", "selectors",
			 selected ? json_incref(selected) : json_array(), "sas_in",
			 (json_int_t)in.n, "sas_out", (json_int_t)out.n, "spi_in", spi_or_null(&in),
			 "spi_out", spi_or_null(&out), "age", (json_int_t)age, "rekey_in",
			 until(age, sa->soft), "expires_in", until(age, sa->hard), "packets_in",
			 (json_int_t)in.packets, "bytes_in", (json_int_t)in.bytes, "packets_out",
			 (json_int_t)out.packets, "bytes_out", (json_int_t)out.bytes, "last_used",
			 used ? json_integer((json_int_t)(now > used ? now - used : 0))
			      : json_null());
}

static bool is_wanted(const struct sa_filter *filter, const struct tunnel_sa *sa, size_t n,
		      const json_t *child)
{
	bool spi = !filter->spi;

	for (size_t i = 0; i < n && !spi; i++)
		spi = sa[i].spi == filter->spi;
	return spi && sa_filter_takes_name(filter, json_string_value(json_object_get(child, "ike")),
					   json_string_value(json_object_get(child, "child")));
}

static json_t *make_rows(const struct tunnel_sas *sas, const struct sa_filter *filter,
			 const json_t *children, const json_t *selectors, uint64_t now)
{
	json_t *rows = json_array();

	for (size_t first = 0, end; first < sas->n; first = end) {
		const struct tunnel_sa *sa = &sas->sa[first];
		const json_t *child;

		end = tunnel_sas_end(sas, first);
		child = child_of(sa, end - first, children);
		if (is_wanted(filter, sa, end - first, child))
			json_array_append_new(rows,
					      make_row(sa, end - first, child, selectors, now));
	}
	return rows;
}

json_t *tunnels_rows(struct cygnet_db *db, const struct sa_filter *filter, const json_t *children,
		     uint64_t now)
{
	json_t *selectors = read_selectors(db), *rows = NULL;
	struct tunnel_sas sas;

	if (selectors && !tunnel_sas_read(db, takes, filter, &sas)) {
		rows = make_rows(&sas, filter, children, selectors, now);
		tunnel_sas_free(&sas);
	}
	json_decref(selectors);
	return rows;
}
