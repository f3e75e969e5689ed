/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/acquire.h"
#include "base/clock.h"
#include "base/sadb.h"
#include "crypto/device/pool.h"
#include "path/sa_wait.h"
#include "path/to_sa.h"
#include "path/worker/policy.h"
#include "path/worker/trace_note.h"

/* Limit of repeated SPD lookups in one turn of the worker, so that other packets are not delayed. */
#define LOOKUPS_PER_TURN 64u
/* Limit of a pair's packets in buffers for reassembled packets. */
#define LARGE_PER_PAIR 4u

static unsigned int large_of(const struct sa_wait_pair *pair)
{
	unsigned int n = 0;

	for (struct rte_mbuf *m = pair ? pair->head : NULL; m; m = packet(m)->next)
		n += m->pool == packet_pool_large;
	return n;
}

/* There are few buffers for reassembled packets. Packets that wait use at most half of them. */
static bool may_wait(struct sa_wait_list *list, const struct rte_mbuf *m,
		     const struct sa_wait_key *key)
{
	return !packet_pool_large || m->pool != packet_pool_large ||
	       (rte_mempool_avail_count(packet_pool_large) >= packet_pool_large->size / 2 &&
		large_of(sa_wait_find(list, key)) < LARGE_PER_PAIR);
}

/* Raise an acquire for a pair, once a second for all its packets.
 * @param seconds  of acquire_raise(); a pair that has to stand back keeps its turn in this second */
static void acquire(struct worker *w, struct sa_wait_pair *pair, const struct cygnet_policy *policy,
		    const struct cygnet_flow *flow, unsigned int seconds)
{
	if (pair->acquire_second == clock_seconds())
		return;
	if (acquire_raise(policy, flow, seconds))
		sa_wait_acquired(&w->sa_wait, pair);
	else if (seconds > 1)
		return;
	pair->acquire_second = clock_seconds();
}

/* @param changes  cygnet_spd_changes() before the packet was looked up; 0: not known, it will be
 *                 looked up again */
static struct sa_wait_pair *enqueue(struct worker *w, struct rte_mbuf *m,
				    const struct sa_wait_key *key, uint64_t changes)
{
	struct sa_wait_pair *pair = sa_wait_enqueue(&w->sa_wait, w->stats, m, key);

	if (!pair->second) {
		pair->changes = changes;
		pair->second = clock_seconds();
	}
	return pair;
}

void sa_wait_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_policy *policy,
		 const struct cygnet_flow *flow)
{
	struct sa_wait_key key = sa_wait_key(policy, flow);
	struct sa_wait_pair *pair;

	if (unlikely(w->trace != NULL)) {
		trace_wait(w->trace, DROP_NO_SA_IN_TIME, "an SA, which charon is asked for");
		return;
	}
	if (!may_wait(&w->sa_wait, m, &key)) {
		/* The packets behind it may come in one piece, or find an SA. */
		acquire_raise(policy, flow, 1);
		drop(w, m, DROP_NO_SA);
		return;
	}
	packet(m)->until = (uint32_t)clock_seconds() + SA_WAIT_SECONDS;
	w->stats->waited_for_sa++;
	pair = enqueue(w, m, &key, 0);
	/* Further acquires of the reqid are for its other pairs, in the order of the LRU queue. */
	acquire(w, pair, policy, flow, pair->reqid->packets > 1 ? 2 : 1);
}

/* The SA of a packet. If the policy has one for each worker, and this worker has none yet, charon is asked for it. The packet
 * does not wait for that. */
static struct cygnet_sa *sa_for(const struct worker *w, const struct cygnet_policy *policy,
				const struct cygnet_flow *flow)
{
	/* A trace is no worker of those that have SAs. */
	uint32_t id = unlikely(w->trace != NULL) ? CYGNET_NONE : w->id;
	struct cygnet_sa *sa;
	int wants;

	sa = cygnet_policy_sa_for(sadb, policy, id, w->workers, &wants);
	if (likely(!cygnet_policy_per_cpu(policy)) || id == CYGNET_NONE)
		return sa;
	if (wants != CYGNET_WANTS_NOTHING)
		acquire_raise_cpu(policy, flow, wants);
	else if (sa)
		acquire_answered(policy, flow, (int)id);
	return sa;
}

