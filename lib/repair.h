/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file repair.h
 * Make everything that is derived (lists, counters) anew after a writer died
 * with the mutex held.
 *
 * Writers change the chains by single stores, so the chains are right at any
 * instruction: a slot in a chain is installed, any other is not. Repair may
 * itself be interrupted anywhere and started again.
 */
#ifndef CYGNET_REPAIR_H
#define CYGNET_REPAIR_H

#include "layout.h"

/** The caller holds the mutex, and no other writer runs. */
void repair(struct cygnet_db *db);

#endif
