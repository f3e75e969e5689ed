/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h> /* rte_align32pow2() since DPDK 23.03 */
#include <rte_common.h>

#include "base/changes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/sadb.h"
#include "base/peers.h"

#define SLOTS	   4096u /* of SAD and SPD, in one call of peers_update() */
#define MAX_PLACES (1u << 18)

/* An open hash table of addresses; zero: no address. One is read while the other is filled. A reader that
 * is a second late finds an address too many or too few. */
struct table {
	uint32_t used;
	uint64_t (*place)[2];
};

static struct table tables[2];
static unsigned int current; /* that lcores read; atomic */
static uint32_t places;	     /* of each, a power of two; 0: there are none */
static struct random_key key;
static uint64_t seen, last; /* number of changes, and clock_seconds(), at the last scan */
static uint32_t next;	    /* slot of a scan; 0: none is under way */

static void halves(const struct cygnet_addr *addr, uint64_t half[2])
{
	memcpy(half, addr, 2 * sizeof(*half));
}
_Static_assert(sizeof(struct cygnet_addr) == 2 * sizeof(uint64_t), "two halves");

bool peers_have(const struct cygnet_addr *addr, uint64_t *hash)
{
	const struct table *t = &tables[__atomic_load_n(&current, __ATOMIC_ACQUIRE)];
	uint64_t half[2], a, b;

	*hash = random_hash(&key, addr, sizeof(*addr));
	halves(addr, half);
	for (uint32_t i = 0; i < places; i++) {
		uint64_t *place = t->place[(*hash + i) & (places - 1)];

		a = __atomic_load_n(&place[0], __ATOMIC_RELAXED);
		b = __atomic_load_n(&place[1], __ATOMIC_RELAXED);
		if (!a && !b)
			return false;
		if (a == half[0] && b == half[1])
			return true;
	}
	return false;
}

/* Addresses that find the table three quarters full are left out. */
static void add(struct table *t, const struct cygnet_addr *addr)
{
	uint64_t half[2], hash = random_hash(&key, addr, sizeof(*addr));

	halves(addr, half);
	if ((!half[0] && !half[1]) || t->used >= places / 4 * 3)
		return;
	for (;; hash++) {
		uint64_t *place = t->place[hash & (places - 1)];

		if (place[0] == half[0] && place[1] == half[1])
			return;
		if (place[0] || place[1])
			continue;
		__atomic_store_n(&place[0], half[0], __ATOMIC_RELAXED);
		__atomic_store_n(&place[1], half[1], __ATOMIC_RELAXED);
		t->used++;
		return;
	}
}

static void add_sa(struct table *t, uint32_t slot, peers_tunnel_fn *tunnel)
{
	const struct cygnet_sa *sa = cygnet_sa_at(sadb, slot);
	const struct cygnet_path *path;
	bool in;

	if (!sa || __atomic_load_n(&sa->state, __ATOMIC_ACQUIRE) != CYGNET_SLOT_LIVE)
		return;
	path = cygnet_sa_path(sa);
	in = sa->flags & CYGNET_SA_INBOUND;
	if (!in)
		add(t, &path->dst);
	if (sa->mode == CYGNET_TUNNEL)
		tunnel(path->af, in ? &path->dst : &path->src, in ? &path->src : &path->dst);
}

static void add_policy(struct table *t, uint32_t slot, peers_tunnel_fn *tunnel)
{
	struct cygnet_policy policy;

	if (!cygnet_policy_snapshot(sadb, slot, &policy) || policy.dir != CYGNET_OUT ||
	    policy.action != CYGNET_PROTECT)
		return;
	add(t, &policy.dst);
	if (policy.mode == CYGNET_TUNNEL)
		tunnel(policy.af, &policy.src, &policy.dst);
}

/* @return false: nothing has changed, or not long ago */
static bool begin(struct table *t)
{
	uint64_t changes = cygnet_db_changes(sadb) + changes_general();

	if ((changes == seen && last) || clock_seconds() == last)
		return false;
	seen = changes;
	last = clock_seconds();
	memset(t->place, 0, (size_t)places * sizeof(*t->place));
	t->used = 0;
	return true;
}

bool peers_update(peers_tunnel_fn *tunnel)
{
	struct table *t = &tables[!current];
	struct cygnet_db_info info;
	uint32_t slots, end;

	if (!places || (!next && !begin(t)))
		return false;
	/* While this reader is online, no slot is reused for another SA. */
	if (cygnet_reader_online(sadb, SADB_READER_CONTROL))
		return false;
	cygnet_db_info(sadb, &info);
	slots = RTE_MAX(info.geometry.sas, info.geometry.policies);
	end = RTE_MIN(next + SLOTS, slots);
	for (; next < end; next++) {
		add_sa(t, next, tunnel);
		add_policy(t, next, tunnel);
	}
	cygnet_reader_offline(sadb, SADB_READER_CONTROL);
	if (next < slots)
		return true;
	next = 0;
	__atomic_store_n(&current, !current, __ATOMIC_RELEASE);
	return false;
}

int peers_init(void)
{
	struct cygnet_db_info info;
	uint32_t wanted;

	cygnet_db_info(sadb, &info);
	wanted = RTE_MIN(rte_align32pow2(info.geometry.sas) * 2, MAX_PLACES);
	for (unsigned int i = 0; i < RTE_DIM(tables); i++)
		tables[i].place = calloc(wanted, sizeof(*tables[i].place));
	if (!tables[0].place || !tables[1].place || random_fill(&key, sizeof(key))) {
		peers_free();
		log_error("no memory for the addresses of peers");
		return -ENOMEM;
	}
	places = wanted;
	return 0;
}

void peers_free(void)
{
	places = 0;
	seen = last = 0;
	next = 0;
	for (unsigned int i = 0; i < RTE_DIM(tables); i++) {
		free(tables[i].place);
		tables[i] = (struct table){0};
	}
}
