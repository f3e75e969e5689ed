/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pool.h
 * The life of a slot: free, larval or live, retired, free again. SAs and policies
 * share it. The caller holds the mutex.
 *
 * What counts is the state in the slot: lists and counters are derived from it
 * and rebuilt by pool_rebuild() after a writer died half-way.
 */
#ifndef CYGNET_POOL_H
#define CYGNET_POOL_H

#include "layout.h"

/** One kind of slot: where its fields are, and what to do when it becomes free. */
struct slots {
	struct pool *pool;
	uint8_t *base;
	uint32_t capacity; /* checked copy: bounds every reference */
	uint32_t size;
	uint32_t state, link, generation, epoch; /* offsets in the slot */
	/* Remove secrets; of a free slot, too. NULL: there are none. */
	void (*wipe)(struct cygnet_db *db, uint32_t index);
	/* Give back what a slot owns. NULL: nothing. */
	void (*release)(struct cygnet_db *db, uint32_t index);
};

struct slots pool_sas(struct cygnet_db *db);
struct slots pool_policies(struct cygnet_db *db);

/* Fields of a slot, whatever its kind. */
uint32_t *slot_state(const struct slots *s, uint32_t index);
uint32_t *slot_link(const struct slots *s, uint32_t index);
uint32_t *slot_generation(const struct slots *s, uint32_t index);
uint64_t *slot_epoch(const struct slots *s, uint32_t index);

/** Take a free slot; its generation is new, its state still free.
 * @return index, or CYGNET_NONE: all are in use, or the free list is damaged */
uint32_t pool_take(struct cygnet_db *db, const struct slots *s);
/** A slot became larval or live. */
void pool_use(const struct slots *s, uint32_t index, enum cygnet_slot_state state);
/** A slot is out of its chain; it becomes free after a grace period. */
void pool_retire(struct cygnet_db *db, const struct slots *s, uint32_t index);
/** Give back a slot that was taken and never published. */
void pool_give_back(const struct slots *s, uint32_t index);
/** Wipe and free retired slots, max at most, that the readers have let go. */
void pool_reclaim(struct cygnet_db *db, const struct slots *s, uint32_t max);
/** Make lists and counters anew from the states. What is larval or live but
 * not marked reachable is retired.
 * @param reachable  one byte a slot */
void pool_rebuild(struct cygnet_db *db, const struct slots *s, const uint8_t *reachable);

#endif
