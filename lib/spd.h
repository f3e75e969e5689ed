/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file spd.h
 * The SPD, for the rest of the library.
 */
#ifndef CYGNET_SPD_H
#define CYGNET_SPD_H

#include "layout.h"

/** Empty all chains and places. The caller retires the policies. The caller holds the mutex. */
void spd_forget(struct cygnet_db *db);
/** Increment the count of changes, after each change of chains and before the next. The
 * caller holds the mutex.
 * @param scope  scope of the change, see scope.h */
void spd_changed(struct cygnet_db *db, uint16_t scope);

#endif
