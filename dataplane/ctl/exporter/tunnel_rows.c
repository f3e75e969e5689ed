/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "charon.h"
#include "exporter/tunnel_rows.h"
#include "text.h"

static const json_t *child_of(const json_t *sa, const json_t *children, bool inbound)
{
	const char *dst = text_of(sa, "dst", "");
	uint8_t af = strchr(dst, ':') ? AF_INET6 : AF_INET;
	struct cygnet_addr addr = {0};

	if (inet_pton(af, dst, addr.bytes) != 1)
		return NULL;
	return charon_child(children, inbound,
			    htonl((uint32_t)strtoul(text_of(sa, "spi", ""), NULL, 16)), af, &addr);
}

/* The row of an SA's tunnel, made if there is none yet.
 * @param by_key  the rows by reqid and addresses. @return NULL: no memory */
static json_t *row_of(json_t *rows, json_t *by_key, const json_t *sa, bool inbound)
{
	const char *local = text_of(sa, inbound ? "dst" : "src", "");
	const char *peer = text_of(sa, inbound ? "src" : "dst", "");
	json_int_t reqid = json_integer_value(json_object_get(sa, "reqid"));
	char key[2 * INET6_ADDRSTRLEN + 32];
	json_t *row;

	snprintf(key, sizeof(key), "%" JSON_INTEGER_FORMAT " %.45s %.45s", reqid, local, peer);
	row = json_object_get(by_key, key);
	if (row)
		return row;
	row = json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:O}", "reqid", reqid, "local",
			local, "peer", peer, "connection", "", "child", "", "state", "down", "in",
			0, "out", 0, "age", json_object_get(sa, "age"));
	if (!row || json_object_set(by_key, key, row) || json_array_append_new(rows, row))
		return NULL;
	return row;
}

static void add_names(json_t *row, const json_t *child)
{
	if (!child)
		return;
	json_object_set(row, "connection", json_object_get(child, "ike"));
	json_object_set(row, "child", json_object_get(child, "child"));
}

static bool add_sa(json_t *rows, json_t *by_key, const json_t *sa, const json_t *children)
{
	bool inbound = !strcmp(text_of(sa, "dir", ""), "in");
	json_t *row = row_of(rows, by_key, sa, inbound), *age = json_object_get(sa, "age");

	if (!row)
		return false;
	json_object_set_new(row, inbound ? "in" : "out", json_true());
	if (json_is_true(json_object_get(row, "in")) && json_is_true(json_object_get(row, "out")))
		json_object_set_new(row, "state", json_string("up"));
	if (json_integer_value(age) < json_integer_value(json_object_get(row, "age")))
		json_object_set(row, "age", age);
	add_names(row, child_of(sa, children, inbound));
	return true;
}

json_t *tunnel_rows(const json_t *sas, const json_t *children)
{
	json_t *rows = json_array(), *by_key = json_object(), *sa;
	bool done = rows && by_key;
	size_t i;

	json_array_foreach(sas, i, sa)
	{
		/* cygnetd of another version says no age. */
		if (done && json_is_integer(json_object_get(sa, "age")))
			done = add_sa(rows, by_key, sa, children);
	}
	json_decref(by_key);
	if (done)
		return rows;
	json_decref(rows);
	return NULL;
}
