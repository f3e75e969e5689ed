/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sad.h
 * The SAD, for the rest of the library.
 */
#ifndef CYGNET_SAD_H
#define CYGNET_SAD_H

#include "layout.h"

/** Set mark[index] for every SA in a chain. */
void sad_mark(struct cygnet_db *db, uint8_t *mark);
/** Empty all chains. The caller retires the SAs. The caller holds the mutex. */
void sad_forget(struct cygnet_db *db);
/** Have an SA that a dead writer was moving to another chain in a chain again. The caller holds the mutex.
 * @param mark  of sad_mark(); the SA's is set */
void sad_finish_move(struct cygnet_db *db, uint8_t *mark);
/** The reference to the first SA of the hash chain that an SA is filed in. */
uint32_t *sad_bucket(struct cygnet_db *db, const struct cygnet_sa *sa);
/** The larval or live SA with an id, or NULL. The caller holds the mutex. */
struct cygnet_sa *sad_find(struct cygnet_db *db, const struct cygnet_sa_id *id);

/** Whether dst is the destination of the path of an SA that is in force. */
bool sad_ends_at(const struct cygnet_sa *sa, uint8_t af, const struct cygnet_addr *dst);

bool addr_equal(const struct cygnet_addr *a, const struct cygnet_addr *b);

#endif
