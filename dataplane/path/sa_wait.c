/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "base/event.h"
#include "base/sadb.h"
#include "crypto/device/pool.h"
#include "path/sa_wait.h"
#include "path/to_sa.h"
#include "path/worker/policy.h"

static bool waits_for(const struct sa_wait_packet *p, const struct cygnet_policy *policy)
{
	return p->policy == policy && p->generation == policy->generation;
}

/* @return the latest packet that waits for a policy's SA, or NULL */
static const struct sa_wait_packet *latest_of(const struct sa_wait_list *list,
					      const struct cygnet_policy *policy)
{
	for (unsigned int i = list->n; i--;)
		if (waits_for(&list->packet[i], policy))
			return &list->packet[i];
	return NULL;
}

static void evict(struct worker *w, unsigned int at)
{
	struct sa_wait_list *list = &w->sa_wait;

	drop(w, list->packet[at].m, DROP_NO_SA);
	list->n--;
	memmove(&list->packet[at], &list->packet[at + 1], (list->n - at) * sizeof(list->packet[0]));
}

/* The newer a packet, the likelier its sender still waits for an answer. */
static void make_room(struct worker *w, const struct cygnet_policy *policy)
{
	const struct sa_wait_list *list = &w->sa_wait;
	unsigned int oldest = 0, count = 0;

	for (unsigned int i = list->n; i--;) {
		if (waits_for(&list->packet[i], policy)) {
			oldest = i;
			count++;
		}
	}
	if (count == SA_WAIT_PER_POLICY)
		evict(w, oldest);
	else if (list->n == SA_WAIT_PACKETS)
		evict(w, 0);
}

static bool ask(const struct cygnet_policy *policy, const struct cygnet_flow *flow)
{
	const struct cygnet_event event = {
		.type = CYGNET_EVENT_ACQUIRE,
		.reqid = policy->reqid,
		.flow = *flow,
	};

	return event_raise(&event);
}

static void keep(struct worker *w, struct sa_wait_packet p, const struct cygnet_policy *policy)
{
	struct sa_wait_list *list = &w->sa_wait;

	p.policy = policy;
	p.generation = policy->generation;
	make_room(w, policy);
	list->packet[list->n++] = p;
}

/* There are few buffers for reassembled packets: half of them are for packets that have an SA. */
static bool may_wait(const struct rte_mbuf *m)
{
	return !packet_pool_large || m->pool != packet_pool_large ||
	       rte_mempool_avail_count(packet_pool_large) >= packet_pool_large->size / 2;
}

void sa_wait_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_policy *policy,
		 const struct cygnet_flow *flow, bool first)
{
	const struct sa_wait_packet *latest = latest_of(&w->sa_wait, policy);
	struct sa_wait_packet p = {
		.m = m,
		.asked = latest && latest->asked,
		.until = clock_seconds() + SA_WAIT_SECONDS,
	};

	if (first)
		p.asked = ask(policy, flow);
	if (!may_wait(m)) {
		drop(w, m, DROP_NO_SA);
		return;
	}
	w->stats->waited_for_sa++;
	keep(w, p, policy);
}

/* Charon is asked again if the event queue had no room for the question, once for all packets of a
 * policy. */
static bool asked_by_now(const struct sa_wait_packet *p, const struct sa_wait_packet *before,
			 const struct cygnet_policy *policy, const struct cygnet_flow *flow)
{
	if (before)
		return before->asked;
	return (p->asked && waits_for(p, policy)) || ask(policy, flow);
}

/* The SPD decides anew: there may be another policy now. */
static void settle(struct worker *w, struct sa_wait_packet *p)
{
	const struct sa_wait_packet *before;
	struct cygnet_policy *policy;
	struct cygnet_flow flow;
	struct cygnet_sa *sa;

	policy_flow(p->m, &flow);
	policy_flow_out(p->m, &flow);
	policy = cygnet_spd_lookup(sadb, CYGNET_OUT, &flow);
	if (!policy || policy->action != CYGNET_PROTECT) {
		drop(w, p->m, DROP_POLICY_GONE);
		return;
	}
	if (cygnet_policy_held(policy)) {
		drop(w, p->m, DROP_POLICY_HELD);
		return;
	}
	sa = cygnet_policy_sa(sadb, policy);
	/* An earlier packet of this policy still waits: keep the order. */
	before = latest_of(&w->sa_wait, policy);
	if (sa && !before) {
		to_sa(w, p->m, sa);
		return;
	}
	if (clock_seconds() >= p->until) {
		drop(w, p->m, DROP_NO_SA_IN_TIME);
		return;
	}
	p->asked = asked_by_now(p, before, policy, &flow);
	keep(w, *p, policy);
}

static void settle_all(struct worker *w)
{
	struct sa_wait_packet packet[SA_WAIT_PACKETS];
	struct sa_wait_list *list = &w->sa_wait;
	unsigned int n = list->n;

	/* settle() may put a packet back into the list. */
	memcpy(packet, list->packet, n * sizeof(packet[0]));
	list->n = 0;
	for (unsigned int i = 0; i < n; i++)
		settle(w, &packet[i]);
}

void sa_wait_retry(struct worker *w)
{
	uint64_t changes = cygnet_spd_changes(sadb), second = clock_seconds();
	struct sa_wait_list *list = &w->sa_wait;

	if (changes == list->changes && second == list->second)
		return;
	list->changes = changes;
	list->second = second;
	settle_all(w);
}

void sa_wait_drop(struct worker *w)
{
	struct sa_wait_list *list = &w->sa_wait;

	for (unsigned int i = 0; i < list->n; i++)
		drop(w, list->packet[i].m, DROP_NO_SA);
	list->n = 0;
}

void sa_wait_or_protect(struct worker *w, struct rte_mbuf *m, struct cygnet_policy *policy,
			const struct cygnet_flow *flow, uint64_t last_use)
{
	struct cygnet_sa *sa = cygnet_policy_sa(sadb, policy);

	if (!sa && cygnet_policy_held(policy)) {
		drop(w, m, DROP_POLICY_HELD);
		return;
	}
	if (!sa) {
		sa_wait_add(w, m, policy, flow, last_use != clock_seconds());
		return;
	}
	/* Packets that waited for the SA go first, also if the change that brought it is not counted yet. */
	if (latest_of(&w->sa_wait, policy))
		settle_all(w);
	else if (w->sa_wait.n)
		sa_wait_retry(w);
	to_sa(w, m, sa);
}
