/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file flow.h
 * What the stages decided about the last packet of a flow, so that the next one need not go through
 * SPD, SAD and FIB again. One table a worker; only that worker touches it. A flow is given by
 * what those decisions look at: where a packet came from (a port, or an SA), its addresses,
 * its protocol and its ports. A decision holds until something changes that it depends on, and
 * FLOW_HOLDS at the most, so that use times and neighbours stay true. With many flows that is up
 * to FLOW_HOLDS_MOST, because renewals would take most of the worker's time.
 *
 * A change that a decision may depend on begins an epoch (flow_table.epoch). The first packet of a flow in
 * an epoch compares the changes that its decision depends on with those of the time when it was made
 * (flow_renew()); packets after it compare the epoch alone.
 */
#ifndef CYGNETD_FLOW_H
#define CYGNETD_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "cygnet.h"
#include "ip/packet.h"

struct flow;
struct flow_table;
struct session;

/* In the last word: the family, where from, the protocol at bit 24, and behind that the ports. */
#define FLOW_V6 1u
_Static_assert(PACKET_FROM_SA(CYGNET_MAX_ENTRIES - 1) < 1u << 23, "it ends below the protocol");

/** Places that a flow can have: that of its hash, and those behind it. A look-up fetches the first two ahead; the others cost
 * a miss each, and a flow that finds none free displaces another one. With two places for each flow a look-up reads 1.5
 * places on average, and one in 300 finds its flow displaced; in sets of four it was 2.0 and one in 14. */
#define FLOW_WAYS 6u
/** log2 of the TSC cycles between two values of flow.until. */
#define FLOW_TICK 16
/** Number of flows up to which a decision holds for FLOW_HOLDS; with more it holds longer. */
#define FLOW_USUAL 8192u
/** How long a decision holds at the most, seconds: with few flows, and with any number of them. It
 * holds for at least half of that. */
#define FLOW_HOLDS	1u
#define FLOW_HOLDS_MOST 8u

struct flow_key {
	uint64_t word[5];
};

enum flow_kind {
	FLOW_UNKNOWN,
	FLOW_PROTECT,	  /* by the SA of session */
	FLOW_UNPROTECT,	  /* by the SA of session */
	FLOW_FORWARD,	  /* leaves as it is, by port and macvlan, to mac */
	FLOW_HANDOFF_OUT, /* another worker protects it by SA sa */
	FLOW_HANDOFF_IN,  /* another worker unprotects it by SA sa */
};

/** One cache line. */
struct flow {
	struct flow_key key;
	uint32_t epoch;		/* of the table, in which it was found valid; 0: none */
	uint8_t kind;		/* enum flow_kind */
	uint8_t from_interface; /* that packets are received on: a selector of policies */
	uint16_t passed;	/* flow_table.vector in which a packet had to pass the stages */
	uint64_t until : 48;	/* flow_table.now >> FLOW_TICK */
	uint64_t longest : 16; /* bytes of packet before it is protected; longer ones pass the stages */
	union {
		struct session *session;
		struct {
			uint8_t interface, macvlan, mac[6];
		};
		struct {
			uint32_t sa, generation;
		};
	};
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct flow) == 64, "a look-up reads one cache line");

/** Number of different scopes in a worker (cygnet_db_changed()), without CYGNET_SCOPE_ALL. A prime. */
#define FLOW_SCOPES 8191u

/** What a decision depends on. Half a cache line. */
struct flow_basis {
	uint16_t policy[CYGNET_FLOW_SCOPES]; /* flow_scope(); 0: no policy */
	uint16_t from_sa;	 /* flow_scope() of the SA that packets come out of; 0: none */
	uint16_t neigh;		 /* neigh_group(), with FLOW_FORWARD */
	uint32_t sa, generation; /* of the SA that protects or unprotects; generation 0: none */
	uint32_t changes; /* neigh_changes() of the group, read before the neighbour was looked up;
				 * flow_learn() adds the counts of the scopes */
} __attribute__((aligned(32)));

/** Whether a session is still that of an SA; then its route is made valid for this epoch. */
typedef bool (*flow_renew_session)(struct flow_table *table, struct session *s,
				   const struct flow_basis *on);

struct flow_table {
	struct flow *flow;
	struct flow_basis *basis; /* of each flow */
	uint32_t *changes; /* number of changes by flow_scope(); [0]: of those that may concern any flow */
	bool *watched; /* by flow_scope(): a flow or a route has depended on it since its last change */
	flow_renew_session renew_session;
	uint32_t mask;	  /* number of hashes - 1; flow[] has FLOW_WAYS - 1 places more */
	uint32_t epoch;	  /* flows of another epoch may be void: flow_renew(); never 0 */
	uint32_t learned; /* how often a decision has been remembered */
	uint64_t now;	  /* TSC, as of this turn */
	uint64_t usual;	  /* TSC cycles: holds with few flows, half of FLOW_HOLDS */
	uint64_t holds;	  /* TSC cycles: least lifetime of a decision; the longest is twice that */
	uint64_t since;	  /* TSC: when holds was computed */
	uint32_t learned_then; /* learned at that time */
	uint32_t spread;       /* varies lifetimes, so that not all decisions end at once */
	uint16_t vector;       /* number of the vector of packets that is looked at */
	uint64_t seed[5];      /* random, so that no sender can choose flows that collide */
};

