/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file qsbr.h
 * Quiescent-state based reclamation in the file: a slot removed at epoch e may be
 * reused when every online reader has reported a quiescent state at epoch e or
 * later. The readers of a dataplane that died do not count.
 */
#ifndef CYGNET_QSBR_H
#define CYGNET_QSBR_H

#include "layout.h"

/** Begin a grace period, after the store that removed a slot. The caller holds the mutex.
 * @param scope  scope of the removal, see scope.h
 * @return its epoch */
uint64_t qsbr_start(struct cygnet_db *db, uint16_t scope);
/** The latest epoch whose grace period is over. The grace periods of all earlier epochs are
 * over as well. */
uint64_t qsbr_over(struct cygnet_db *db);
/** Put all readers offline, when a new dataplane takes its role. */
void qsbr_reset(struct cygnet_db *db);

#endif
