/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "base/changes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "host/neigh.h"

#define SLOTS  (1u << 16)
#define PROBES 32u
#define WANTED 1024u
#define ASKED  64u /* recent solicitations that an lcore remembers */

/* Bits of key.tag. */
#define TAG_USED      (1ull << 63)
#define TAG_CHANGING  (1ull << 62)
#define TAG_V6	      (1ull << 40)
#define TAG_INTERFACE 32	 /* shift of the interface index */
#define TAG_MACVLAN   41	 /* shift of the macvlan */
#define TAG_COUNT     UINT32_MAX /* how often the slot was reassigned; only in slots */

#define MAC_VALID   (1ull << 63)
#define MAC_STALE   (1ull << 62)
#define MAC_MARKED  (1ull << 61)		/* not seen since neighs_mark() */
#define MAC_DECIDES (~(MAC_STALE | MAC_MARKED)) /* what frames depend on */

struct key {
	uint64_t tag, addr[2];
};

/* The only writer is the control thread. To reassign a slot it clears mac first, and sets
 * TAG_CHANGING while it writes the address. A reader checks the tag again after it has read mac. */
struct slot {
	struct key key;
	uint64_t mac; /* flags | the address in the low 48 bits */
};

static struct slot *slots;
static struct random_key
	hash_key; /* of the hash, so that an attacker cannot choose colliding addresses */
static struct rte_ring *wanted;
static uint32_t changes[NEIGH_GROUPS]; /* atomic */

struct asked {
	struct key key;
	uint64_t time;
};

static RTE_DEFINE_PER_LCORE(struct asked, asked[ASKED]);

static struct key make_key(const struct neigh *n)
{
	return (struct key){
		.tag = TAG_USED | (n->af == AF_INET6 ? TAG_V6 : 0) |
		       (uint64_t)n->interface << TAG_INTERFACE |
		       (uint64_t)n->macvlan << TAG_MACVLAN,
		.addr = {n->addr.words[0], n->addr.words[1]},
	};
}

static bool same_key(const struct key *a, const struct key *b)
{
	return a->tag == b->tag && a->addr[0] == b->addr[0] && a->addr[1] == b->addr[1];
}

static uint32_t first_slot(const struct key *key)
{
	return (uint32_t)random_hash(&hash_key, key, sizeof(*key));
}

uint64_t neigh_hash(const struct neigh *n)
{
	struct key key = make_key(n);

	return random_hash(&hash_key, &key, sizeof(key));
}

static uint16_t group_of(const struct key *key)
{
	return first_slot(key) % NEIGH_GROUPS;
}

uint16_t neigh_group(const struct neigh *n)
{
	struct key key = make_key(n);

	return group_of(&key);
}

uint32_t neigh_changes(uint16_t group)
{
	return __atomic_load_n(&changes[group % NEIGH_GROUPS], __ATOMIC_ACQUIRE);
}

/* Read a slot consistently. @return whether it is the neighbour's; mac is set then */
static bool read_slot(const struct slot *slot, const struct key *key, uint64_t tag, uint64_t *mac)
{
	if ((tag & ~(uint64_t)TAG_COUNT) != key->tag ||
	    __atomic_load_n(&slot->key.addr[0], __ATOMIC_RELAXED) != key->addr[0] ||
	    __atomic_load_n(&slot->key.addr[1], __ATOMIC_RELAXED) != key->addr[1])
		return false;
	*mac = __atomic_load_n(&slot->mac, __ATOMIC_ACQUIRE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&slot->key.tag, __ATOMIC_RELAXED) == tag;
}

/* @param found  receives the slot's mac. @return false: not resolved */
static bool look_up(const struct neigh *n, uint64_t *found)
{
	struct key key = make_key(n);
	uint32_t start = first_slot(&key);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct slot *slot = &slots[(start + i) % SLOTS];
		uint64_t tag = __atomic_load_n(&slot->key.tag, __ATOMIC_ACQUIRE);

		/* A slot that was never used ends the probe sequence. */
		if (!tag)
			return false;
		if (read_slot(slot, &key, tag, found))
			return *found & MAC_VALID;
	}
	return false;
}

