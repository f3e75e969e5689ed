/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file qsbr.h
 * Quiescent-state based reclamation in the file: a slot taken out at epoch e is
 * reusable once every reader that is online has reported a quiescent state at
 * epoch e or later. A dataplane that died holds nothing back.
 */
#ifndef CYGNET_QSBR_H
#define CYGNET_QSBR_H

#include "layout.h"

/** Begin a grace period; after the store that unpublished something. The writer
 * holds the mutex. @return its epoch */
uint64_t qsbr_start(struct cygnet_db *db);
/** The latest epoch whose grace period is over, and with it that of all before. */
uint64_t qsbr_over(struct cygnet_db *db);
/** Put all readers offline: a new dataplane takes over. */
void qsbr_reset(struct cygnet_db *db);

#endif
