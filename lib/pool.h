/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pool.h
 * The life cycle of SA slots and policy slots: free, larval or live, retired,
 * free again. The caller of any function holds the mutex.
 *
 * The state in the slot is authoritative. Lists and counters are derived from it;
 * pool_rebuild() rebuilds them after a writer died.
 */
#ifndef CYGNET_POOL_H
#define CYGNET_POOL_H

#include "layout.h"

/** One kind of slot: offsets of its fields, and functions that are called when it becomes free. */
struct slots {
	struct pool *pool;
	uint8_t *base;	   /* the first slot */
	uint32_t capacity; /* number of slots; from struct cygnet_db, not from the file */
	uint32_t size;	   /* of a slot, bytes */
	uint32_t state, link, generation, epoch; /* offsets of the fields in a slot, bytes */
	/* Erase the keys of a slot, also of a free one. NULL: slots have no keys. */
	void (*wipe)(struct cygnet_db *db, uint32_t index);
	/* Release the replay block of a slot. NULL: slots own nothing. */
	void (*release)(struct cygnet_db *db, uint32_t index);
};

/** The SA slots of a file. */
struct slots pool_sas(struct cygnet_db *db);
/** The policy slots of a file. */
struct slots pool_policies(struct cygnet_db *db);

/* Fields of a slot of either kind. */
uint32_t *slot_state(const struct slots *s, uint32_t index);
uint32_t *slot_link(const struct slots *s, uint32_t index);
uint32_t *slot_generation(const struct slots *s, uint32_t index);
uint64_t *slot_epoch(const struct slots *s, uint32_t index);

/** Take a free slot and increment its generation. Its state stays free.
 * @return index, or CYGNET_NONE (all slots are in use, or the free list is damaged) */
uint32_t pool_take(struct cygnet_db *db, const struct slots *s);
/** Make a slot larval or live. Its other fields are complete. */
void pool_use(const struct slots *s, uint32_t index, enum cygnet_slot_state state);
/** Retire a slot that has been removed from its chain. It becomes free after a grace period.
 * @param scope  scope of the removal, see scope.h */
void pool_retire(struct cygnet_db *db, const struct slots *s, uint32_t index, uint16_t scope);
/** Free a slot that was taken but never published. */
void pool_give_back(const struct slots *s, uint32_t index);
/** Wipe and free at most max retired slots whose grace period is over. */
void pool_reclaim(struct cygnet_db *db, const struct slots *s, uint32_t max);
/** Rebuild lists and counters from the states of the slots. Larval and live slots
 * that are not reachable are retired.
 * @param reachable  one byte for each slot: 1 if it is in a chain */
void pool_rebuild(struct cygnet_db *db, const struct slots *s, const uint8_t *reachable);

#endif
