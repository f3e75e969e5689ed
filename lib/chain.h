/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file chain.h
 * References between policies, for the rest of the library.
 */
#ifndef CYGNET_CHAIN_H
#define CYGNET_CHAIN_H

#include "barrier.h"
#include "layout.h"

/** The policy that a reference names. @return NULL at the end of a list, or if it is damaged */
static inline struct cygnet_policy *chain_follow(struct cygnet_db *db, const uint32_t *ref)
{
	uint32_t index = ref_index(load_acquire(ref), db->geometry.policies);

	return index == CYGNET_NONE ? NULL : &db->policies[index];
}

#endif
