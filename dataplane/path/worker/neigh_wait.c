/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_cycles.h>

#include "base/changes.h"
#include "base/sadb.h"
#include "path/worker/neigh_wait.h"
#include "path/worker/policy.h"
#include "path/worker/tx.h"
#include "path/worker/without_policy.h"

/* The kernel solicits a neighbour three times by default, once per second. The first solicitation is often
 * lost: a TAP that has just come up has no source address for it, because duplicate address detection of
 * IPv6 takes a second or two. */
#define WAIT_SECONDS 3

static bool is_same(const struct neigh *a, const struct neigh *b)
{
	return a->interface == b->interface && a->macvlan == b->macvlan && a->af == b->af &&
	       !memcmp(&a->addr, &b->addr, sizeof(a->addr));
}

static struct waiting_neigh *find(struct neigh_wait *p, const struct neigh *neigh)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (is_same(&p->of[i].neigh, neigh))
			return &p->of[i];
	return NULL;
}

static struct waiting_neigh *begin(struct worker *w, const struct neigh *neigh)
{
	struct neigh_wait *p = &w->neigh_wait;
	struct waiting_neigh *of;

	if (p->n == RTE_DIM(p->of))
		return NULL;
	of = &p->of[p->n++];
	*of = (struct waiting_neigh){
		.neigh = *neigh,
		.databases = w->databases,
		.general = w->general,
		.until = w->now + WAIT_SECONDS * rte_get_tsc_hz(),
	};
	return of;
}

void neigh_wait_add(struct worker *w, struct rte_mbuf *m, const struct neigh *neigh)
{
	struct waiting_neigh *of = find(&w->neigh_wait, neigh);

	if (!of)
		of = begin(w, neigh);
	if (!of || of->n == NEIGH_WAIT_PACKETS) {
		drop(w, m, DROP_NO_NEIGHBOUR);
		return;
	}
	packet(m)->next = NULL;
	*(of->n ? &packet(of->tail)->next : &of->head) = m;
	of->tail = m;
	of->n++;
}

/* The next hop whose neighbour has been resolved: the packet's route may be another one now. */
static struct next_hop hop_to(const struct neigh *neigh, struct rte_mbuf *m)
{
	const struct cygnet_addr dst = packet_dst(m);
	struct next_hop hop = {.kind = ROUTE_FORWARD, .interface = neigh->interface};

	if (memcmp(&neigh->addr, &dst, sizeof(dst)))
		hop.gateway = neigh->addr;
	return hop;
}

/* Whether a packet may still leave in plaintext. If not, it is dropped or goes to find-sa. */
static bool is_still_plaintext(struct worker *w, struct rte_mbuf *m, const struct neigh *neigh)
{
	const struct next_hop hop = hop_to(neigh, m);
	struct cygnet_policy *policy;
	struct cygnet_flow flow;
	enum drop_reason reason = policy_outbound_find(w->settings, m, &flow, &policy);

	if (reason == DROP_NONE && !policy)
		reason = without_policy_to(w->settings, m, &hop);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return false;
	}
	if (!policy || policy->action != CYGNET_PROTECT)
		return true;
	stage_add(&w->stages, STAGE_FIND_SA, m);
	return false;
}

/* Since it waits neither policies nor settings nor sides have changed, or it may leave with these, too. */
static bool may_leave(struct worker *w, struct rte_mbuf *m, const struct waiting_neigh *of)
{
	return packet(m)->own ||
	       (cygnet_db_changes(sadb) == of->databases && changes_general() == of->general) ||
	       is_still_plaintext(w, m, &of->neigh);
}

/* Send the packets that wait for a neighbour, in their order, or drop them.
 * @param mac  of the neighbour; NULL: drop */
static void release(struct worker *w, const struct waiting_neigh *of,
		    const struct rte_ether_addr *mac)
{
	struct rte_mbuf *m = of->head, *next;

	for (unsigned int i = 0; i < of->n; i++, m = next) {
		next = packet(m)->next;
		if (!mac)
			drop(w, m, DROP_NO_NEIGHBOUR);
		else if (may_leave(w, m, of))
			tx_packet(w, m, of->neigh.interface, of->neigh.macvlan, mac);
	}
}

void neigh_wait_retry(struct worker *w)
{
	struct neigh_wait *p = &w->neigh_wait;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < p->n; i++) {
		struct rte_ether_addr mac;

		if (neigh_lookup(&p->of[i].neigh, &mac))
			release(w, &p->of[i], &mac);
		else
			p->of[kept++] = p->of[i];
	}
	p->n = kept;
}

bool neigh_wait_resolve(struct worker *w, const struct neigh *neigh, struct rte_ether_addr *mac)
{
	/* A trace solicits no stale neighbour. */
	if (!(unlikely(w->trace != NULL) ? neigh_known : neigh_lookup)(neigh, mac))
		return false;
	if (find(&w->neigh_wait, neigh))
		neigh_wait_retry(w);
	return true;
}

void neigh_wait_expire(struct worker *w)
{
	struct neigh_wait *p = &w->neigh_wait;
	unsigned int over = 0;

	/* The neighbours are in the order of until. */
	while (over < p->n && w->now >= p->of[over].until)
		release(w, &p->of[over++], NULL);
	if (!over)
		return;
	p->n -= over;
	memmove(p->of, p->of + over, p->n * sizeof(p->of[0]));
}

void neigh_wait_drop(struct worker *w)
{
	struct neigh_wait *p = &w->neigh_wait;

	while (p->n)
		release(w, &p->of[--p->n], NULL);
}
