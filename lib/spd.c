/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking policies up. */
#include "chain.h"
#include "entry.h"
#include "place.h"
#include "pool.h"
#include "sad.h"
#include "scope.h"
#include "selector.h"
#include "spd.h"

EXPORT bool cygnet_policy_wins(const struct cygnet_policy *policy,
			       const struct cygnet_policy *other)
{
	if (!other)
		return true;
	if (policy->priority != other->priority)
		return policy->priority < other->priority;
	return policy->rank != other->rank ? policy->rank < other->rank
					   : policy->order > other->order;
}

/* A lookup. */
struct lookup {
	enum cygnet_dir dir;
	const struct cygnet_flow *flow;
	const struct cygnet_addr *peer, *local; /* the sides of the flow */
	uint32_t if_id;
	uint32_t left; /* policies that it may visit; 0: the file is damaged, and chains may be loops */
};

/* Chains are sorted by cygnet_policy_wins(), so that the first match of a chain is its best.
 * @param best  a policy that matches, or NULL
 * @return      a policy of the chain that matches and wins against best, otherwise best */
static struct cygnet_policy *search_chain(struct cygnet_db *db, struct lookup *lookup,
					  const uint32_t *ref, struct cygnet_policy *best)
{
	struct cygnet_policy *policy = chain_follow(db, ref);

	for (; policy && lookup->left && cygnet_policy_wins(policy, best);
	     policy = chain_follow(db, &policy->next)) {
		lookup->left--;
		if (policy->dir == lookup->dir && selector_matches(&policy->sel, lookup->flow))
			return policy;
	}
	return best;
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
 * A try fails only if a writer changes something meanwhile. The limit is for a damaged
 * file, whose count may change all the time, and for lookups that a peer with thousands of selectors
 * for the flow has made longer than the time between changes. Then no policy is known, and the packet is dropped.
 */
#define LOOKUP_TRIES 64

/* The policy of a lookup that has failed. Not in the file; lcores write its use_time. */
static struct cygnet_policy unknown = {
	.state = CYGNET_SLOT_LIVE,
	.generation = 1,
	.action = CYGNET_DISCARD,
	.sa = CYGNET_POLICY_HELD,
	.refs = 1,
};

static uint64_t lookup_start(struct cygnet_db *db)
{
	return load_acquire(&db->header->spd_changes);
}

static bool lookup_torn(struct cygnet_db *db, uint64_t start)
{
	read_barrier();
	return load_relaxed(&db->header->spd_changes) != start;
}

/* Probe the first places one by one, because a match can save the other probes, and later ones in growing groups
 * that are fetched into the cache together. */
#define PROBES 16u

static unsigned int next_group(unsigned int group)
{
	return group < PROBES ? group * 2 : PROBES;
}

static bool may_win(uint32_t lower_bound, const struct cygnet_policy *best)
{
	return !best || lower_bound <= best->priority;
}

/* Prefetch all chains first, so that their cache misses overlap. */
static void prefetch_chains(struct cygnet_db *db, uint32_t *const *chain, unsigned int n)
{
	if (n < 2)
		return;
	for (unsigned int i = 0; i < n; i++)
		__builtin_prefetch(chain[i]);
	for (unsigned int i = 0; i < n; i++) {
		const struct cygnet_policy *first = chain_follow(db, chain[i]);

		if (!first)
			continue;
		__builtin_prefetch(first);
		__builtin_prefetch(&first->priority);
	}
}

/* Search the chains of a peer_net. */
static struct cygnet_policy *search_net(struct cygnet_db *db, struct lookup *lookup,
					uint64_t peer_hash, struct cygnet_policy *best)
{
	const struct peer_net *net = place_net(db, peer_hash);
	struct lengths left;
	bool more = true;

	if (!load_acquire(&net->policies) || !(load_relaxed(&net->marks) & place_mark(peer_hash)))
		return best;
	left = lengths_copy(&net->local);
	for (unsigned int group = 1; more; group = next_group(group)) {
		uint32_t *chain[PROBES];
		unsigned int n = 0, bits;

		while (n < group && (more = lengths_take(&left, &bits)))
			chain[n++] = place_chain(db, peer_hash, lookup->flow->af, lookup->local,
						 bits);
		prefetch_chains(db, chain, n);
		for (unsigned int i = 0; i < n; i++)
			best = search_chain(db, lookup, chain[i], best);
	}
	return best;
}

/* @return the next prefix length of the peer's side that may have a better policy, or -1 */
static int next_length(const struct spd_list *list, struct lengths *left,
		       const struct cygnet_policy *best)
{
	unsigned int bits;

	while (lengths_take(left, &bits))
		if (may_win(load_relaxed(&list->length[bits].best), best))
			return (int)bits;
	return -1;
}

/* Where a prefix of the peer's side leads. */
struct probe {
	uint64_t hash;
	uint32_t *chain; /* the only one for the flow; NULL: ask the peer_net */
};

static struct probe start_probe(struct cygnet_db *db, const struct spd_list *list,
				const struct lookup *lookup, unsigned int bits)
{
	uint32_t local = load_acquire(&list->length[bits].local);
	struct probe probe = {
		.hash = place_peer_hash(db, lookup->dir, lookup->if_id, lookup->flow->af,
					lookup->peer, bits),
	};

	if (local) {
		probe.chain = place_chain(db, probe.hash, lookup->flow->af, lookup->local,
					  (local - 1) % LENGTHS);
		__builtin_prefetch(probe.chain);
	} else {
		__builtin_prefetch(place_net(db, probe.hash));
	}
	return probe;
}

static struct cygnet_policy *search(struct cygnet_db *db, struct lookup *lookup)
{
	const struct spd_list *list = place_list(db, lookup->dir, lookup->flow->af);
	struct lengths left = lengths_copy(&list->peer);
	struct cygnet_policy *best = NULL;
	int bits = 0;

	for (unsigned int group = 1; bits >= 0; group = next_group(group)) {
		struct probe probe[PROBES];
		unsigned int n = 0;

		while (n < group && (bits = next_length(list, &left, best)) >= 0)
			probe[n++] = start_probe(db, list, lookup, (unsigned int)bits);
		for (unsigned int i = 0; i < n; i++)
			best = probe[i].chain ? search_chain(db, lookup, probe[i].chain, best)
					      : search_net(db, lookup, probe[i].hash, best);
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
	struct lookup lookup = {
		dir,
		flow,
		.peer = dir == CYGNET_OUT ? &flow->dst : &flow->src,
		.local = dir == CYGNET_OUT ? &flow->src : &flow->dst,
		.if_id = flow->by_if_id ? flow->interface : 0,
	};
	struct cygnet_policy *best;
	int left = LOOKUP_TRIES;
	uint64_t start;

	do {
		start = lookup_start(db);
		/* Twice, because some chains share a bucket. */
		lookup.left = 2 * db->geometry.policies;
		best = search(db, &lookup);
		if (!lookup_torn(db, start) && lookup.left)
			return best;
	} while (--left && lookup.left);
	return &unknown;
}

EXPORT bool cygnet_spd_uses_ports(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af)
{
	return load_acquire(&place_list(db, dir, af)->by_ports);
}

EXPORT bool cygnet_spd_uses_protocols(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af)
{
	return cygnet_spd_uses_ports(db, dir, af) ||
	       load_acquire(&place_list(db, dir, af)->by_protocol);
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

/* Policies of an entry that a search for an SA visits at most: a peer can have any number of them. */
#define SIBLINGS_MOST 256u
/* Tries of a search. One that fails has missed an SA at most, and its result ends with the change that it has seen. */
#define SEARCH_TRIES 4

static bool ranks_equal(const struct cygnet_policy *policy, const struct cygnet_policy *other)
{
	return policy->priority == other->priority && policy->rank == other->rank;
}

/* Whether a policy of an entry has an SA for the same packets between the same hosts as another one. */
static bool is_sibling(const struct cygnet_policy *policy, const struct cygnet_policy *other)
{
	return cygnet_policy_per_cpu(policy) && policy->action == other->action &&
	       load_relaxed(&policy->reqid) == load_relaxed(&other->reqid) &&
	       policy->proto == other->proto && policy->mode == other->mode &&
	       policy->af == other->af && addr_equal(&policy->src, &other->src) &&
	       addr_equal(&policy->dst, &other->dst);
}

/* The newest SAs for a worker, for all workers, and for another worker. */
struct found {
	struct cygnet_sa *own, *fallback, *other;
};

static void note_sa(struct found *found, struct cygnet_sa *sa, uint32_t worker, uint32_t workers)
{
	int cpu = cygnet_sa_cpu(sa);
	bool own = cpu != CYGNET_CPU_ANY && (uint32_t)cpu % workers == worker;
	struct cygnet_sa **kind = own			  ? &found->own
				  : cpu == CYGNET_CPU_ANY ? &found->fallback
							  : &found->other;

	if (!*kind)
		*kind = sa;
}

static struct found search_sas(struct cygnet_db *db, const struct cygnet_policy *first,
			       uint32_t worker, uint32_t workers)
{
	uint32_t most = db->geometry.policies, left = most < SIBLINGS_MOST ? most : SIBLINGS_MOST;
	const struct cygnet_policy *policy = first;
	struct found found = {0};

	for (; policy && left-- && ranks_equal(policy, first); policy = entry_next(db, policy)) {
		struct cygnet_sa *sa = is_sibling(policy, first) ? cygnet_policy_sa(db, policy)
								 : NULL;

		if (sa)
			note_sa(&found, sa, worker, workers);
		if (found.own)
			break;
	}
	return found;
}

static int what_is_missing(const struct found *found, uint32_t worker)
{
	if (found->own || worker == CYGNET_NONE)
		return CYGNET_WANTS_NOTHING;
	if (found->fallback)
		return (int)worker;
	return found->other ? CYGNET_CPU_ANY : CYGNET_WANTS_NOTHING;
}

EXPORT struct cygnet_sa *cygnet_policy_sa_for(struct cygnet_db *db,
					      const struct cygnet_policy *policy, uint32_t worker,
					      uint32_t workers, int *wants)
{
	int left = SEARCH_TRIES;
	struct found found;
	uint64_t start;

	*wants = CYGNET_WANTS_NOTHING;
	if (!cygnet_policy_per_cpu(policy))
		return cygnet_policy_sa(db, policy);
	do {
		start = lookup_start(db);
		found = search_sas(db, policy, worker, workers);
	} while (lookup_torn(db, start) && --left);
	*wants = what_is_missing(&found, worker);
	if (found.own)
		return found.own;
	return found.fallback ? found.fallback : found.other;
}

void spd_forget(struct cygnet_db *db)
{
	for (uint32_t b = 0; b <= db->policy_mask; b++)
		if (load_relaxed(&db->policy_table[b]))
			store_release(&db->policy_table[b], 0);
	place_forget_all(db);
	spd_changed(db, CYGNET_SCOPE_ALL);
}

EXPORT bool cygnet_spd_unused(const struct cygnet_db *db)
{
	return !load_relaxed(&db->header->order);
}

EXPORT uint32_t cygnet_policy_index(const struct cygnet_db *db, const struct cygnet_policy *policy)
{
	bool in_file = policy >= db->policies && policy < db->policies + db->geometry.policies;

	return in_file ? (uint32_t)(policy - db->policies) : CYGNET_NONE;
}

EXPORT bool cygnet_policy_snapshot(struct cygnet_db *db, uint32_t index, struct cygnet_policy *copy)
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
