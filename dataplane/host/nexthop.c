/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include <rte_hash.h>
#include <rte_jhash.h>

#include "base/log.h"
#include "host/nexthop.h"

/* The ids of objects that routes use, each with the number of its routes. */
static struct rte_hash *counts;
static bool left_out;	 /* an object did not fit, since the last dump of all routes began */
static bool full_logged; /* cleared when an object is not used any more */

int nexthops_init(uint32_t objects)
{
	const struct rte_hash_parameters hash = {
		.name = "nexthops",
		.entries = objects,
		.key_len = sizeof(uint32_t),
		.hash_func = rte_jhash,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
		.socket_id = SOCKET_ID_ANY,
	};

	counts = rte_hash_create(&hash);
	return counts ? 0 : -ENOMEM;
}

void nexthops_free(void)
{
	rte_hash_free(counts);
	counts = NULL;
	left_out = false;
}

static uintptr_t routes_by(uint32_t id)
{
	void *routes;

	return counts && rte_hash_lookup_data(counts, &id, &routes) >= 0 ? (uintptr_t)routes : 0;
}

static int set_routes(uint32_t id, uintptr_t routes)
{
	return rte_hash_add_key_data(counts, &id, (void *)routes) ? -ENOMEM : 0;
}

int nexthop_hold(uint32_t id)
{
	int err = id ? set_routes(id, routes_by(id) + 1) : 0;

	left_out |= err != 0;
	if (err && !full_logged) {
		log_warn("no room for another next-hop object: its routes are left to the kernel");
		full_logged = true;
	}
	return err;
}

void nexthop_release(uint32_t id)
{
	uintptr_t routes = routes_by(id);

	if (routes > 1)
		set_routes(id, routes - 1);
	else if (routes && rte_hash_del_key(counts, &id) >= 0)
		full_logged = false;
}

bool nexthop_is_used(uint32_t id)
{
	return routes_by(id) > 0;
}

void nexthops_begin(void)
{
	left_out = false;
}

bool nexthops_left_out(void)
{
	return left_out;
}
