/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file chain.h
 * The hash chains of policies, for the rest of the library.
 */
#ifndef CYGNET_CHAIN_H
#define CYGNET_CHAIN_H

#include "barrier.h"
#include "pool.h"
#include "tuple.h"

/** The policy that a reference of a chain names. @return NULL at the end of the chain, or if it is damaged */
static inline struct cygnet_policy *chain_follow(struct cygnet_db *db, const uint32_t *ref)
{
	uint32_t index = ref_index(load_acquire(ref), db->geometry.policies);

	return index == CYGNET_NONE ? NULL : &db->policies[index];
}

/** The chain that a flow's policies of a tuple are in. @param key  the tuple's */
static inline uint32_t *chain_of_flow(struct cygnet_db *db, uint64_t key, const struct cygnet_flow *flow)
{
	return &db->policy_table[tuple_hash(db->seed, key, flow) & db->policy_mask];
}

/** The chain that a selector's policies of a tuple are in. */
static inline uint32_t *chain_of(struct cygnet_db *db, const struct tuple *tuple,
				 const struct cygnet_selector *sel)
{
	struct cygnet_flow example = tuple_example(sel);

	return chain_of_flow(db, tuple->key, &example);
}

#endif
