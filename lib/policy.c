/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding and removing policies. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "entry.h"
#include "hold.h"
#include "lock.h"
#include "policy.h"
#include "pool.h"
#include "sad.h"
#include "scope.h"
#include "selector.h"
#include "spd.h"

static bool params_valid(const struct cygnet_policy_params *p)
{
	return p->dir < CYGNET_DIRS && p->action <= CYGNET_DISCARD && selector_valid(&p->sel) &&
	       (p->action != CYGNET_PROTECT || p->proto == IPPROTO_ESP || p->proto == IPPROTO_AH);
}

/* Whether all identifying fields except the end points are equal. A held policy matches no parameters. */
static bool same_policy(const struct cygnet_policy *policy, const struct cygnet_policy_params *p)
{
	return !cygnet_policy_held(policy) && policy->dir == p->dir &&
	       policy->action == p->action && policy->priority == p->priority &&
	       policy->rank == p->rank && policy->reqid == p->reqid && policy->spi == p->spi &&
	       policy->proto == p->proto && policy->mode == p->mode &&
	       selector_equal(&policy->sel, &p->sel);
}

/* Policies of two peers can differ in their end points alone. */
static bool same_ends(const struct cygnet_policy *policy, const struct cygnet_policy_params *p)
{
	return policy->af == p->af && !memcmp(&policy->src, &p->src, sizeof(p->src)) &&
	       !memcmp(&policy->dst, &p->dst, sizeof(p->dst));
}

/* @param first  of the entry, or NULL
 * @param[out] moved  an equal policy with other end points, or NULL; may be NULL
 * @return the equal policy with these end points, or NULL */
static struct cygnet_policy *find(struct cygnet_db *db, struct cygnet_policy *first,
				  const struct cygnet_policy_params *p,
				  struct cygnet_policy **moved)
{
	uint32_t left = db->geometry.policies;

	for (struct cygnet_policy *policy = first; policy && left--;
	     policy = entry_next(db, policy)) {
		if (!same_policy(policy, p))
			continue;
		if (same_ends(policy, p))
			return policy;
		if (moved && !*moved)
			*moved = policy;
	}
	return NULL;
}

/* The reference to the SA that an outbound policy was installed with: generation << 32 | index. */
static uint64_t resolve_sa(struct cygnet_db *db, const struct cygnet_policy_params *p)
{
	const struct cygnet_sa_id id = {p->spi, p->proto, p->af, p->dst};
	const struct cygnet_sa *sa = NULL;

	if (p->dir == CYGNET_OUT && p->action == CYGNET_PROTECT && p->spi)
		sa = sad_find(db, &id);
	return sa ? (uint64_t)sa->generation << 32 | cygnet_sa_index(db, sa) : CYGNET_NONE;
}

static void fill(struct cygnet_db *db, struct cygnet_policy *policy,
		 const struct cygnet_policy_params *p, uint64_t sa)
{
	policy->sel = p->sel;
	policy->priority = p->priority;
	policy->rank = p->rank;
	policy->reqid = p->reqid;
	policy->spi = p->spi;
	policy->refs = 1;
	policy->dir = p->dir;
	policy->action = p->action;
	policy->proto = p->proto;
	policy->mode = p->mode;
	policy->use_time = 0;
	policy->order = ++db->header->order;
	policy->af = p->af;
	policy->per_cpu = p->per_cpu ? (uint16_t)(policy->generation | CYGNET_POLICY_PER_CPU) : 0;
	policy->src = p->src;
	policy->dst = p->dst;
	store_release(&policy->sa, sa);
}

/* The scope of adding, deleting or changing a policy. */
static uint16_t scope_of(struct cygnet_db *db, const struct cygnet_policy *policy, bool applies)
{
	return applies ? scope_of_selector(db, policy->dir, &policy->sel) : (uint16_t)SCOPE_NONE;
}

/* @param[out] added  the new policy
 * @return 0 or -ENOSPC */
static int insert(struct cygnet_db *db, const struct entry *entry,
		  const struct cygnet_policy_params *p, uint64_t sa, struct cygnet_policy **added)
{
	struct slots slots = pool_policies(db);
	uint32_t index = pool_take(db, &slots);
	struct cygnet_policy *policy;

	if (index == CYGNET_NONE)
		return -ENOSPC;
	policy = &db->policies[index];
	fill(db, policy, p, sa);
	if (p->sel.interface)
		store_relaxed(&db->header->spd_binds, 1); /* entry_add() releases it */
	place_enter(&entry->place, policy);
	pool_use(&slots, index, CYGNET_SLOT_LIVE);
	entry_add(db, entry, policy);
	*added = policy;
	return 0;
}

/* Lookups see a change only if a policy that applies gets another SA.
 * @param applies  it does */
static void add_again(struct cygnet_db *db, struct cygnet_policy *policy, uint64_t sa, bool applies)
{
	policy->refs++;
	if (load_relaxed(&policy->sa) == sa)
		return;
	store_release(&policy->sa, sa);
	spd_changed(db, scope_of(db, policy, applies));
}

/* The first held policy of a list of users, or NULL. */
static struct cygnet_policy *next_held(struct cygnet_db *db, struct cygnet_policy *policy)
{
	uint32_t left = db->geometry.policies;

	while (policy && left-- && !cygnet_policy_held(policy))
		policy = entry_next(db, policy);
	return policy;
}

