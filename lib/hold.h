/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file hold.h
 * Held policies, for the rest of the library. The caller of any function holds the mutex.
 */
#ifndef CYGNET_HOLD_H
#define CYGNET_HOLD_H

#include "layout.h"

/** Hold all PROTECT and DISCARD policies, and remove all others. */
void hold_all(struct cygnet_db *db);
/** Remove the held policies with the direction and selector of a policy, which replaces them. */
void hold_replace(struct cygnet_db *db, const struct cygnet_policy *policy);
/** Whether the fields of a held policy are valid: it is no bypass, has no reqid, and counts as installed once. */
bool hold_valid(const struct cygnet_policy *policy);

#endif
