/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file window.h
 * The pool of replay windows that do not fit into an SA. The caller holds the mutex.
 *
 * An SA that is not free owns the block that it names, whatever lists and
 * counters say: they are rebuilt from that after a writer died half-way.
 */
#ifndef CYGNET_WINDOW_H
#define CYGNET_WINDOW_H

#include "layout.h"

/** Give a larval SA the empty block that an inbound window of that many packets
 * needs; none if it needs none. What it had before is reused or given back.
 * @return 0, or -ENOSPC: all blocks are in use */
int window_attach(struct cygnet_db *db, struct cygnet_sa *sa, uint32_t packets);
/** Give back the block of an SA, if it has one. */
void window_release(struct cygnet_db *db, struct cygnet_sa *sa);
/** Make the free list anew. Leaves blocks that have an owner as they are. */
void window_rebuild(struct cygnet_db *db);

#endif
