/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "charon.h"
#include "exporter/complaint.h"
#include "exporter/tunnel_names.h"
#include "text.h"

#define REST_FACTOR 100u      /* times that the last answer took, until charon is asked again */
#define REST_MAX_US 300000000 /* of a charon that does not answer */
#define KEY_SIZE    (2 * INET6_ADDRSTRLEN + 32)

/* What is known of the tunnels of the last scrape, by make_key(): "connection", "child" and the SPIs. */
static json_t *known;
static uint64_t rests_until; /* CLOCK_MONOTONIC, us */

static void make_key(const json_t *row, char key[KEY_SIZE])
{
	snprintf(key, KEY_SIZE, "%" JSON_INTEGER_FORMAT " %.45s %.45s",
		 json_integer_value(json_object_get(row, "reqid")), text_of(row, "local", ""),
		 text_of(row, "peer", ""));
}

static const json_t *known_of(const json_t *row)
{
	char key[KEY_SIZE];

	make_key(row, key);
	return json_object_get(known, key);
}

/* Whether charon has been asked since the tunnel has its newest SAs. */
static bool is_new(const json_t *row)
{
	const json_t *name = known_of(row);

	return !name || strcmp(text_of(name, "spi_in", ""), text_of(row, "spi_in", "")) != 0 ||
	       strcmp(text_of(name, "spi_out", ""), text_of(row, "spi_out", "")) != 0;
}

static bool have_new(const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (is_new(row))
			return true;
	}
	return false;
}

/* @return NULL: charon is left alone, or does not answer */
static json_t *ask(const char *socket)
{
	static struct complaint complaint;
	uint64_t begin = clock_read_us(CLOCK_MONOTONIC), rest;
	json_t *children;
	char error[512];

	if (begin < rests_until)
		return NULL;
	children = charon_children(socket, false, error, sizeof(error));
	complain(&complaint, "charon", children ? NULL : error);
	rest = (clock_read_us(CLOCK_MONOTONIC) - begin) * REST_FACTOR;
	rests_until = clock_read_us(CLOCK_MONOTONIC) + (rest < REST_MAX_US ? rest : REST_MAX_US);
	return children;
}

static const json_t *child_of_sa(const json_t *row, const json_t *children, bool inbound)
{
	const char *spi = text_of(row, inbound ? "spi_in" : "spi_out", "");
	const char *peer = text_of(row, "peer", "");
	uint8_t af = strchr(peer, ':') ? AF_INET6 : AF_INET;
	struct cygnet_addr addr = {0};

	if (!*spi || inet_pton(af, peer, addr.bytes) != 1)
		return NULL;
	return charon_child(children, inbound, htonl((uint32_t)strtoul(spi, NULL, 16)), af, &addr);
}

/* What charon has just said of a tunnel, or said before. @return NULL: nothing */
static json_t *name_of(const json_t *row, const json_t *children)
{
	const json_t *child = child_of_sa(row, children, true);

	if (!child)
		child = child_of_sa(row, children, false);
	if (!child)
		return json_incref((json_t *)(uintptr_t)known_of(row));
	return json_pack("{s:s, s:s, s:s, s:s}", "connection", text_of(child, "ike", ""), "child",
			 text_of(child, "child", ""), "spi_in", text_of(row, "spi_in", ""),
			 "spi_out", text_of(row, "spi_out", ""));
}

/* @param named  receives what is known of the row's tunnel. @return false: the tunnel has a row before this one */
static bool add_name(json_t *row, const json_t *children, json_t *named)
{
	json_t *name = name_of(row, children);
	char key[KEY_SIZE];

	make_key(row, key);
	if (json_object_get(named, key)) {
		json_decref(name);
		return false;
	}
	json_object_set_new(row, "connection", json_string(text_of(name, "connection", "")));
	json_object_set_new(row, "child", json_string(text_of(name, "child", "")));
	json_object_set_new(named, key, name ? name : json_object());
	return true;
}

void tunnel_names_add(json_t *rows, const char *socket)
{
	json_t *children = socket && have_new(rows) ? ask(socket) : NULL;
	json_t *named = json_object();
	size_t i = 0;

	while (i < json_array_size(rows)) {
		if (add_name(json_array_get(rows, i), children, named))
			i++;
		else
			json_array_remove(rows, i);
	}
	json_decref(known);
	known = named;
	json_decref(children);
}
