/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file lock.h
 * The robust mutex that serialises writers. Taking it after its owner died
 * repairs the databases first.
 */
#ifndef CYGNET_LOCK_H
#define CYGNET_LOCK_H

#include "layout.h"

/** Initialise the mutex of a new file. @return 0 or -errno */
int lock_init(struct header *header);
/** Whether the mutex of a file is one that lock_init() has made, and may be taken: one
 * of another kind would neither exclude other processes nor survive their death. */
bool lock_usable(const struct header *header);
void lock_take(struct cygnet_db *db);
void lock_release(struct cygnet_db *db);

#endif
