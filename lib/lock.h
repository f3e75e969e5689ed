/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file lock.h
 * The robust mutex that serialises writers.
 */
#ifndef CYGNET_LOCK_H
#define CYGNET_LOCK_H

#include "layout.h"

/** Initialise the mutex of a new file. @return 0 or -errno */
int lock_init(struct header *header);
/** Whether the mutex is shared between processes and robust, as lock_init() makes it, and not in
 * the state ENOTRECOVERABLE. */
bool lock_usable(const struct header *header);
/** Lock the mutex. If its owner died, call db->repair(). Aborts the process if the mutex is
 * damaged. */
void lock_take(struct cygnet_db *db);
/** Unlock the mutex. */
void lock_release(struct cygnet_db *db);

#endif
