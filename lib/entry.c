/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "entry.h"
#include "scope.h"
#include "selector.h"
#include "spd.h"

static uint32_t ref_of(const struct cygnet_db *db, const struct cygnet_policy *policy)
{
	return cygnet_policy_index(db, policy) + 1;
}

struct entry entry_of(struct cygnet_db *db, enum cygnet_dir dir, const struct cygnet_selector *sel)
{
	struct entry entry = {.place = place_of(db, dir, sel)};
	uint32_t *link = entry.place.chain, left = db->geometry.policies;
	struct cygnet_policy *policy;

	for (; (policy = chain_follow(db, link)) && left--; link = &policy->next) {
		if (policy->dir == dir && selector_equal(&policy->sel, sel)) {
			entry.first = policy;
			entry.link = link;
			break;
		}
	}
	return entry;
}

/* Chains are sorted, so that the first match of a lookup is the best. */
static void chain_add(struct cygnet_db *db, uint32_t *link, struct cygnet_policy *policy)
{
	uint32_t left = db->geometry.policies;
	struct cygnet_policy *other;

	for (other = chain_follow(db, link); other && left-- && !cygnet_policy_wins(policy, other);
	     other = chain_follow(db, link))
		link = &other->next;
	store_relaxed(&policy->next, load_relaxed(link));
	store_release(link, ref_of(db, policy));
}

/* Readers that are at the policy go on from it: its own reference stays.
 * @param link  leads to the policy, unless the file is damaged */
static void chain_remove(struct cygnet_db *db, uint32_t *link, const struct cygnet_policy *policy)
{
	if (load_relaxed(link) == ref_of(db, policy))
		store_release(link, load_relaxed(&policy->next));
}

static void users_add(struct cygnet_db *db, struct cygnet_policy *head,
		      struct cygnet_policy *policy)
{
	struct cygnet_policy *before = head, *user;
	uint32_t left = db->geometry.policies;

	while ((user = entry_next(db, before)) && left-- && !cygnet_policy_wins(policy, user))
		before = user;
	store_relaxed(&policy->user, load_relaxed(&before->user));
	store_release(&before->user, ref_of(db, policy));
}

static void users_remove(struct cygnet_db *db, struct cygnet_policy *head,
			 const struct cygnet_policy *policy)
{
	struct cygnet_policy *before = head, *user;
	uint32_t left = db->geometry.policies;

	while ((user = entry_next(db, before)) && left--) {
		if (user == policy) {
			store_release(&before->user, load_relaxed(&policy->user));
			return;
		}
		before = user;
	}
}

/* First add, then remove, so that a lookup finds one of the two. */
static void replace_first(struct cygnet_db *db, const struct entry *entry,
			  struct cygnet_policy *policy)
{
	struct cygnet_policy *first = entry->first;

	store_relaxed(&policy->user, first ? ref_of(db, first) : 0);
	chain_add(db, entry->place.chain, policy);
	spd_changed(db, scope_of_selector(db, policy->dir, &policy->sel));
	if (!first)
		return;
	chain_remove(db,
		     load_relaxed(entry->link) == ref_of(db, policy) ? &policy->next : entry->link,
		     first);
	spd_changed(db, SCOPE_NONE);
}

/* Lookups come only to the policy that applies, but for an SA of its own a worker searches the others, too. */
static bool is_searched(const struct cygnet_policy *user)
{
	return cygnet_policy_per_cpu(user);
}

static uint16_t scope_of_user(struct cygnet_db *db, const struct cygnet_policy *user)
{
	return is_searched(user) ? scope_of_selector(db, user->dir, &user->sel)
				 : (uint16_t)SCOPE_NONE;
}

void entry_add(struct cygnet_db *db, const struct entry *entry, struct cygnet_policy *policy)
{
	if (!entry->first || cygnet_policy_wins(policy, entry->first)) {
		replace_first(db, entry, policy);
		return;
	}
	users_add(db, entry->first, policy);
	spd_changed(db, scope_of_user(db, policy));
}

/* First add, then remove, as above. The next one goes behind the policy. */
static void promote_next(struct cygnet_db *db, uint32_t *chain, const struct cygnet_policy *policy)
{
	struct cygnet_policy *next = entry_next(db, policy);

	/* The list of a damaged file may lead to a policy that has gone, or back. */
	if (!next || next == policy || next->state != CYGNET_SLOT_LIVE)
		return;
	chain_add(db, chain, next);
	spd_changed(db, SCOPE_NONE);
}

bool entry_remove(struct cygnet_db *db, const struct entry *entry, struct cygnet_policy *policy)
{
	if (entry->first && entry->first != policy) {
		users_remove(db, entry->first, policy);
		spd_changed(db, scope_of_user(db, policy));
		return is_searched(policy);
	}
	promote_next(db, entry->place.chain, policy);
	if (entry->link)
		chain_remove(db, entry->link, policy);
	spd_changed(db, scope_of_selector(db, policy->dir, &policy->sel));
	return true;
}

enum { UNSEEN, IN_ENTRY, USER };

static void mark_users(struct cygnet_db *db, uint8_t *mark, const struct cygnet_policy *policy)
{
	while ((policy = entry_next(db, policy)) && !mark[cygnet_policy_index(db, policy)])
		mark[cygnet_policy_index(db, policy)] = USER;
}

static void repair_chain(struct cygnet_db *db, uint8_t *mark, uint32_t *link)
{
	struct cygnet_policy *policy;

	while ((policy = chain_follow(db, link)) &&
	       mark[cygnet_policy_index(db, policy)] != IN_ENTRY) {
		uint8_t *marked = &mark[cygnet_policy_index(db, policy)];

		if (*marked == USER)
			store_release(link, load_relaxed(&policy->next));
		else
			link = &policy->next;
		*marked = IN_ENTRY;
	}
}

void entry_repair(struct cygnet_db *db, uint8_t *mark)
{
	for (uint32_t b = 0; b <= db->policy_mask; b++) {
		struct cygnet_policy *policy = chain_follow(db, &db->policy_table[b]);
		uint32_t left = db->geometry.policies;

		for (; policy && left--; policy = chain_follow(db, &policy->next))
			mark_users(db, mark, policy);
	}
	for (uint32_t b = 0; b <= db->policy_mask; b++)
		repair_chain(db, mark, &db->policy_table[b]);
}
