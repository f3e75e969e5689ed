/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file repair.h
 * Rebuild all derived data (lists, counters) after a writer died with the mutex
 * held.
 *
 * Writers change a chain with a single store, so chains are correct at any
 * instruction: slots in a chain are installed, all others are not. A process that
 * dies during the repair leaves a file that can be repaired again.
 */
#ifndef CYGNET_REPAIR_H
#define CYGNET_REPAIR_H

#include "layout.h"

/** Rebuild all derived data. The caller holds the mutex. Aborts the process if memory runs out. */
void repair(struct cygnet_db *db);

#endif
