/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include <rte_hash.h>
#include <rte_jhash.h>

#include "host/nexthop.h"

#define IDS 16384u

static struct rte_hash *ids; /* id: number of routes, as a pointer */
static bool overflowed; /* some used ids are not in the hash */

int nexthops_init(void)
{
	const struct rte_hash_parameters hash = {
		.name = "nexthops",
		.entries = IDS,
		.key_len = sizeof(uint32_t),
		.hash_func = rte_jhash,
		.socket_id = SOCKET_ID_ANY,
	};

	overflowed = false;
	ids = rte_hash_create(&hash);
	return ids ? 0 : -ENOMEM;
}

void nexthops_free(void)
{
	rte_hash_free(ids);
	ids = NULL;
}

static uintptr_t count_of(uint32_t id)
{
	void *data;

	return rte_hash_lookup_data(ids, &id, &data) >= 0 ? (uintptr_t)data : 0;
}

void nexthop_hold(uint32_t id)
{
	if (id && rte_hash_add_key_data(ids, &id, (void *)(count_of(id) + 1)))
		overflowed = true;
}

void nexthop_release(uint32_t id)
{
	uintptr_t count = id ? count_of(id) : 0;

	if (count > 1)
		rte_hash_add_key_data(ids, &id, (void *)(count - 1));
	else if (count)
		rte_hash_del_key(ids, &id);
}

bool nexthop_is_used(uint32_t id)
{
	return overflowed || count_of(id);
}
