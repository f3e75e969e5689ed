/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>

#include "hold.h"
#include "lock.h"
#include "pool.h"
#include "sad.h"
#include "scope.h"
#include "selector.h"
#include "spd.h"
#include "tuple.h"

static struct cygnet_policy *follow(struct cygnet_db *db, const uint32_t *ref)
{
	uint32_t index = ref_index(load_acquire(ref), db->geometry.policies);

	return index == CYGNET_NONE ? NULL : &db->policies[index];
}

static uint32_t policy_index(const struct cygnet_db *db, const struct cygnet_policy *policy)
{
	return (uint32_t)(policy - db->policies);
}

static uint32_t *bucket(struct cygnet_db *db, uint64_t key, const struct cygnet_flow *flow)
{
	return &db->policy_table[tuple_hash(db->seed, key, flow) & db->policy_mask];
}

/* The chain that a selector's policies of a tuple are in. */
static uint32_t *chain(struct cygnet_db *db, const struct tuple *tuple,
		       const struct cygnet_selector *sel)
{
	struct cygnet_flow example = tuple_example(sel);

	return bucket(db, tuple->key, &example);
}

uint32_t *spd_bucket(struct cygnet_db *db, const struct cygnet_policy *policy)
{
	return chain(db, &tuple_list(db, policy->dir, policy->sel.af)->tuple[policy->tuple],
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
	struct cygnet_policy *policy = follow(db, ref);
	uint32_t left = db->geometry.policies; /* a damaged chain may be a loop */

	for (; policy && left--; policy = follow(db, &policy->next))
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
 * does no harm: the lookup sees the state before or after it. Of two changes, an
 * insertion and then a deletion, a lookup could miss the new policy, inserted into a
 * chain that it had searched already, and then the old one. So a lookup is repeated
 * if the count of changes differs after it. The count has no value for "change in
 * progress", so a lookup never waits for a writer.
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
		probes->chain[probes->n++] = bucket(db, load_acquire(&tuple->key), flow);
	}
	return i;
}

/* Cache misses of different chains overlap if all are asked for first. */
static void prefetch(struct cygnet_db *db, const struct probes *probes)
{
	for (uint32_t i = 0; i < probes->n; i++)
		__builtin_prefetch(probes->chain[i]);
	for (uint32_t i = 0; i < probes->n; i++) {
		const struct cygnet_policy *first = follow(db, probes->chain[i]);

		if (!first)
			continue;
		__builtin_prefetch(first);
		__builtin_prefetch(&first->priority);
	}
}

/* With few tuples one after the other, so that a match spares the rest; with many together. */
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

static bool params_valid(const struct cygnet_policy_params *p)
{
	return p->dir < CYGNET_DIRS && p->action <= CYGNET_DISCARD && selector_valid(&p->sel) &&
	       (p->action != CYGNET_PROTECT ||
		p->proto == IPPROTO_ESP || p->proto == IPPROTO_AH);
}

/* Whether all fields that identify a policy are equal, but for its end points. A held policy matches no parameters. */
static bool same_policy(const struct cygnet_policy *policy, const struct cygnet_policy_params *p)
{
	return !cygnet_policy_held(policy) && policy->dir == p->dir && policy->action == p->action &&
	       policy->priority == p->priority && policy->rank == p->rank &&
	       policy->reqid == p->reqid &&
	       policy->spi == p->spi && policy->proto == p->proto && policy->mode == p->mode &&
	       selector_equal(&policy->sel, &p->sel);
}

/* Inbound, the policies of two peers can differ in their end points alone. The SA of an outbound one is
 * found anew with each install. */
static bool same_ends(const struct cygnet_policy *policy, const struct cygnet_policy_params *p)
{
	return p->dir == CYGNET_OUT ||
	       (policy->af == p->af && !memcmp(&policy->src, &p->src, sizeof(p->src)) &&
		!memcmp(&policy->dst, &p->dst, sizeof(p->dst)));
}

