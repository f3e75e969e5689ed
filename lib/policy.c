/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding and removing policies. */
#include <errno.h>
#include <netinet/in.h>

#include "chain.h"
#include "hold.h"
#include "lock.h"
#include "policy.h"
#include "pool.h"
#include "sad.h"
#include "scope.h"
#include "selector.h"
#include "spd.h"
#include "tuple_list.h"

static bool params_valid(const struct cygnet_policy_params *p)
{
	return p->dir < CYGNET_DIRS && p->action <= CYGNET_DISCARD && selector_valid(&p->sel) &&
	       (p->action != CYGNET_PROTECT ||
		p->proto == IPPROTO_ESP || p->proto == IPPROTO_AH);
}

/* Whether all identifying fields except the end points are equal. A held policy matches no parameters. */
static bool same_policy(const struct cygnet_policy *policy, const struct cygnet_policy_params *p)
{
	return !cygnet_policy_held(policy) && policy->dir == p->dir && policy->action == p->action &&
	       policy->priority == p->priority && policy->rank == p->rank &&
	       policy->reqid == p->reqid &&
	       policy->spi == p->spi && policy->proto == p->proto && policy->mode == p->mode &&
	       selector_equal(&policy->sel, &p->sel);
}

/* Inbound policies of two peers can differ in their end points alone. The SA of an outbound policy is resolved
 * again by each install. */
static bool same_ends(const struct cygnet_policy *policy, const struct cygnet_policy_params *p)
{
	return p->dir == CYGNET_OUT ||
	       (policy->af == p->af && !memcmp(&policy->src, &p->src, sizeof(p->src)) &&
		!memcmp(&policy->dst, &p->dst, sizeof(p->dst)));
}

static struct cygnet_policy *find_in_chain(struct cygnet_db *db, const uint32_t *ref,
					   const struct cygnet_policy_params *p,
					   struct cygnet_policy **moved)
{
	struct cygnet_policy *policy = chain_follow(db, ref);
	uint32_t left = db->geometry.policies;

	for (; policy && left--; policy = chain_follow(db, &policy->next)) {
		if (!same_policy(policy, p))
			continue;
		if (same_ends(policy, p))
			return policy;
		if (moved && !*moved)
			*moved = policy;
	}
	return NULL;
}

/* @param[out] moved  an equal policy with other end points, or NULL; may be NULL
 * @return the equal policy with these end points, or NULL */
static struct cygnet_policy *find(struct cygnet_db *db, const struct cygnet_policy_params *p,
				  struct cygnet_policy **moved)
{
	struct tuple_list *list = tuple_list(db, p->dir, p->sel.af);
	struct tuple_key own = tuple_of(p->dir, &p->sel);
	struct cygnet_policy *policy = NULL;
	struct tuple *tuple = NULL;

	while (!policy && (tuple = tuple_list_next(list, own, tuple)))
		policy = find_in_chain(db, chain_of(db, tuple, &p->sel), p, moved);
	return policy;
}

static void publish(struct cygnet_db *db, struct cygnet_policy *policy)
{
	uint32_t *at = spd_bucket(db, policy);
	uint32_t left = db->geometry.policies;
	struct cygnet_policy *other;

	for (other = chain_follow(db, at); other && left-- && !spd_wins(policy, other);
	     other = chain_follow(db, at))
		at = &other->next;
	store_relaxed(&policy->next, load_relaxed(at));
	store_release(at, cygnet_policy_index(db, policy) + 1);
}

static void unpublish(struct cygnet_db *db, struct cygnet_policy *policy)
{
	uint32_t ref = cygnet_policy_index(db, policy) + 1;
	uint32_t left = db->geometry.policies;
	uint32_t *at;

	if (policy->tuple >= LAYOUT_TUPLES)
		return;
	at = spd_bucket(db, policy);
	while (load_relaxed(at) != ref) {
		struct cygnet_policy *other = chain_follow(db, at);

		if (!other || !left--)
			return;
		at = &other->next;
	}
	store_release(at, load_relaxed(&policy->next));
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
	policy->src = p->src;
	policy->dst = p->dst;
	store_release(&policy->sa, sa);
}

/* Whether an earlier policy in the chain has the same selector, so that no lookup finds this policy. After a
 * rekeying the policy of the old SA is shadowed. */
static bool is_shadowed(struct cygnet_db *db, const struct cygnet_policy *policy)
{
	uint32_t left = db->geometry.policies;
	const struct cygnet_policy *other;

	if (policy->tuple >= LAYOUT_TUPLES)
		return false;
	other = chain_follow(db, spd_bucket(db, policy));
	for (; other && other != policy && left--; other = chain_follow(db, &other->next))
		if (other->dir == policy->dir && selector_equal(&other->sel, &policy->sel))
			return true;
	return false;
}

/* The scope of adding, deleting or changing a policy in its chain. */
static uint16_t scope_of(struct cygnet_db *db, const struct cygnet_policy *policy)
{
	return is_shadowed(db, policy) ? (uint16_t)SCOPE_NONE
				       : scope_of_selector(db, policy->dir, &policy->sel);
}

/* @param[out] added  the new policy
 * @return 0, -ENOSPC or -EMLINK */
static int insert(struct cygnet_db *db, const struct cygnet_policy_params *p, uint64_t sa,
		  struct cygnet_policy **added)
{
	struct slots slots = pool_policies(db);
	struct cygnet_policy *policy;
	struct tuple *tuple;
	uint32_t index;