/** @param flows  about how many it remembers. @return 0, -ENOMEM or -EIO: no random numbers */
int flows_create(struct flow_table *table, uint32_t flows, flow_renew_session renew_session);
void flows_free(struct flow_table *table);

/** The place of a scope of libcygnet in flow_table.changes. */
static inline uint16_t flow_scope(uint16_t scope)
{
	return scope == CYGNET_SCOPE_ALL ? 0 : (uint16_t)(1 + scope % FLOW_SCOPES);
}

/** Make flow_renew() check each flow at its next packet. */
static inline void flows_begin_epoch(struct flow_table *table)
{
	if (!++table->epoch)
		table->epoch = 1;
}

/** Count a change of a scope of libcygnet; CYGNET_SCOPE_ALL makes all decisions void. */
void flows_changed(struct flow_table *table, uint16_t scope);

/** Number of changes that concern all packets of an SA. */
static inline uint32_t flow_sa_changes(const struct flow_table *table, uint32_t sa)
{
	return table->changes[0] + table->changes[flow_scope(cygnet_sa_scope(sa))];
}

/** flow_sa_changes(), for a caller that caches it: from now on a change of the SA begins an epoch. */
uint32_t flow_watch_sa(struct flow_table *table, uint32_t sa);

/**
 * The flow of a packet.
 * @param ip    its IP header, checked
 * @param len   bytes of packet
 * @param from  PACKET_FROM_INTERFACE() or PACKET_FROM_SA()
 * @return false: a fragment, or a packet with options or extension headers: it has none
 */
bool flow_of(const uint8_t *ip, unsigned int len, uint32_t from, struct flow_key *key);

/* The product depends on the secret seed in all its bits: whether chosen flows collide does, too. (Flows that collide
 * in a CRC do so with any seed.) Cheaper than SipHash, which this is not as strong as: a sender who learned from the time
 * that its packets take which flows collide could only displace those of a few places, about 2 * FLOW_WAYS. */
static inline uint64_t flow_mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/** The first place where a flow may be. */
static inline uint32_t flow_place(const struct flow_table *table, const struct flow_key *key)
{
	const uint64_t *seed = table->seed, *word = key->word;
	uint64_t addrs = word[0] ^ seed[0];

	if (word[4] & FLOW_V6)
		addrs = flow_mix(addrs, word[1] ^ seed[1]) +
			flow_mix(word[2] ^ seed[2], word[3] ^ seed[3]);
	/* Once more: addresses and ports in a row are still so in the first product. */
	return (uint32_t)flow_mix(flow_mix(addrs, word[4] ^ seed[4]), seed[1]) & table->mask;
}

/** Fetch what flow_find() most often reads. */
static inline void flow_prefetch(const struct flow_table *table, uint32_t place)
{
	rte_prefetch0(&table->flow[place]);
	rte_prefetch0(&table->flow[place + 1]);
}

static inline bool flow_same(const struct flow_key *a, const struct flow_key *b)
{
	uint64_t differs = (a->word[0] ^ b->word[0]) | (a->word[4] ^ b->word[4]);

	/* IPv4 has zeros in between. */
	if (!differs && b->word[4] & FLOW_V6)
		differs = (a->word[1] ^ b->word[1]) | (a->word[2] ^ b->word[2]) |
			  (a->word[3] ^ b->word[3]);
	return !differs;
}

/** Check a flow of another epoch. @return whether nothing has changed that it depends on: then it is valid
 * in this epoch */
bool flow_renew(struct flow_table *table, struct flow *f);

static inline bool flow_holds(struct flow_table *table, struct flow *f, const struct flow_key *key)
{
	return flow_same(&f->key, key) && f->until > table->now >> FLOW_TICK &&
	       (likely(f->epoch == table->epoch) || flow_renew(table, f));
}

/** As long as this is the same in a turn, flow_find() gives the same again. */
static inline uint64_t flow_state(const struct flow_table *table)
{
	return (uint64_t)table->epoch << 32 | table->learned;
}

/** flow_find(), of places behind the first. */
const struct flow *flow_find_behind(struct flow_table *table, const struct flow_key *key,
				    uint32_t place);

/** @param place  flow_place(). @return NULL: it is not known, or not any more */
static inline const struct flow *flow_find(struct flow_table *table, const struct flow_key *key,
					   uint32_t place)
{
	struct flow *f = &table->flow[place];

	return flow_holds(table, f, key) ? f : flow_find_behind(table, key, place);
}

/** Whether packets of a flow belong to an SA of this worker. @param f  may be NULL */
static inline bool flow_has_session(const struct flow *f)
{
	return f && (f->kind == FLOW_PROTECT || f->kind == FLOW_UNPROTECT);
}

/** Begin another vector of packets. */
static inline void flows_next_vector(struct flow_table *table)
{
	table->vector++;
}

/** A packet of a flow has to pass the stages: so have those behind it in this vector, or they would
 * overtake it. */
static inline void flow_pass(struct flow_table *table, const struct flow *f)
{
	table->flow[f - table->flow].passed = table->vector;
}

/** Whether a packet of this vector had to. */
static inline bool flow_passes(const struct flow_table *table, const struct flow *f)
{
	return f->passed == table->vector;
}

/**
 * Remember a decision.
 * @param what   key, kind, and the fields of that kind
 * @param on     what it depends on
 * @param until  flow_table.now: no longer than that
 */
void flow_learn(struct flow_table *table, const struct flow *what, const struct flow_basis *on,
		uint64_t until);

#endif
