/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file window.h
 * The pool of replay windows that are too large for an SA slot. The caller of any
 * function holds the mutex.
 *
 * The replay_block of an SA slot that is not free is authoritative. Lists and
 * counters are derived from it; window_rebuild() rebuilds them after a writer died.
 */
#ifndef CYGNET_WINDOW_H
#define CYGNET_WINDOW_H

#include "layout.h"

/** Give a larval SA an empty block if its window does not fit into the SA slot, otherwise release
 * its block.
 * @param packets  size of the window
 * @return         0, or -ENOSPC (all blocks are in use) */
int window_attach(struct cygnet_db *db, struct cygnet_sa *sa, uint32_t packets);
/** Release the block of an SA, if it has one. */
void window_release(struct cygnet_db *db, struct cygnet_sa *sa);
/** Rebuild the free list. Blocks that have an owner stay unchanged. */
void window_rebuild(struct cygnet_db *db);

#endif
