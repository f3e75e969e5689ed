/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file scope.h
 * The log of changes: the scope of each of the last CYGNET_SCOPES changes of the databases.
 *
 * A change has the number that cygnet_db_changes() had before it. An entry is the low half of the next number
 * << 16 | the scope. A library that does not know the log leaves an old entry in place, whose number is wrong: such
 * a change has CYGNET_SCOPE_ALL.
 */
#ifndef CYGNET_SCOPE_H
#define CYGNET_SCOPE_H

#include "layout.h"

/** The scope of a change that no lookup can see. */
#define SCOPE_NONE 0x7fffu

/** Log the next change. Called after the change can be seen, and before header.spd_changes or header.epoch is
 * incremented. The caller holds the mutex. */
void scope_log(struct cygnet_db *db, uint16_t scope);
/** The scope of a policy with this selector. It is one of the cygnet_flow_scopes() of every flow that matches the
 * selector. */
uint16_t scope_of_selector(const struct cygnet_db *db, enum cygnet_dir dir,
			   const struct cygnet_selector *sel);

#endif
