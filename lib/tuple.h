/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tuple.h
 * Tuple-space search. A tuple is the form of a selector: which bits of a flow it
 * fixes. The policies of a tuple are hashed by these bits, so that one probe
 * finds all policies of the tuple that can match.
 *
 * Peers choose selectors, so the work of a lookup has a limit. A list has at most TUPLE_EXACT
 * tuples whose key is that of their policies' selectors. All other tuples are merged ones with a
 * fixed set of TUPLE_MERGED keys: prefix lengths are rounded down, and protocol and ports are not
 * hashed. A policy is put into the tuple of its own key or, if that does not exist or its chain is
 * full, into the finest merged tuple that has room. A chain has room for TUPLE_CHAIN policies of a
 * tuple. A policy is put into no merged tuple that is much coarser than its own key: a peer with
 * many policies for one address would use up the room of all other policies.
 *
 * A lookup treats both kinds alike: it hashes the bits of the flow that a
 * key names, and compares whole selectors.
 */
#ifndef CYGNET_TUPLE_H
#define CYGNET_TUPLE_H

#include "layout.h"

#define TUPLE_EXACT 24u  /* tuples of a list that are not merged */
#define TUPLE_MERGED 24u /* merged keys of a direction and family */
#define TUPLE_NEAR 3u    /* consecutive merged keys that fix the same bits of the peer's addresses */
#define TUPLE_COARSER 2u /* how many prefix lengths coarser a policy's tuple may be on the peer's side */
#define TUPLE_CHAIN 4u   /* policies of one tuple in one chain */

enum tuple_ports { TUPLE_ANY_PORT, TUPLE_ONE_PORT, TUPLE_PORT_RANGE };

/** The fields that a tuple fixes. Packed into 64 bits, so that it is read atomically. */
struct tuple_key {
	uint8_t src_bits, dst_bits; /* prefix lengths */
	uint8_t proto; /* 1: one protocol; 0: any */
	uint8_t sport, dport; /* enum tuple_ports */
	uint8_t dir, af;
	uint8_t valid; /* always 1, so that no packed key is 0 */
};

static inline uint64_t tuple_pack(struct tuple_key key)
{
	uint64_t packed;

	_Static_assert(sizeof(key) == sizeof(packed), "a tuple key is read atomically");
	memcpy(&packed, &key, sizeof(packed));
	return packed;
}

static inline struct tuple_key tuple_unpack(uint64_t packed)
{
	struct tuple_key key;

	memcpy(&key, &packed, sizeof(key));
	return key;
}

/** The key of a selector: all bits that it fixes. */
struct tuple_key tuple_of(enum cygnet_dir dir, const struct cygnet_selector *sel);
/** The i-th merged key of a direction and family. An earlier one fixes more of the peer's addresses.
 * @param i  0 to TUPLE_MERGED - 1 */
struct tuple_key tuple_merged(enum cygnet_dir dir, uint8_t af, unsigned int i);
/** Whether a key is one of tuple_merged(). */
bool tuple_is_merged(struct tuple_key key);
/** Whether a policy may be in a tuple: a flow that its selector matches has the policy's hash there.
 * @param own  the key of the policy's selector */
bool tuple_may_hold(struct tuple_key key, struct tuple_key own);
/** Hash the bits of a flow that a tuple fixes.
 * @param packed  the tuple's key */
uint64_t tuple_hash(uint64_t seed, uint64_t packed, const struct cygnet_flow *flow);
/** A flow that matches a selector. All flows that match it have the same tuple_hash(). */
struct cygnet_flow tuple_example(const struct cygnet_selector *sel);
/** Continue a hash with the leading bits of an address. */
uint64_t tuple_hash_addr(uint64_t hash, const struct cygnet_addr *addr, unsigned int bits, uint8_t af);
/** The number of tuples in a list, used or emptied, that a lookup has to visit. */
uint32_t tuple_count(const struct tuple_list *list);
/** The list of tuples of a direction and family. */
struct tuple_list *tuple_list(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af);

#endif
