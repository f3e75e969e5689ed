/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tuple.h
 * Tuple-space search: all policies of a tuple fix the same bits of a flow, so
 * that one hash probe finds those that can match, however many there are.
 */
#ifndef CYGNET_TUPLE_H
#define CYGNET_TUPLE_H

#include "layout.h"

enum tuple_ports { TUPLE_ANY_PORT, TUPLE_ONE_PORT, TUPLE_PORT_RANGE };

/** What a tuple fixes. Packed into 64 bits, so that it is read in one go. */
struct tuple_key {
	uint8_t src_bits, dst_bits; /* prefix lengths */
	uint8_t proto; /* 1: one exact value */
	uint8_t sport, dport; /* enum tuple_ports */
	uint8_t dir, af;
	uint8_t valid; /* 1, so that no key is 0 */
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

/** The narrowest tuple that a selector fits into. */
struct tuple_key tuple_of(enum cygnet_dir dir, const struct cygnet_selector *sel);
/** The bits of a flow that a tuple fixes, hashed. */
uint64_t tuple_hash(uint64_t seed, uint64_t packed, const struct cygnet_flow *flow);
/** A flow in the middle of the selector: it hashes as all matching ones do. */
struct cygnet_flow tuple_example(const struct cygnet_selector *sel);
/** How many tuples of a list a lookup has to look at. */
uint32_t tuple_count(const struct tuple_list *list);
struct tuple_list *tuple_list(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af);

#endif
