/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "base/event.h"
#include "base/sadb.h"
#include "crypto/device/pool.h"
#include "path/hold.h"
#include "path/to_sa.h"
#include "path/worker/policy.h"

static bool waits_for(const struct held_packet *p, const struct cygnet_policy *policy)
{
	return p->policy == policy && p->generation == policy->generation;
}

/* @return the latest that waits for a policy's SA, or NULL */
static const struct held_packet *latest_of(const struct hold *h, const struct cygnet_policy *policy)
{
	for (unsigned int i = h->n; i--;)
		if (waits_for(&h->packet[i], policy))
			return &h->packet[i];
	return NULL;
}

static void evict(struct worker *w, unsigned int at)
{
	struct hold *h = &w->hold;

	drop(w, h->packet[at].m, DROP_NO_SA);
	h->n--;
	memmove(&h->packet[at], &h->packet[at + 1], (h->n - at) * sizeof(h->packet[0]));
}

/* The newer a packet, the likelier somebody still waits for its answer. */
static void make_room(struct worker *w, const struct cygnet_policy *policy)
{
	const struct hold *h = &w->hold;
	unsigned int oldest = 0, count = 0;

	for (unsigned int i = h->n; i--;) {
		if (waits_for(&h->packet[i], policy)) {
			oldest = i;
			count++;
		}
	}
	if (count == HOLD_PER_POLICY)
		evict(w, oldest);
	else if (h->n == HOLD_PACKETS)
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

static void keep(struct worker *w, struct held_packet p, const struct cygnet_policy *policy)
{
	struct hold *h = &w->hold;

	p.policy = policy;
	p.generation = policy->generation;
	make_room(w, policy);
	h->packet[h->n++] = p;
}

/* There are few buffers for reassembled packets: half of them are for packets that have an SA. */
static bool may_wait(const struct rte_mbuf *m)
{
	return !packet_pool_large || m->pool != packet_pool_large ||
	       rte_mempool_avail_count(packet_pool_large) >= packet_pool_large->size / 2;
}

void hold_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_policy *policy,
	      const struct cygnet_flow *flow, bool first)
{
	const struct held_packet *latest = latest_of(&w->hold, policy);
	struct held_packet p = {
		.m = m,
		.asked = latest && latest->asked,
		.until = clock_seconds() + HOLD_SECONDS,
	};

	if (first)
		p.asked = ask(policy, flow);
	if (!may_wait(m)) {
		drop(w, m, DROP_NO_SA);
		return;
	}
	w->stats->held++;
	keep(w, p, policy);
}

/* Charon is asked again if the event queue had no room for the question, once for all packets of a
 * policy. */
static bool asked_by_now(const struct held_packet *p, const struct held_packet *before,
			 const struct cygnet_policy *policy, const struct cygnet_flow *flow)
{
	if (before)
		return before->asked;
	return (p->asked && waits_for(p, policy)) || ask(policy, flow);
}

/* The SPD decides anew: there may be another policy now. */
static void settle(struct worker *w, struct held_packet *p)
{
	const struct held_packet *before;
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
	/* An earlier packet of this policy is still held: keep the order. */
	before = latest_of(&w->hold, policy);
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
	struct held_packet packet[HOLD_PACKETS];
	struct hold *h = &w->hold;
	unsigned int n = h->n;

	/* Protecting one may have another held: its SA may go away meanwhile. */
	memcpy(packet, h->packet, n * sizeof(packet[0]));
	h->n = 0;
	for (unsigned int i = 0; i < n; i++)
		settle(w, &packet[i]);
}

void hold_retry(struct worker *w)
{
	uint64_t changes = cygnet_spd_changes(sadb), second = clock_seconds();
	struct hold *h = &w->hold;

	if (changes == h->changes && second == h->second)
		return;
	h->changes = changes;
	h->second = second;
	settle_all(w);
}

void hold_drop(struct worker *w)
{
	struct hold *h = &w->hold;

	for (unsigned int i = 0; i < h->n; i++)
		drop(w, h->packet[i].m, DROP_NO_SA);
	h->n = 0;
}

void hold_or_protect(struct worker *w, struct rte_mbuf *m, struct cygnet_policy *policy,
		     const struct cygnet_flow *flow, uint64_t last_use)
{
	struct cygnet_sa *sa = cygnet_policy_sa(sadb, policy);

	if (!sa && cygnet_policy_held(policy)) {
		drop(w, m, DROP_POLICY_HELD);
		return;
	}
	if (!sa) {
		hold_add(w, m, policy, flow, last_use != clock_seconds());
		return;
	}
	/* Packets that waited for the SA go first, also if the change that brought it is not counted yet. */
	if (latest_of(&w->hold, policy))
		settle_all(w);
	else if (w->hold.n)
		hold_retry(w);
	to_sa(w, m, sa);
}
