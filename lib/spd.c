/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking policies up. */
#include "chain.h"
#include "pool.h"
#include "scope.h"
#include "selector.h"
#include "spd.h"
#include "tuple_list.h"

uint32_t *spd_bucket(struct cygnet_db *db, const struct cygnet_policy *policy)
{
	return chain_of(db, &tuple_list(db, policy->dir, policy->sel.af)->tuple[policy->tuple],
			&policy->sel);
}

bool spd_wins(const struct cygnet_policy *a, const struct cygnet_policy *b)
{
	if (!b)
		return true;
	if (a->priority != b->priority)
		return a->priority < b->priority;
	return a->rank != b->rank ? a->rank < b->rank : a->order > b->order;
}

/* Chains are sorted by spd_wins(), so that the first match of a chain is its best. */
static struct cygnet_policy *search_chain(struct cygnet_db *db, const uint32_t *ref,
					  enum cygnet_dir dir, const struct cygnet_flow *flow)
{
	struct cygnet_policy *policy = chain_follow(db, ref);
	uint32_t left = db->geometry.policies; /* a damaged chain may be a loop */

	for (; policy && left--; policy = chain_follow(db, &policy->next))
		if (policy->dir == dir && selector_matches(&policy->sel, flow))
			return policy;
	return NULL;
}

void spd_changed(struct cygnet_db *db, uint16_t scope)
{
	uint64_t *changes = &db->header->spd_changes;

	scope_log(db, scope);
	/* A reader that sees any part of the next change must see this count. */
	store_release(changes, load_relaxed(changes) + 1);
	full_barrier();
}

/*
 * A lookup must see one consistent state of the SPD. A single change during a lookup
 * does no harm: the lookup sees the state before or after it. If an insertion
 * and then a deletion happen, a lookup could miss both policies: the new one in a chain
 * that it has searched already, and then the deleted one. So a lookup is repeated if the count
 * of changes differs after it. The count has no value for "change in progress", so a
 * lookup never waits for a writer.
 *
 * A try fails only if a writer completes a call meanwhile. The limit is for a damaged
 * file, whose count may change all the time.
 */
#define LOOKUP_TRIES 1000

static uint64_t lookup_start(struct cygnet_db *db)
{
	return load_acquire(&db->header->spd_changes);
}

static bool lookup_torn(struct cygnet_db *db, uint64_t start)
{
	read_barrier();
	return load_relaxed(&db->header->spd_changes) != start;
}

/* Largest number of chains that are fetched into the cache together. */
#define PROBES 16u

struct probes {
	const uint32_t *chain[PROBES];
	uint32_t n;
};

/* Collect the chains of the next tuples that may have a better policy, at most max.
 * @return index of the tuple after them */
static uint32_t collect(struct cygnet_db *db, const struct tuple_list *list, uint32_t i,
			uint32_t count, uint32_t max, const struct cygnet_flow *flow,
			const struct cygnet_policy *best, struct probes *probes)
{
	for (probes->n = 0; i < count && probes->n < max; i++) {
		const struct tuple *tuple = &list->tuple[i];

		if (!load_acquire(&tuple->policies) ||
		    (best && load_relaxed(&tuple->best) > best->priority))
			continue;
		probes->chain[probes->n++] = chain_of_flow(db, load_acquire(&tuple->key), flow);
	}
	return i;
}

/* Prefetch all chains first, so that their cache misses overlap. */
static void prefetch(struct cygnet_db *db, const struct probes *probes)
{
	for (uint32_t i = 0; i < probes->n; i++)
		__builtin_prefetch(probes->chain[i]);
	for (uint32_t i = 0; i < probes->n; i++) {
		const struct cygnet_policy *first = chain_follow(db, probes->chain[i]);

		if (!first)
			continue;
		__builtin_prefetch(first);
		__builtin_prefetch(&first->priority);
	}
}

/* Probe the first tuples one by one, because a match can save the other probes, and later tuples in growing
 * groups. */
static struct cygnet_policy *search_tuples(struct cygnet_db *db, enum cygnet_dir dir,
					   const struct cygnet_flow *flow)
{
	struct tuple_list *list = tuple_list(db, dir, flow->af);
	uint32_t count = tuple_count(list), i = 0;
	struct cygnet_policy *best = NULL;

	for (uint32_t max = 1; i < count; max = max < PROBES ? max * 2 : PROBES) {
		struct probes probes;

		i = collect(db, list, i, count, max, flow, best, &probes);
		if (probes.n > 1)
			prefetch(db, &probes);
		for (uint32_t k = 0; k < probes.n; k++) {
			struct cygnet_policy *policy = search_chain(db, probes.chain[k], dir, flow);

			if (policy && spd_wins(policy, best))
				best = policy;
		}
	}
	return best;
}

EXPORT uint64_t cygnet_spd_changes(struct cygnet_db *db)
{
	return lookup_start(db);
}

