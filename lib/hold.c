/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Held policies: policies of a charon that died, or of the last boot, drop their packets until the next charon has
 * installed its own policies.
 *
 * A policy is held if its reference to an SA is CYGNET_POLICY_HELD, whose index no SA has. Each version of the
 * library writes the reference when it fills a slot, so that the next policy of a slot is never mistaken for a held
 * policy. A library that does not know the value finds no SA. No SA has reqid 0.
 */
#include <errno.h>

#include "hold.h"
#include "lock.h"
#include "policy.h"
#include "pool.h"
#include "selector.h"
#include "spd.h"

static void hold(struct cygnet_policy *policy)
{
	store_relaxed(&policy->reqid, 0);
	store_relaxed(&policy->spi, 0);
	policy->refs = 1;
	store_release(&policy->sa, CYGNET_POLICY_HELD);
}

void hold_all(struct cygnet_db *db)
{
	uint32_t fresh = pool_fresh(&db->header->policy_pool, db->geometry.policies);

	for (uint32_t i = 0; i < fresh; i++) {
		struct cygnet_policy *policy = &db->policies[i];

		if (policy->state == CYGNET_SLOT_LIVE &&
		    cygnet_policy_may_be_held(policy->action, &policy->sel))
			hold(policy);
	}
	spd_changed(db, CYGNET_SCOPE_ALL);
	/* The newest first: they are at the front of a chain. */
	for (uint32_t i = fresh; i--;)
		if (db->policies[i].state == CYGNET_SLOT_LIVE &&
		    !cygnet_policy_held(&db->policies[i]))
			policy_remove(db, &db->policies[i]);
}

/* @return number of policies removed */
static unsigned int remove_held(struct cygnet_db *db, enum cygnet_dir dir,
				const struct cygnet_selector *sel)
{
	struct cygnet_policy *held;
	unsigned int removed = 0;

	/* In a damaged file a policy that was removed may be found again. */
	for (; (held = policy_find_held(db, dir, sel)) && held->state == CYGNET_SLOT_LIVE;
	     removed++)
		policy_remove(db, held);
	return removed;
}

void hold_replace(struct cygnet_db *db, const struct cygnet_policy *policy)
{
	remove_held(db, policy->dir, &policy->sel);
}

bool hold_valid(const struct cygnet_policy *policy)
{
	return cygnet_policy_may_be_held(policy->action, &policy->sel) && !policy->reqid &&
	       policy->refs == 1;
}

EXPORT int cygnet_policy_hold(struct cygnet_db *db, const struct cygnet_policy_params *params)
{
	struct cygnet_policy_params held = *params;
	bool is_charon;
	int err;

	if (!cygnet_policy_may_be_held(params->action, &params->sel))
		return -EINVAL;
	held.reqid = held.spi = 0;
	lock_take(db);
	/* A charon that starts later finds the policy, because it takes the role before the mutex. */
	is_charon = db->roles & 1u << CYGNET_ROLE_CHARON;
	err = !is_charon && cygnet_role_held(db, CYGNET_ROLE_CHARON) ? -EBUSY
								     : policy_add_held(db, &held);
	lock_release(db);
	return err;
}

EXPORT unsigned int cygnet_policy_release(struct cygnet_db *db, enum cygnet_dir dir,
					  const struct cygnet_selector *sel)
{
	unsigned int removed;

	if ((unsigned int)dir >= CYGNET_DIRS || !selector_valid(sel))
		return 0;
	lock_take(db);
	removed = remove_held(db, dir, sel);
	lock_release(db);
	return removed;
}

EXPORT unsigned int cygnet_hold_end(struct cygnet_db *db)
{
	unsigned int removed = 0;
	uint32_t fresh;

	lock_take(db);
	fresh = pool_fresh(&db->header->policy_pool, db->geometry.policies);
	/* The newest first: they are at the front of a chain. */
	for (uint32_t i = fresh; i--;) {
		struct cygnet_policy *policy = &db->policies[i];

		if (policy->state != CYGNET_SLOT_LIVE || !cygnet_policy_held(policy))
			continue;
		policy_remove(db, policy);
		removed++;
	}
	lock_release(db);
	return removed;
}

EXPORT unsigned int cygnet_policies_held(struct cygnet_db *db)
{
	uint32_t fresh = pool_fresh(&db->header->policy_pool, db->geometry.policies);
	unsigned int held = 0;

	for (uint32_t i = 0; i < fresh; i++)
		held += load_acquire(&db->policies[i].state) == CYGNET_SLOT_LIVE &&
			cygnet_policy_held(&db->policies[i]);
	return held;
}

EXPORT bool cygnet_everything_held(struct cygnet_db *db)
{
	uint32_t fresh = pool_fresh(&db->header->policy_pool, db->geometry.policies);
	struct cygnet_policy policy;

	for (uint32_t i = 0; i < fresh; i++)
		if (cygnet_policy_snapshot(db, i, &policy) && cygnet_policy_held(&policy) &&
		    policy.priority == CYGNET_PRIORITY_LAST)
			return true;
	return false;
}