static int add_locked(struct cygnet_db *db, const struct cygnet_policy_params *p)
{
	struct entry entry = entry_of(db, p->dir, &p->sel);
	struct cygnet_policy *policy = find(db, entry.first, p, NULL);
	bool holds = next_held(db, entry.first);
	int err;

	if (policy) {
		add_again(db, policy, resolve_sa(db, p),
			  policy == entry.first || cygnet_policy_per_cpu(policy));
		return 0;
	}
	err = insert(db, &entry, p, resolve_sa(db, p), &policy);
	/* Remove the held policies last, so that lookups always find a policy. */
	if (!err && holds)
		hold_replace(db, policy);
	return err;
}

struct cygnet_policy *policy_find_held(struct cygnet_db *db, enum cygnet_dir dir,
				       const struct cygnet_selector *sel)
{
	return next_held(db, entry_of(db, dir, sel).first);
}

int policy_add_held(struct cygnet_db *db, const struct cygnet_policy_params *p)
{
	struct cygnet_policy *policy;
	struct entry entry;

	if (!params_valid(p))
		return -EINVAL;
	entry = entry_of(db, p->dir, &p->sel);
	return entry.first ? -EEXIST : insert(db, &entry, p, CYGNET_POLICY_HELD, &policy);
}

EXPORT int cygnet_policy_add(struct cygnet_db *db, const struct cygnet_policy_params *params)
{
	int err;

	if (!params_valid(params))
		return -EINVAL;
	if (params->sel.by_if_id && !(db->features & LAYOUT_IF_ID))
		return -EOPNOTSUPP;
	lock_take(db);
	err = add_locked(db, params);
	lock_release(db);
	return err;
}

static void remove_from(struct cygnet_db *db, const struct entry *entry,
			struct cygnet_policy *policy)
{
	uint16_t scope = scope_of(db, policy, entry_remove(db, entry, policy));
	struct slots slots = pool_policies(db);

	place_leave(&entry->place, policy);
	pool_retire(db, &slots, cygnet_policy_index(db, policy), scope);
	pool_reclaim(db, &slots, 4);
}

void policy_remove(struct cygnet_db *db, struct cygnet_policy *policy)
{
	struct slots slots = pool_policies(db);
	struct entry entry;

	if (policy->dir >= CYGNET_DIRS) { /* of a damaged file: no list has it */
		pool_retire(db, &slots, cygnet_policy_index(db, policy), CYGNET_SCOPE_ALL);
		return;
	}
	entry = entry_of(db, policy->dir, &policy->sel);
	remove_from(db, &entry, policy);
}

static int delete_locked(struct cygnet_db *db, const struct cygnet_policy_params *p)
{
	struct entry entry = entry_of(db, p->dir, &p->sel);
	struct cygnet_policy *moved = NULL, *policy = find(db, entry.first, p, &moved);

	policy = policy ? policy : moved;
	if (!policy)
		return -ENOENT;
	if (policy->refs > 1)
		policy->refs--;
	else
		remove_from(db, &entry, policy);
	return 0;
}

EXPORT int cygnet_policy_delete(struct cygnet_db *db, const struct cygnet_policy_params *params)
{
	int err;

	if (!params_valid(params))
		return -EINVAL;
	lock_take(db);
	err = delete_locked(db, params);
	lock_release(db);
	return err;
}

EXPORT int cygnet_policy_query(struct cygnet_db *db, enum cygnet_dir dir,
			       const struct cygnet_selector *sel, uint64_t *use_time)
{
	uint32_t left = db->geometry.policies;
	const struct cygnet_policy *policy;
	int err = -ENOENT;

	if ((unsigned int)dir >= CYGNET_DIRS || !selector_valid(sel))
		return -EINVAL;
	*use_time = 0;
	lock_take(db);
	policy = entry_of(db, dir, sel).first;
	for (; policy && left--; policy = entry_next(db, policy)) {
		uint64_t used = load_relaxed(&policy->use_time);

		err = 0;
		if (used > *use_time)
			*use_time = used;
	}
	lock_release(db);
	return err;
}

static struct cygnet_policy_params params_of(const struct cygnet_policy *policy)
{
	struct cygnet_policy_params params;

	memset(&params, 0, sizeof(params)); /* also the padding */
	params.sel = policy->sel;
	params.priority = policy->priority;
	params.rank = policy->rank;
	params.reqid = policy->reqid;
	params.spi = policy->spi;
	params.dir = policy->dir;
	params.action = policy->action;
	params.proto = policy->proto;
	params.mode = policy->mode;
	params.af = policy->af;
	params.per_cpu = cygnet_policy_per_cpu(policy);
	params.src = policy->src;
	params.dst = policy->dst;
	return params;
}

EXPORT int cygnet_policy_entry(struct cygnet_db *db, enum cygnet_dir dir,
			       const struct cygnet_selector *sel, struct cygnet_policy_entry *entry)
{
	uint32_t left = db->geometry.policies;
	const struct cygnet_policy *policy;

	if ((unsigned int)dir >= CYGNET_DIRS || !selector_valid(sel))
		return -EINVAL;
	memset(entry, 0, sizeof(*entry));
	lock_take(db);
	policy = entry_of(db, dir, sel).first;
	for (; policy && left--; policy = entry_next(db, policy)) {
		if (cygnet_policy_held(policy))
			continue;
		if (!entry->installs)
			entry->first = params_of(policy);
		entry->installs += policy->refs;
	}
	lock_release(db);
	return entry->installs ? 0 : -ENOENT;
}
