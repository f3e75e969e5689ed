/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "barrier.h"
#include "chain.h"
#include "policy.h"
#include "tuple_list.h"

struct tuple *tuple_list_next(struct tuple_list *list, struct tuple_key own, struct tuple *after)
{
	struct tuple *end = list->tuple + tuple_count(list);

	for (struct tuple *tuple = after ? after + 1 : list->tuple; tuple < end; tuple++)
		if (tuple->policies && tuple_may_hold(tuple_unpack(tuple->key), own))
			return tuple;
	return NULL;
}

/* @return the tuple of a key if it has policies, otherwise NULL */
static struct tuple *find_tuple(struct tuple_list *list, uint64_t key)
{
	uint32_t count = tuple_count(list);

	for (uint32_t i = 0; i < count; i++)
		if (list->tuple[i].policies && list->tuple[i].key == key)
			return &list->tuple[i];
	return NULL;
}

/* Give an emptied or unused tuple a key. A reader that still sees the old key of an emptied tuple
 * finds no policy with it.
 * @return NULL if all tuples are in use */
static struct tuple *take_tuple(struct tuple_list *list, uint64_t key)
{
	uint32_t count = tuple_count(list), i = 0;
	struct tuple *spare;

	while (i < count && list->tuple[i].policies)
		i++;
	if (i == LAYOUT_TUPLES)
		return NULL;
	spare = &list->tuple[i];
	if (i == count) {
		store_relaxed(&spare->policies, 0);
		store_release(&list->count, count + 1);
	}
	store_release(&spare->key, key);
	return spare;
}

/* Whether a list may have one more tuple with a key of its own. */
static bool may_have_exact(const struct tuple_list *list)
{
	uint32_t count = tuple_count(list), exact = 0;

	for (uint32_t i = 0; i < count; i++)
		if (list->tuple[i].policies && !tuple_is_merged(tuple_unpack(list->tuple[i].key)))
			exact++;
	return exact < TUPLE_EXACT;
}

/* Whether the chain of a tuple has room for one more policy with a selector. */
static bool has_room(struct cygnet_db *db, const struct tuple_list *list,
		     const struct tuple *tuple, const struct cygnet_selector *sel)
{
	const struct cygnet_policy *policy = chain_follow(db, chain_of(db, tuple, sel));
	uint32_t left = db->geometry.policies, n = 0;
	uint32_t index = (uint32_t)(tuple - list->tuple);
	uint8_t dir = tuple_unpack(tuple->key).dir;

	for (; policy && left--; policy = chain_follow(db, &policy->next))
		/* Policies of other tuples are in the chain by chance: peers do not know the seed. */
		if (policy->tuple == index && policy->sel.af == sel->af && policy->dir == dir)
			n++;
	return n < TUPLE_CHAIN;
}

/* @param first  the finest merged key that may hold a policy
 * @return       the key after the last one that it may be put into */
static unsigned int last_merged(unsigned int first)
{
	unsigned int last = (first / TUPLE_NEAR + TUPLE_COARSER + 1) * TUPLE_NEAR;

	return last < TUPLE_MERGED ? last : TUPLE_MERGED;
}

struct tuple *tuple_list_choose(struct cygnet_db *db, const struct cygnet_policy_params *p)
{
	struct tuple_list *list = tuple_list(db, p->dir, p->sel.af);
	struct tuple_key own = tuple_of(p->dir, &p->sel);
	struct tuple *tuple = find_tuple(list, tuple_pack(own));
	unsigned int last = TUPLE_MERGED;
	const struct cygnet_policy *held;

	if (tuple && has_room(db, list, tuple, &p->sel))
		return tuple;
	if (!tuple && (tuple_is_merged(own) || may_have_exact(list)))
		return take_tuple(list, tuple_pack(own));
	for (unsigned int i = 0; i < last; i++) {
		struct tuple_key key = tuple_merged(p->dir, p->sel.af, i);

		if (!tuple_may_hold(key, own))
			continue;
		if (last == TUPLE_MERGED)
			last = last_merged(i);
		tuple = find_tuple(list, tuple_pack(key));
		if (!tuple)
			return take_tuple(list, tuple_pack(key));
		if (has_room(db, list, tuple, &p->sel))
			return tuple;
	}
	/* Use the tuple of the held policy, which is removed after the new one is in place. */
	held = policy_find_held(db, p->dir, &p->sel);
	return held && held->tuple < LAYOUT_TUPLES ? &list->tuple[held->tuple] : NULL;
}

void tuple_list_enter(struct tuple *tuple, uint32_t priority)
{
	if (!tuple->policies || priority < tuple->best)
		store_relaxed(&tuple->best, priority);
	store_release(&tuple->policies, tuple->policies + 1);
}

void tuple_list_leave(struct cygnet_db *db, const struct cygnet_policy *policy)
{
	struct tuple_list *list = tuple_list(db, policy->dir, policy->sel.af);
	uint32_t count = tuple_count(list);

	if (policy->tuple < LAYOUT_TUPLES && list->tuple[policy->tuple].policies)
		store_release(&list->tuple[policy->tuple].policies,
			      list->tuple[policy->tuple].policies - 1);
	while (count && !list->tuple[count - 1].policies)
		count--;
	store_release(&list->count, count);
}

void tuple_list_forget(struct tuple_list *list)
{
	for (uint32_t t = 0; t < tuple_count(list); t++)
		store_release(&list->tuple[t].policies, 0);
	store_release(&list->count, 0);
}
