/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/acquire.h"
#include "base/clock.h"
#include "base/sadb.h"
#include "crypto/device/pool.h"
#include "path/sa_wait.h"
#include "path/to_sa.h"
#include "path/worker/policy.h"

/* Packets that a turn looks up anew, so that many that wait do not hold up others. */
#define LOOKUPS_PER_TURN 64u
/* Of a pair, in buffers for reassembled packets. */
#define LARGE_PER_PAIR 4u

static unsigned int large_of(const struct sa_wait_pair *pair)
{
	unsigned int n = 0;

	for (struct rte_mbuf *m = pair ? pair->head : NULL; m; m = packet(m)->next)
		n += m->pool == packet_pool_large;
	return n;
}

/* There are few buffers for reassembled packets: half of them are for packets that have an SA. */
static bool may_wait(struct sa_wait_list *list, const struct rte_mbuf *m,
		     const struct sa_wait_key *key)
{
	return !packet_pool_large || m->pool != packet_pool_large ||
	       (rte_mempool_avail_count(packet_pool_large) >= packet_pool_large->size / 2 &&
		large_of(sa_wait_find(list, key)) < LARGE_PER_PAIR);
}

/* Once for all packets of a pair that come, or are looked up, in a second.
 * @param seconds  of acquire_raise() */
static void ask(struct worker *w, struct sa_wait_pair *pair, const struct cygnet_policy *policy,
		const struct cygnet_flow *flow, unsigned int seconds)
{
	if (pair->tried == clock_seconds())
		return;
	pair->tried = clock_seconds();
	if (acquire_raise(policy, flow, seconds))
		sa_wait_asked(&w->sa_wait, pair);
}

/* @param changes  cygnet_spd_changes() before the packet was looked up; 0: not known, it will be
 *                 looked up again */
static struct sa_wait_pair *keep(struct worker *w, struct rte_mbuf *m,
				 const struct sa_wait_key *key, uint64_t changes)
{
	struct sa_wait_pair *pair = sa_wait_keep(&w->sa_wait, w->stats, m, key);

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

	if (!may_wait(&w->sa_wait, m, &key)) {
		drop(w, m, DROP_NO_SA);
		return;
	}
	packet(m)->until = (uint32_t)clock_seconds() + SA_WAIT_SECONDS;
	w->stats->waited_for_sa++;
	pair = keep(w, m, &key, 0);
	/* The next question is that of the pair whose turn it is. */
	ask(w, pair, policy, flow, pair->reqid->packets > 1 ? 2 : 1);
}

/* The SPD decides anew: there may be another policy now. */
static void look_up(struct worker *w, struct rte_mbuf *m, uint64_t changes)
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
	sa = cygnet_policy_sa(sadb, policy);
	pair = sa_wait_find(&w->sa_wait, &key);
	if (sa && (!pair || !pair->n)) {
		to_sa(w, m, sa);
		return;
	}
	if ((uint32_t)clock_seconds() >= packet(m)->until) {
		drop(w, m, DROP_NO_SA_IN_TIME);
		return;
	}
	pair = keep(w, m, &key, changes);
	/* With an SA the packet waits only for earlier packets of its pair, to keep the order. */
	if (!sa)
		ask(w, pair, policy, &flow, 1);
}

static void settle(struct worker *w, struct sa_wait_pair *pair)
{
	uint64_t changes = cygnet_spd_changes(sadb);
	struct rte_mbuf *m = sa_wait_take(&w->sa_wait, pair), *next;

	pair->changes = changes;
	pair->second = clock_seconds();
	for (; m; m = next) {
		next = packet(m)->next;
		look_up(w, m, changes);
	}
	sa_wait_release(&w->sa_wait, pair);
}

static bool is_settled(const struct sa_wait_list *list, const struct sa_wait_pair *pair)
{
	return pair->changes >= list->changes && pair->second >= list->second;
}

/* Look up packets of the pairs in turn: in a round all pairs once. */
static void go_round(struct worker *w)
{
	struct sa_wait_list *list = &w->sa_wait;

	for (unsigned int lookups = 0; list->next && lookups < LOOKUPS_PER_TURN;) {
		struct sa_wait_pair *pair = list->next;

		list->next = TAILQ_NEXT(pair, turn);
		if (is_settled(list, pair))
			continue;
		lookups += pair->n;
		settle(w, pair);
	}
}

void sa_wait_retry(struct worker *w)
{
	uint64_t changes = cygnet_spd_changes(sadb), second = clock_seconds();
	struct sa_wait_list *list = &w->sa_wait;

	if (!list->next && list->n && (changes != list->changes || second != list->second)) {
		list->changes = changes;
		list->second = second;
		list->next = TAILQ_FIRST(&list->turn);
	}
	go_round(w);
}

void sa_wait_drop(struct worker *w)
{
	struct sa_wait_list *list = &w->sa_wait;
	struct rte_mbuf *m, *next;

	while (list->n) {
		struct sa_wait_pair *pair = TAILQ_FIRST(&list->turn);

		for (m = sa_wait_take(list, pair); m; m = next) {
			next = packet(m)->next;
			drop(w, m, DROP_NO_SA);
		}
		sa_wait_release(list, pair);
	}
}

/* Packets with these addresses that wait go first: they may have an SA, or belong to this policy,
 * by now.
 * @param policy  of a packet that has just come; NULL if it has no SA */
static void settle_earlier(struct worker *w, const struct cygnet_flow *flow,
			   const struct cygnet_policy *policy)
{
	struct sa_wait_pair *pair = sa_wait_first(&w->sa_wait, flow), *next;
	uint64_t changes = cygnet_spd_changes(sadb);

	for (; pair; pair = next) {
		next = sa_wait_next(pair);
		if (pair->changes != changes || pair->key.policy == policy)
			settle(w, pair);
	}
}

void sa_wait_or_protect(struct worker *w, struct rte_mbuf *m, struct cygnet_policy *policy,
			const struct cygnet_flow *flow)
{
	struct cygnet_sa *sa = cygnet_policy_sa(sadb, policy);

	if (!sa && cygnet_policy_held(policy)) {
		drop(w, m, DROP_POLICY_HELD);
		return;
	}
	if (w->sa_wait.n)
		settle_earlier(w, flow, sa ? policy : NULL);
	if (sa)
		to_sa(w, m, sa);
	else
		sa_wait_add(w, m, policy, flow);
}
