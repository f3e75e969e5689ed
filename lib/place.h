/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file place.h
 * Where a policy is filed: by the smallest prefixes that cover the two sides of its selector, and by its interface ID.
 *
 * Policies with the same prefix on the peer's side are in one peer_net, which has the prefix lengths of their
 * local sides. The peer's side is the destination of outbound policies, and the source of all others. Policies
 * with the same two prefixes are in one hash chain.
 *
 * A lookup asks for each prefix length of the peer's side whether a peer_net has the flow's address, and if so for
 * each of its local lengths whether there is a chain. The first part of the work has a limit, LENGTHS (IPv4: 33) probes
 * of 32 bytes. The second part depends only on policies whose prefixes cover the flow's addresses, and which have its
 * interface ID: any number of tunnels can be for all addresses. IKE lets a peer
 * choose selectors only within its configured ones, so its choice makes no lookup of another peer's flows slow, and no
 * policy has to be refused because of others. If all policies with a prefix length of the peer's side have the same
 * length of the local side, as in most networks, a lookup does without the peer_net.
 *
 * Prefixes share a bucket by chance, because peers do not know the seed of the hash. Lookups then visit policies of both.
 */
#ifndef CYGNET_PLACE_H
#define CYGNET_PLACE_H

#include "layout.h"
#include "prefix.h"

struct place {
	struct spd_list *list;
	struct peer_net *net;
	uint32_t *chain;		    /* reference to the first policy of the chain */
	uint32_t *sharing;		    /* number of policies in the net that have local_bits */
	uint32_t mark;			    /* of the peer's prefix */
	unsigned int peer_bits, local_bits; /* prefix lengths */
};

static inline struct spd_list *place_list(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af)
{
	return &db->header->spd[(unsigned int)dir * 2 + (af == AF_INET6)];
}

/** @param if_id  interface ID; 0: none */
static inline uint64_t place_peer_hash(const struct cygnet_db *db, enum cygnet_dir dir,
				       uint32_t if_id, uint8_t af, const struct cygnet_addr *peer,
				       unsigned int bits)
{
	return prefix_hash(db->seed ^ ((uint64_t)dir + 1) << 48 ^ if_id, peer, bits, af);
}

/** The peer_net of a place_peer_hash(). */
static inline struct peer_net *place_net(struct cygnet_db *db, uint64_t peer_hash)
{
	return &db->peer_nets[peer_hash & db->net_mask];
}

/** One of 32 bits, by which a lookup tells most prefixes in a peer_net's bucket from its own. */
static inline uint32_t place_mark(uint64_t peer_hash)
{
	return 1u << (peer_hash >> 59);
}

/** The chain of a place_peer_hash() and a local prefix. */
static inline uint32_t *place_chain(struct cygnet_db *db, uint64_t peer_hash, uint8_t af,
				    const struct cygnet_addr *local, unsigned int bits)
{
	return &db->policy_table[prefix_hash(peer_hash, local, bits, af) & db->policy_mask];
}

/** The place of a valid selector. */
struct place place_of(struct cygnet_db *db, enum cygnet_dir dir, const struct cygnet_selector *sel);
/** Count a policy in its place. Called before the policy is in its chain: a lookup may visit a place without a
 * match, but must not skip one with a match. The caller holds the mutex. */
void place_enter(const struct place *place, const struct cygnet_policy *policy);
/** Count a policy no longer, after it was removed from its chain. The caller holds the mutex. */
void place_leave(const struct place *place, const struct cygnet_policy *policy);
/** Whether lookups that the policy matches visit its chain. */
bool place_is_visited(const struct place *place, const struct cygnet_policy *policy);
/** Empty all places. The chains are empty. The caller holds the mutex. */
void place_forget_all(struct cygnet_db *db);

/** Count all live policies anew, in memory of the process. The caller holds the mutex.
 * @return a copy of db whose place_of() has the new counts, or NULL (out of memory); place_recount_free() it */
struct cygnet_db *place_recount(struct cygnet_db *db);
void place_recount_free(struct cygnet_db *fresh);
/** Store the counts of place_recount(). Readers run meanwhile. */
void place_store(struct cygnet_db *db, const struct cygnet_db *fresh);

#endif