/* The next tuple that may hold policies with a selector. @param after  NULL: the first one */
static struct tuple *next_tuple(struct tuple_list *list, struct tuple_key own, struct tuple *after)
{
	struct tuple *end = list->tuple + tuple_count(list);

	for (struct tuple *tuple = after ? after + 1 : list->tuple; tuple < end; tuple++)
		if (tuple->policies && tuple_may_hold(tuple_unpack(tuple->key), own))
			return tuple;
	return NULL;
}

static struct cygnet_policy *find_in_chain(struct cygnet_db *db, const uint32_t *ref,
					   const struct cygnet_policy_params *p,
					   struct cygnet_policy **moved)
{
	struct cygnet_policy *policy = follow(db, ref);
	uint32_t left = db->geometry.policies;

	for (; policy && left--; policy = follow(db, &policy->next)) {
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

	while (!policy && (tuple = next_tuple(list, own, tuple)))
		policy = find_in_chain(db, chain(db, tuple, &p->sel), p, moved);
	return policy;
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
	const struct cygnet_policy *policy = follow(db, chain(db, tuple, sel));
	uint32_t left = db->geometry.policies, n = 0;
	uint32_t index = (uint32_t)(tuple - list->tuple);
	uint8_t dir = tuple_unpack(tuple->key).dir;

	for (; policy && left--; policy = follow(db, &policy->next))
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

/* The tuple for a new policy, see tuple.h.
 * @return NULL if too many policies overlap */
static struct tuple *choose_tuple(struct cygnet_db *db, const struct cygnet_policy_params *p)
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
	/* The held policy goes when the new one is there. */
	held = spd_find_held(db, p->dir, &p->sel);
	return held && held->tuple < LAYOUT_TUPLES ? &list->tuple[held->tuple] : NULL;
}

/* Called before the policy is in its chain: a lookup may probe a tuple in vain, but must not
 * skip one that has a match. */
static void enter_tuple(struct tuple *tuple, uint32_t priority)
{
	if (!tuple->policies || priority < tuple->best)
		store_relaxed(&tuple->best, priority);
	store_release(&tuple->policies, tuple->policies + 1);
}

/* Lookups need not visit emptied tuples at the end of a list. */
static void leave_tuple(struct cygnet_db *db, const struct cygnet_policy *policy)
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

static void publish(struct cygnet_db *db, struct cygnet_policy *policy)
{
	uint32_t *at = spd_bucket(db, policy);
	uint32_t left = db->geometry.policies;
	struct cygnet_policy *other;

	for (other = follow(db, at); other && left-- && !spd_wins(policy, other);
	     other = follow(db, at))
		at = &other->next;
	store_relaxed(&policy->next, load_relaxed(at));
	store_release(at, policy_index(db, policy) + 1);
}

static void unpublish(struct cygnet_db *db, struct cygnet_policy *policy)
{
	uint32_t ref = policy_index(db, policy) + 1;
	uint32_t left = db->geometry.policies;
	uint32_t *at;

	if (policy->tuple >= LAYOUT_TUPLES)
		return;
	at = spd_bucket(db, policy);
	while (load_relaxed(at) != ref) {
		struct cygnet_policy *other = follow(db, at);

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

/* Whether all that a policy matches is matched by one before it in its chain, which applies instead: no lookup
 * finds it, as that of an SA that has been rekeyed. */
static bool is_shadowed(struct cygnet_db *db, const struct cygnet_policy *policy)
{
	uint32_t left = db->geometry.policies;
	const struct cygnet_policy *other;

	if (policy->tuple >= LAYOUT_TUPLES)
		return false;
	other = follow(db, spd_bucket(db, policy));
	for (; other && other != policy && left--; other = follow(db, &other->next))
		if (other->dir == policy->dir && selector_equal(&other->sel, &policy->sel))
			return true;
	return false;
}

/* What adding, deleting or changing a policy in its chain concerns. */
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
	tuple = choose_tuple(db, p);
	if (!tuple) {
		pool_give_back(&slots, index);
		return -EMLINK;
	}
	policy = &db->policies[index];
	fill(db, policy, p, sa);
	policy->tuple = (uint32_t)(tuple - tuple_list(db, p->dir, p->sel.af)->tuple);
	if (p->sel.interface)
		store_relaxed(&db->header->spd_binds, 1); /* publish() releases it */
	enter_tuple(tuple, p->priority);
	pool_use(&slots, index, CYGNET_SLOT_LIVE);
	publish(db, policy);
	spd_changed(db, scope_of(db, policy));
	*added = policy;
	return 0;
}

/* With the SA that it has already, nothing changes. */
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
	/* Remove the held policy last, so that lookups always find one of the two. */
	if (!err)
		hold_replace(db, policy);
	return err;
}

/* @param held  only a held policy will do
 * @return the first policy with a direction and selector, or NULL */
static struct cygnet_policy *find_selector(struct cygnet_db *db, enum cygnet_dir dir,
					   const struct cygnet_selector *sel, bool held)
{
	struct tuple_list *list = tuple_list(db, dir, sel->af);
	struct tuple_key own = tuple_of(dir, sel);
	struct tuple *tuple = NULL;

	while ((tuple = next_tuple(list, own, tuple))) {
		struct cygnet_policy *policy = follow(db, chain(db, tuple, sel));
		uint32_t left = db->geometry.policies;

		for (; policy && left--; policy = follow(db, &policy->next))
			if (policy->dir == dir && selector_equal(&policy->sel, sel) &&
			    (!held || cygnet_policy_held(policy)))
				return policy;
	}
	return NULL;
}

struct cygnet_policy *spd_find_held(struct cygnet_db *db, enum cygnet_dir dir,
				    const struct cygnet_selector *sel)
{
	return find_selector(db, dir, sel, true);
}

int spd_add_held(struct cygnet_db *db, const struct cygnet_policy_params *p)
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

void spd_remove(struct cygnet_db *db, struct cygnet_policy *policy)
{
	uint16_t scope = scope_of(db, policy);
	struct slots slots = pool_policies(db);

	unpublish(db, policy);
	leave_tuple(db, policy);
	spd_changed(db, scope);
	pool_retire(db, &slots, policy_index(db, policy), scope);
	pool_reclaim(db, &slots, 4);
}

static void delete_locked(struct cygnet_db *db, struct cygnet_policy *policy)
{
	if (policy->refs > 1)
		policy->refs--;
	else
		spd_remove(db, policy);
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
	while ((tuple = next_tuple(list, tuple_of(dir, sel), tuple))) {
		struct cygnet_policy *policy = follow(db, chain(db, tuple, sel));
		uint32_t left = db->geometry.policies;

		for (; policy && left--; policy = follow(db, &policy->next)) {
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

void spd_mark(struct cygnet_db *db, uint8_t *mark)
{
	for (uint32_t b = 0; b <= db->policy_mask; b++) {
		struct cygnet_policy *policy = follow(db, &db->policy_table[b]);

		for (; policy && !mark[policy_index(db, policy)];
		     policy = follow(db, &policy->next))
			mark[policy_index(db, policy)] = 1;
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

/* The count last: a tuple beyond it has no policies. */
static void forget_tuples(struct tuple_list *list)
{
	for (uint32_t t = 0; t < tuple_count(list); t++)
		store_release(&list->tuple[t].policies, 0);
	store_release(&list->count, 0);
}

void spd_forget(struct cygnet_db *db)
{
	struct tuple_list *lists = db->header->tuples;

	for (uint32_t b = 0; b <= db->policy_mask; b++)
		if (load_relaxed(&db->policy_table[b]))
			store_release(&db->policy_table[b], 0);
	for (unsigned int l = 0; l < LAYOUT_TUPLE_LISTS; l++)
		forget_tuples(&lists[l]);
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