/* Look up the policy again: there may be another one now. */
static void look_up_packet(struct worker *w, struct rte_mbuf *m, uint64_t changes)
{
	struct cygnet_policy *policy;
	struct sa_wait_pair *pair;
	struct sa_wait_key key;
	struct cygnet_flow flow;
	struct cygnet_sa *sa;

	policy_flow(m, &flow);
	policy_flow_out(m, &flow);
	policy = cygnet_spd_lookup(sadb, CYGNET_OUT, &flow);
	if (!policy || policy->action != CYGNET_PROTECT) {
		drop(w, m, DROP_POLICY_GONE);
		return;
	}
	if (cygnet_policy_held(policy)) {
		drop(w, m, DROP_POLICY_HELD);
		return;
	}
	key = sa_wait_key(policy, &flow);
	sa = sa_for(w, policy, &flow);
	pair = sa_wait_find(&w->sa_wait, &key);
	if (sa && (!pair || !pair->n)) {
		to_sa(w, m, sa);
		return;
	}
	if ((uint32_t)clock_seconds() >= packet(m)->until) {
		drop(w, m, DROP_NO_SA_IN_TIME);
		return;
	}
	pair = enqueue(w, m, &key, changes);
	/* With an SA the packet waits only for earlier packets of its pair, to keep the order. */
	if (!sa)
		acquire(w, pair, policy, &flow, 1);
}

static void look_up_pair(struct worker *w, struct sa_wait_pair *pair)
{
	uint64_t changes = cygnet_spd_changes(sadb);
	struct rte_mbuf *m = sa_wait_take(&w->sa_wait, pair), *next;

	pair->changes = changes;
	pair->second = clock_seconds();
	for (; m; m = next) {
		next = packet(m)->next;
		look_up_packet(w, m, changes);
	}
	sa_wait_release(&w->sa_wait, pair);
}

static bool is_looked_up(const struct sa_wait_list *list, const struct sa_wait_pair *pair)
{
	return pair->changes >= list->changes && pair->second >= list->second;
}

/* Continue the pass over the LRU queue, which looks up the packets of each pair once. */
static void look_up_pairs(struct worker *w)
{
	struct sa_wait_list *list = &w->sa_wait;

	for (unsigned int lookups = 0; list->next && lookups < LOOKUPS_PER_TURN;) {
		struct sa_wait_pair *pair = list->next;

		list->next = TAILQ_NEXT(pair, lru);
		if (is_looked_up(list, pair))
			continue;
		lookups += pair->n;
		look_up_pair(w, pair);
	}
}

void sa_wait_retry(struct worker *w)
{
	uint64_t changes = cygnet_spd_changes(sadb), second = clock_seconds();
	struct sa_wait_list *list = &w->sa_wait;

	if (!list->next && list->n && (changes != list->changes || second != list->second)) {
		list->changes = changes;
		list->second = second;
		list->next = TAILQ_FIRST(&list->lru);
	}
	look_up_pairs(w);
}

void sa_wait_drop(struct worker *w)
{
	struct sa_wait_list *list = &w->sa_wait;
	struct rte_mbuf *m, *next;

	while (list->n) {
		struct sa_wait_pair *pair = TAILQ_FIRST(&list->lru);

		for (m = sa_wait_take(list, pair); m; m = next) {
			next = packet(m)->next;
			drop(w, m, DROP_NO_SA);
		}
		sa_wait_release(list, pair);
	}
}

/* Look up earlier packets with these addresses, which may have an SA by now and leave first. There are
 * SA_WAIT_PER_ADDRESSES at the most.
 * @param policy  of a packet that has just come; NULL if it has no SA */
static void look_up_earlier(struct worker *w, const struct cygnet_flow *flow,
			    const struct cygnet_policy *policy)
{
	struct sa_wait_pair *pair = sa_wait_first(&w->sa_wait, flow), *next;
	uint64_t changes = cygnet_spd_changes(sadb);

	for (; pair; pair = next) {
		next = sa_wait_next(pair);
		if (pair->changes != changes || pair->key.policy == policy)
			look_up_pair(w, pair);
	}
}

void sa_wait_or_protect(struct worker *w, struct rte_mbuf *m, struct cygnet_policy *policy,
			const struct cygnet_flow *flow)
{
	struct cygnet_sa *sa = sa_for(w, policy, flow);

	if (!sa && cygnet_policy_held(policy)) {
		drop(w, m, DROP_POLICY_HELD);
		return;
	}
	if (w->sa_wait.n)
		look_up_earlier(w, flow, sa ? policy : NULL);
	if (sa)
		to_sa(w, m, sa);
	else
		sa_wait_add(w, m, policy, flow);
}