EXPORT struct cygnet_policy *cygnet_spd_lookup(struct cygnet_db *db, enum cygnet_dir dir,
					       const struct cygnet_flow *flow)
{
	struct cygnet_policy *best;
	int left = LOOKUP_TRIES;
	uint64_t start;

	do {
		start = lookup_start(db);
		best = search_tuples(db, dir, flow);
	} while (lookup_torn(db, start) && --left);
	return best;
}

/* Whether a policy selects by ports or, if protocols is set, by protocol. */
static bool any_tuple_uses(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af, bool protocols)
{
	const struct tuple_list *list = tuple_list(db, dir, af);
	uint32_t count = tuple_count(list);

	for (uint32_t i = 0; i < count; i++) {
		struct tuple_key key = tuple_unpack(load_acquire(&list->tuple[i].key));

		if (load_acquire(&list->tuple[i].policies) &&
		    (key.sport || key.dport || (protocols && key.proto)))
			return true;
	}
	return false;
}

static bool any_policy_uses(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af, bool protocols)
{
	int left = LOOKUP_TRIES;
	uint64_t start;
	bool any;

	do {
		start = lookup_start(db);
		any = any_tuple_uses(db, dir, af, protocols);
	} while (lookup_torn(db, start) && --left);
	return any;
}

EXPORT bool cygnet_spd_uses_ports(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af)
{
	return any_policy_uses(db, dir, af, false);
}

EXPORT bool cygnet_spd_uses_protocols(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af)
{
	return any_policy_uses(db, dir, af, true);
}

EXPORT bool cygnet_spd_binds(struct cygnet_db *db)
{
	return load_acquire(&db->header->spd_binds);
}

/* Both counters only grow, so a change of either changes their sum. */
EXPORT uint64_t cygnet_db_changes(struct cygnet_db *db)
{
	return cygnet_spd_changes(db) + load_acquire(&db->header->epoch);
}

EXPORT struct cygnet_sa *cygnet_policy_sa(struct cygnet_db *db, const struct cygnet_policy *policy)
{
	uint64_t ref = load_acquire(&policy->sa);
	struct cygnet_sa *sa = cygnet_sa_get(db, (uint32_t)ref, (uint32_t)(ref >> 32));

	return sa && !(sa->flags & CYGNET_SA_INBOUND) ? sa : NULL;
}

void spd_mark(struct cygnet_db *db, uint8_t *mark)
{
	for (uint32_t b = 0; b <= db->policy_mask; b++) {
		struct cygnet_policy *policy = chain_follow(db, &db->policy_table[b]);

		for (; policy && !mark[cygnet_policy_index(db, policy)];
		     policy = chain_follow(db, &policy->next))
			mark[cygnet_policy_index(db, policy)] = 1;
	}
}

/* Count first and then store, because readers run meanwhile: they must never see a count of 0 in
 * a tuple that has policies. */
void spd_rebuild_tuples(struct cygnet_db *db, uint32_t (*counts)[LAYOUT_TUPLES])
{
	struct tuple_list *lists = db->header->tuples;
	uint32_t fresh = pool_fresh(&db->header->policy_pool, db->geometry.policies);

	for (uint32_t i = 0; i < fresh; i++) {
		const struct cygnet_policy *p = &db->policies[i];

		if (p->state == CYGNET_SLOT_LIVE && p->dir < CYGNET_DIRS &&
		    p->tuple < LAYOUT_TUPLES)
			counts[tuple_list(db, p->dir, p->sel.af) - lists][p->tuple]++;
	}
	for (unsigned int l = 0; l < LAYOUT_TUPLE_LISTS; l++)
		for (uint32_t t = 0; t < tuple_count(&lists[l]); t++)
			store_release(&lists[l].tuple[t].policies, counts[l][t]);
}

void spd_forget(struct cygnet_db *db)
{
	struct tuple_list *lists = db->header->tuples;

	for (uint32_t b = 0; b <= db->policy_mask; b++)
		if (load_relaxed(&db->policy_table[b]))
			store_release(&db->policy_table[b], 0);
	for (unsigned int l = 0; l < LAYOUT_TUPLE_LISTS; l++)
		tuple_list_forget(&lists[l]);
	spd_changed(db, CYGNET_SCOPE_ALL);
}

EXPORT bool cygnet_spd_unused(const struct cygnet_db *db)
{
	return !load_relaxed(&db->header->order);
}

EXPORT uint32_t cygnet_policy_index(const struct cygnet_db *db, const struct cygnet_policy *policy)
{
	return (uint32_t)(policy - db->policies);
}

EXPORT bool cygnet_policy_snapshot(struct cygnet_db *db, uint32_t index,
				   struct cygnet_policy *copy)
{
	const struct cygnet_policy *policy;
	uint32_t generation;

	if (index >= db->geometry.policies)
		return false;
	policy = &db->policies[index];
	generation = load_acquire(&policy->generation);
	if (load_acquire(&policy->state) != CYGNET_SLOT_LIVE)
		return false;
	memcpy(copy, policy, sizeof(*copy));
	read_barrier();
	return load_relaxed(&policy->generation) == generation &&
	       load_relaxed(&policy->state) == CYGNET_SLOT_LIVE;
}
