/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file spd.h
 * What the rest of the library needs of the SPD.
 */
#ifndef CYGNET_SPD_H
#define CYGNET_SPD_H

#include "layout.h"

/** Whether a decides before b: its priority value is lower, then its rank, then it is newer.
 * NULL never does. */
bool spd_wins(const struct cygnet_policy *a, const struct cygnet_policy *b);
/** Set mark[index] for every policy in a chain. */
void spd_mark(struct cygnet_db *db, uint8_t *mark);
/** Count the policies of every tuple anew.
 * @param counts  LAYOUT_TUPLE_LISTS of zeros to count in */
void spd_rebuild_tuples(struct cygnet_db *db, uint32_t (*counts)[LAYOUT_TUPLES]);
/** Empty all chains and tuples; the policies are left to be retired. */
void spd_forget(struct cygnet_db *db);
/** Count a change of chains or tuples; after it, before the next one. */
void spd_changed(struct cygnet_db *db);
/** The head of the chain that a policy belongs to. */
uint32_t *spd_bucket(struct cygnet_db *db, enum cygnet_dir dir, const struct cygnet_selector *sel);

#endif
