/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_cycles.h>

#include "base/clock.h"
#include "base/sadb.h"
#include "path/fast/fast.h"
#include "path/fast/sa_route.h"
#include "path/worker/neigh_wait.h"
#include "path/worker/next_hop.h"
#include "path/worker/owner.h"
#include "path/worker/without_policy.h"

/* Whether all that was decided about a packet was decided since the last change, by this worker, and
 * for any packet like it. */
static bool is_typical(const struct worker *w, struct rte_mbuf *m, struct flow_key *key)
{
	const struct packet *p = packet(m);

	return w->fast && p->seen == w->seen && !p->from_kernel && !p->answer && !p->must_protect &&
	       m->nb_segs == 1 &&
	       flow_of(rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m), p->from, key);
}

/* The policies were looked up with the packet's addresses. An inbound policy names the SA that the packet came
 * out of. */
static void depend_on_policies(struct rte_mbuf *m, struct flow_basis *on)
{
	struct cygnet_addr src = packet_src(m), dst = packet_dst(m);
	uint32_t from = packet(m)->from;
	uint16_t scope[CYGNET_FLOW_SCOPES];

	cygnet_flow_scopes(sadb, packet_family(m), &src, &dst, scope);
	for (unsigned int i = 0; i < CYGNET_FLOW_SCOPES; i++)
		on->policy[i] = flow_scope(scope[i]);
	if (from & PACKET_SA_BIT)
		on->from_sa = flow_scope(cygnet_sa_scope(from & (PACKET_SA_BIT - 1)));
}

void learn_describe(const struct worker *w, struct rte_mbuf *m, struct session *s,
		    const struct cygnet_sa *sa, struct lesson *lesson)
{
	struct flow *what = &lesson->what;

	lesson->typical = false;
	/* The SPI tells such a flow from others: AH's is not looked at, nor one in UDP. */
	if (!w->fast || (s->inbound && (sa->proto != IPPROTO_ESP || packet(m)->udp)))
		return;
	*what = (struct flow){
		.kind = s->inbound ? FLOW_UNPROTECT : FLOW_PROTECT,
		.from_interface = packet(m)->frame_interface,
		.session = s,
	};
	lesson->on = (struct flow_basis){.sa = s->sa, .generation = s->generation};
	/* A packet that was handed off came in by another worker: its flow is known there. */
	lesson->typical = !(s->inbound && packet(m)->handed) && is_typical(w, m, &what->key);
	if (!lesson->typical || s->inbound)
		return;
	what->longest = packet_route_limit(m) & UINT16_MAX;
	depend_on_policies(m, &lesson->on);
}

/* Packets of an SA that is past its time pass the stages, which refuse them. The clock does not say how
 * much of the last second is over. @return TSC */
static uint64_t lives_until(const struct worker *w, const struct cygnet_sa *sa)
{
	uint64_t hard = sa->lifetime.hard_seconds, now = clock_seconds();
	uint64_t age = 1 + (now > sa->install_time ? now - sa->install_time : 0);

	if (!hard || (hard > age && hard - age > FLOW_HOLDS_MOST))
		return UINT64_MAX;
	return w->now + (hard > age ? hard - age : 0) * rte_get_tsc_hz();
}

static void learn_sa(struct worker *w, const struct flow *what, const struct flow_basis *on,
		     struct cygnet_sa *sa)
{
	struct session *s = what->session;
	uint64_t until = lives_until(w, sa);

	sa_route_find(w, s, sa);
	/* Not while the SA moves to another worker. */
	if ((s->inbound || s->route.longest) && until > w->now &&
	    (s->shared || !owner_is_other(w, s->sa, s->generation)))
		flow_learn(&w->fast->flows, what, on, until);
}

static void learn_handed(struct worker *w, struct rte_mbuf *m, struct session *s,
			 struct cygnet_sa *sa)
{
	const struct packet *p = packet(m);

	if (!w->fast || (s->inbound && (sa->proto != IPPROTO_ESP || p->udp)))
		return;
	sa_route_find(w, s, sa);
	s->route.until = RTE_MIN(w->now + w->fast->flows.holds, lives_until(w, sa));
}

void learn_accepted(struct worker *w, struct rte_mbuf *m, struct session *s, struct cygnet_sa *sa,
		    const struct lesson *lesson)
{
	if (lesson->typical)
		learn_sa(w, &lesson->what, &lesson->on, sa);
	else if (packet(m)->handed)
		learn_handed(w, m, s, sa);
}

void learn_received(struct worker *w, struct rte_mbuf *m, struct session *s, struct cygnet_sa *sa)
{
	struct lesson lesson;

	learn_describe(w, m, s, sa, &lesson);
	learn_accepted(w, m, s, sa, &lesson);
}

/* This worker does not learn whether an inbound packet is authentic. Of one that comes from the peer's address there is but one
 * flow for each SA. */
void learn_handoff(struct worker *w, struct rte_mbuf *m, enum stage stage)
{
	const struct packet *p = packet(m);
	struct flow what = {
		.kind = stage == STAGE_FIT ? FLOW_HANDOFF_OUT : FLOW_HANDOFF_IN,
		.from_interface = p->frame_interface,
		.sa = p->sa,
		.generation = p->generation,
	};
	struct flow_basis on = {.sa = p->sa, .generation = p->generation};

	if (owner_of(w, m) == w->id || p->udp || !is_typical(w, m, &what.key))
		return;
	if (stage == STAGE_UNPROTECT && !owner_hears_peer(m))
		return;
	if (stage == STAGE_FIT) {
		what.longest = packet_route_limit(m) & UINT16_MAX;
		depend_on_policies(m, &on);
	}
	flow_learn(&w->fast->flows, &what, &on, UINT64_MAX);
}

void learn_forward(struct worker *w, struct rte_mbuf *m)
{
	struct flow what = {.kind = FLOW_FORWARD, .from_interface = packet(m)->frame_interface};
	struct flow_basis on = {0};
	struct rte_ether_addr mac;
	struct next_hop hop;
	struct neigh neigh;

	if (!is_typical(w, m, &what.key))
		return;
	hop = packet_route(m);
	if (packet(m)->unmatched && without_policy_to(w->settings, m, &hop) != DROP_NONE)
		return;
	neigh = packet_neigh(m, &hop);
	on.neigh = neigh_group(&neigh);
	on.changes = neigh_changes(on.neigh);
	if (hop.kind != ROUTE_FORWARD || !neigh_wait_resolve(w, &neigh, &mac))
		return;
	what.interface = hop.interface;
	what.macvlan = hop.macvlan;
	what.longest = next_hop_mtu(&hop) & UINT16_MAX;
	memcpy(what.mac, &mac, sizeof(what.mac));
	depend_on_policies(m, &on);
	flow_learn(&w->fast->flows, &what, &on, UINT64_MAX);
}
