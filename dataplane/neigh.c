/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_jhash.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_random.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "control.h"
#include "log.h"
#include "neigh.h"

#define SLOTS (1u << 16)
#define PROBES 32u
#define WANTED 1024u
#define ASKED 64u	/* neighbours that an lcore remembers having asked for */

#define KEY_USED (1ull << 63)
#define MAC_VALID (1ull << 63)
#define MAC_STALE (1ull << 62)
#define MAC_MARKED (1ull << 61)	/* not seen since neighs_mark() */

/* One writer, the control thread. A slot changes hands with its mac cleared
 * first and its key written before the new mac; a reader looks at the key
 * again after it has read the mac. */
struct slot {
	uint64_t key;	/* KEY_USED | port << 32 | address */
	uint64_t mac;	/* flags | the address in the low 48 bits */
};

static struct slot *slots;
static uint32_t seed; /* so that nobody on the wire can choose addresses that collide */
static struct rte_ring *wanted;

struct asked {
	uint64_t key, time;
};

static RTE_DEFINE_PER_LCORE(struct asked[ASKED], asked);

static uint64_t make_key(unsigned int port, uint32_t addr)
{
	return KEY_USED | (uint64_t)port << 32 | addr;
}

static uint32_t first_slot(uint64_t key)
{
	return rte_jhash_2words((uint32_t)key, (uint32_t)(key >> 32), seed);
}

bool neigh_lookup(unsigned int port, uint32_t addr, struct rte_ether_addr *mac)
{
	uint64_t key = make_key(port, addr);
	uint32_t start = first_slot(key);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct slot *slot = &slots[(start + i) % SLOTS];
		uint64_t found;

		found = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);
		/* A slot that was never used: nothing was ever put behind it. */
		if (!found)
			return false;
		if (found != key)
			continue;
		found = __atomic_load_n(&slot->mac, __ATOMIC_ACQUIRE);
		if (!(found & MAC_VALID) || __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE) != key)
			return false;
		memcpy(mac, &found, sizeof(*mac));
		if (found & MAC_STALE)
			neigh_solicit(port, addr);
		return true;
	}
	return false;
}

void neigh_solicit(unsigned int port, uint32_t addr)
{
	uint64_t key = make_key(port, addr);
	struct asked *a = &RTE_PER_LCORE(asked)[first_slot(key) % ASKED];
	uint64_t now = __atomic_load_n(&control_now, __ATOMIC_RELAXED);

	if (a->key == key && a->time == now)
		return;
	if (rte_ring_mp_enqueue_elem(wanted, &key, sizeof(key)) == 0)
		*a = (struct asked){key, now};
}

int neighs_init(void)
{
	slots = rte_zmalloc("neighbours", SLOTS * sizeof(*slots), RTE_CACHE_LINE_SIZE);
	wanted = rte_ring_create_elem("wanted", sizeof(uint64_t), WANTED, SOCKET_ID_ANY,
				      RING_F_SC_DEQ);
	seed = (uint32_t)rte_rand();
	if (!slots || !wanted) {
		log_error("no memory for the neighbours");
		neighs_free();
		return -ENOMEM;
	}
	return 0;
}

void neighs_free(void)
{
	rte_free(slots);
	rte_ring_free(wanted);
	slots = NULL;
	wanted = NULL;
}

static struct slot *find(uint64_t key, bool create)
{
	uint32_t start = first_slot(key);
	struct slot *spare = NULL;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct slot *slot = &slots[(start + i) % SLOTS];

		if (slot->key == key)
			return slot;
		if (!spare && !(slot->mac & MAC_VALID))
			spare = slot;
	}
	if (!create || !spare)
		return NULL;
	__atomic_store_n(&spare->key, key, __ATOMIC_RELEASE);
	return spare;
}

void neigh_set(unsigned int port, uint32_t addr, const struct rte_ether_addr *mac, bool stale)
{
	struct slot *slot = find(make_key(port, addr), true);
	uint64_t word = 0;

	if (!slot) {
		log_warn("too many neighbours: one is left out");
		return;
	}
	memcpy(&word, mac, sizeof(*mac));
	word |= MAC_VALID | (stale ? MAC_STALE : 0);
	__atomic_store_n(&slot->mac, word, __ATOMIC_RELEASE);
}

void neigh_forget(unsigned int port, uint32_t addr)
{
	struct slot *slot = find(make_key(port, addr), false);

	if (slot)
		__atomic_store_n(&slot->mac, 0, __ATOMIC_RELEASE);
}

void neighs_mark(void)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (slots[i].mac & MAC_VALID)
			__atomic_store_n(&slots[i].mac, slots[i].mac | MAC_MARKED,
					 __ATOMIC_RELEASE);
}

void neighs_sweep(void)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (slots[i].mac & MAC_MARKED)
			__atomic_store_n(&slots[i].mac, 0, __ATOMIC_RELEASE);
}

bool neigh_wanted(unsigned int *port, uint32_t *addr)
{
	uint64_t key;

	if (rte_ring_sc_dequeue_elem(wanted, &key, sizeof(key)))
		return false;
	*port = (unsigned int)(key >> 32 & 0xff);
	*addr = (uint32_t)key;
	return true;
}