bool neigh_known(const struct neigh *n, struct rte_ether_addr *mac)
{
	uint64_t found;

	if (!look_up(n, &found))
		return false;
	memcpy(mac, &found, sizeof(*mac));
	return true;
}

bool neigh_lookup(const struct neigh *n, struct rte_ether_addr *mac)
{
	uint64_t found;

	if (!look_up(n, &found))
		return false;
	memcpy(mac, &found, sizeof(*mac));
	if (found & MAC_STALE)
		neigh_solicit(n);
	return true;
}

void neigh_solicit(const struct neigh *n)
{
	struct key key = make_key(n);
	struct asked *a = &RTE_PER_LCORE(asked)[first_slot(&key) % ASKED];
	uint64_t now = clock_seconds();

	if (same_key(&a->key, &key) && a->time == now)
		return;
	if (rte_ring_mp_enqueue_elem(wanted, &key, sizeof(key)) == 0)
		*a = (struct asked){key, now};
}

int neighs_init(void)
{
	slots = rte_zmalloc("neighbours", SLOTS * sizeof(*slots), RTE_CACHE_LINE_SIZE);
	wanted = rte_ring_create_elem("wanted", sizeof(struct key), WANTED, SOCKET_ID_ANY,
				      RING_F_SC_DEQ);
	if (!slots || !wanted || random_fill(&hash_key, sizeof(hash_key))) {
		log_error("no memory or no random numbers for the neighbours");
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

/* Assign a slot without a MAC address to another neighbour. */
static void take_slot(struct slot *slot, const struct key *key)
{
	uint64_t count = (slot->key.tag + 1) & TAG_COUNT;

	__atomic_store_n(&slot->key.tag, TAG_USED | TAG_CHANGING | count, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&slot->key.addr[0], key->addr[0], __ATOMIC_RELAXED);
	__atomic_store_n(&slot->key.addr[1], key->addr[1], __ATOMIC_RELAXED);
	__atomic_store_n(&slot->key.tag, key->tag | count, __ATOMIC_RELEASE);
}

static void set_mac(struct slot *slot, uint64_t mac)
{
	uint64_t before = slot->mac;
	struct key key = slot->key;

	if (before == mac)
		return;
	__atomic_store_n(&slot->mac, mac, __ATOMIC_RELEASE);
	if (!((before ^ mac) & MAC_DECIDES))
		return;
	key.tag &= ~(uint64_t)TAG_COUNT;
	__atomic_fetch_add(&changes[group_of(&key)], 1, __ATOMIC_RELEASE);
	changes_note_one();
}

static struct slot *find(const struct neigh *n, bool create)
{
	struct key key = make_key(n);
	uint32_t start = first_slot(&key);
	struct slot *spare = NULL;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct slot *slot = &slots[(start + i) % SLOTS];
		struct key found = slot->key;

		found.tag &= ~(uint64_t)TAG_COUNT;
		if (same_key(&found, &key))
			return slot;
		if (!spare && !(slot->mac & MAC_VALID))
			spare = slot;
	}
	if (!create || !spare)
		return NULL;
	take_slot(spare, &key);
	return spare;
}

void neigh_set(const struct neigh *n, const struct rte_ether_addr *mac, bool stale)
{
	struct slot *slot = find(n, true);
	uint64_t word = 0;

	if (!slot) {
		log_warn("too many neighbours: one is left out");
		return;
	}
	memcpy(&word, mac, sizeof(*mac));
	word |= MAC_VALID | (stale ? MAC_STALE : 0);
	set_mac(slot, word);
}

void neigh_forget(const struct neigh *n)
{
	struct slot *slot = find(n, false);

	if (slot)
		set_mac(slot, 0);
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
			set_mac(&slots[i], 0);
}

bool neigh_wanted(struct neigh *n)
{
	struct key key;

	if (rte_ring_sc_dequeue_elem(wanted, &key, sizeof(key)))
		return false;
	*n = (struct neigh){
		.addr.words = {key.addr[0], key.addr[1]},
		.af = key.tag & TAG_V6 ? AF_INET6 : AF_INET,
		.interface = (uint8_t)(key.tag >> TAG_INTERFACE),
		.macvlan = (uint8_t)(key.tag >> TAG_MACVLAN),
	};
	return true;
}
