/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file spd.h
 * The SPD, for the rest of the library.
 */
#ifndef CYGNET_SPD_H
#define CYGNET_SPD_H

#include "layout.h"

/** Whether policy a applies instead of b if both match: by lower priority value, then lower rank,
 * then later installation. @param b  NULL: a applies */
bool spd_wins(const struct cygnet_policy *a, const struct cygnet_policy *b);
/** Set mark[index] for every policy in a chain. */
void spd_mark(struct cygnet_db *db, uint8_t *mark);
/** Recount the policies of every tuple. The caller holds the mutex.
 * @param counts  scratch memory: LAYOUT_TUPLE_LISTS arrays of zeros */
void spd_rebuild_tuples(struct cygnet_db *db, uint32_t (*counts)[LAYOUT_TUPLES]);
/** Empty all chains and tuples. The caller retires the policies. The caller holds the mutex. */
void spd_forget(struct cygnet_db *db);
/** Increment the count of changes, after each change of chains or tuples and before the next. The
 * caller holds the mutex.
 * @param scope  scope of the change, see scope.h */
void spd_changed(struct cygnet_db *db, uint16_t scope);
/** The reference to the first policy of the hash chain that a policy is in. Its tuple's index is in range. */
uint32_t *spd_bucket(struct cygnet_db *db, const struct cygnet_policy *policy);

#endif
