/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file spd.h
 * What the rest of the library needs of the SPD.
 */
#ifndef CYGNET_SPD_H
#define CYGNET_SPD_H

#include "layout.h"

/** Set mark[index] for every policy in a chain. */
void spd_mark(struct cygnet_db *db, uint8_t *mark);
/** Count the policies of every tuple anew. */
void spd_rebuild_tuples(struct cygnet_db *db);
/** The head of the chain that a policy belongs to. */
uint32_t *spd_bucket(struct cygnet_db *db, enum cygnet_dir dir, const struct cygnet_selector *sel);

#endif
