/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tuple.h
 * Tuple-space search. A tuple is the form of a selector: which bits of a flow it
 * fixes. The policies of a tuple are hashed by these bits, so that one probe
 * finds all policies of the tuple that can match.
 */
#ifndef CYGNET_TUPLE_H
#define CYGNET_TUPLE_H

#include "layout.h"

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

/** The key of a selector's tuple. */
struct tuple_key tuple_of(enum cygnet_dir dir, const struct cygnet_selector *sel);
/** Hash the bits of a flow that a tuple fixes.
 * @param packed  the tuple's key */
uint64_t tuple_hash(uint64_t seed, uint64_t packed, const struct cygnet_flow *flow);
/** A flow that matches a selector. All flows that match it have the same tuple_hash(). */
struct cygnet_flow tuple_example(const struct cygnet_selector *sel);
/** The number of tuples in a list, used or emptied, that a lookup has to visit. */
uint32_t tuple_count(const struct tuple_list *list);
/** The list of tuples of a direction and family. */
struct tuple_list *tuple_list(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af);

#endif