	index = pool_take(db, &slots);
	if (index == CYGNET_NONE)
		return -ENOSPC;
	tuple = tuple_list_choose(db, p);
	if (!tuple) {
		pool_give_back(&slots, index);
		return -EMLINK;
	}
	policy = &db->policies[index];
	fill(db, policy, p, sa);
	policy->tuple = (uint32_t)(tuple - tuple_list(db, p->dir, p->sel.af)->tuple);
	if (p->sel.interface)
		store_relaxed(&db->header->spd_binds, 1); /* publish() releases it */
	tuple_list_enter(tuple, p->priority);
	pool_use(&slots, index, CYGNET_SLOT_LIVE);
	publish(db, policy);
	spd_changed(db, scope_of(db, policy));
	*added = policy;
	return 0;
}

/* Lookups see a change only if the policy gets another SA. */
static void add_again(struct cygnet_db *db, struct cygnet_policy *policy, uint64_t sa)
{
	policy->refs++;
	if (load_relaxed(&policy->sa) == sa)
		return;
	store_release(&policy->sa, sa);
	spd_changed(db, scope_of(db, policy));
}

static int add_locked(struct cygnet_db *db, const struct cygnet_policy_params *p)
{
	struct cygnet_policy *policy = find(db, p, NULL);
	int err;

	if (policy) {
		add_again(db, policy, resolve_sa(db, p));
		return 0;
	}
	err = insert(db, p, resolve_sa(db, p), &policy);
	/* Remove the held policies last, so that lookups always find a policy. */
	if (!err)
		hold_replace(db, policy);
	return err;
}

/* @param held  find only held policies
 * @return the first policy with a direction and selector, or NULL */
static struct cygnet_policy *find_selector(struct cygnet_db *db, enum cygnet_dir dir,
					   const struct cygnet_selector *sel, bool held)
{
	struct tuple_list *list = tuple_list(db, dir, sel->af);
	struct tuple_key own = tuple_of(dir, sel);
	struct tuple *tuple = NULL;

	while ((tuple = tuple_list_next(list, own, tuple))) {
		struct cygnet_policy *policy = chain_follow(db, chain_of(db, tuple, sel));
		uint32_t left = db->geometry.policies;

		for (; policy && left--; policy = chain_follow(db, &policy->next))
			if (policy->dir == dir && selector_equal(&policy->sel, sel) &&
			    (!held || cygnet_policy_held(policy)))
				return policy;
	}
	return NULL;
}

struct cygnet_policy *policy_find_held(struct cygnet_db *db, enum cygnet_dir dir,
				       const struct cygnet_selector *sel)
{
	return find_selector(db, dir, sel, true);
}

int policy_add_held(struct cygnet_db *db, const struct cygnet_policy_params *p)
{
	struct cygnet_policy *policy;

	if (!params_valid(p))
		return -EINVAL;
	if (find_selector(db, p->dir, &p->sel, false))
		return -EEXIST;
	return insert(db, p, CYGNET_POLICY_HELD, &policy);
}

EXPORT int cygnet_policy_add(struct cygnet_db *db, const struct cygnet_policy_params *params)
{
	int err;

	if (!params_valid(params))
		return -EINVAL;
	lock_take(db);
	err = add_locked(db, params);
	lock_release(db);
	return err;
}

void policy_remove(struct cygnet_db *db, struct cygnet_policy *policy)
{
	uint16_t scope = scope_of(db, policy);
	struct slots slots = pool_policies(db);

	unpublish(db, policy);
	tuple_list_leave(db, policy);
	spd_changed(db, scope);
	pool_retire(db, &slots, cygnet_policy_index(db, policy), scope);
	pool_reclaim(db, &slots, 4);
}

static void delete_locked(struct cygnet_db *db, struct cygnet_policy *policy)
{
	if (policy->refs > 1)
		policy->refs--;
	else
		policy_remove(db, policy);
}

EXPORT int cygnet_policy_delete(struct cygnet_db *db, const struct cygnet_policy_params *params)
{
	struct cygnet_policy *policy, *moved = NULL;

	if (!params_valid(params))
		return -EINVAL;
	lock_take(db);
	policy = find(db, params, &moved);
	if (!policy)
		policy = moved;
	if (policy)
		delete_locked(db, policy);
	lock_release(db);
	return policy ? 0 : -ENOENT;
}

EXPORT int cygnet_policy_query(struct cygnet_db *db, enum cygnet_dir dir,
			       const struct cygnet_selector *sel, uint64_t *use_time)
{
	struct tuple *tuple = NULL;
	struct tuple_list *list;
	int err = -ENOENT;

	if ((unsigned int)dir >= CYGNET_DIRS || !selector_valid(sel))
		return -EINVAL;
	*use_time = 0;
	list = tuple_list(db, dir, sel->af);
	lock_take(db);
	while ((tuple = tuple_list_next(list, tuple_of(dir, sel), tuple))) {
		struct cygnet_policy *policy = chain_follow(db, chain_of(db, tuple, sel));
		uint32_t left = db->geometry.policies;

		for (; policy && left--; policy = chain_follow(db, &policy->next)) {
			uint64_t used = load_relaxed(&policy->use_time);

			if (policy->dir != dir || !selector_equal(&policy->sel, sel))
				continue;
			err = 0;
			if (used > *use_time)
				*use_time = used;
		}
	}
	lock_release(db);
	return err;
}
