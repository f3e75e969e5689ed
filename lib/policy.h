/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file policy.h
 * Adding and removing policies, for the rest of the library.
 */
#ifndef CYGNET_POLICY_H
#define CYGNET_POLICY_H

#include "layout.h"

/** Remove a policy, whatever the number of its installs. The caller holds the mutex. */
void policy_remove(struct cygnet_db *db, struct cygnet_policy *policy);
/** A held policy with a direction and selector, or NULL. The caller holds the mutex. */
struct cygnet_policy *policy_find_held(struct cygnet_db *db, enum cygnet_dir dir,
				       const struct cygnet_selector *sel);
/** Install a held policy, unless there is a policy with its direction and selector. The caller holds the
 * mutex. @return 0, -EEXIST, -ENOSPC or -EINVAL */
int policy_add_held(struct cygnet_db *db, const struct cygnet_policy_params *p);

#endif
