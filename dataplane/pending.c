/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets whose next hop the kernel is resolving: a few wait, as they do in the
 * kernel's own neighbour queue (RFC 1122, 2.3.2.2), so that the first packet to
 * a neighbour is not lost. */
#include <rte_cycles.h>

#include "pipeline.h"

#define WAIT_SECONDS 1

void pending_add(struct worker *w, struct rte_mbuf *m, const struct next_hop *hop)
{
	struct pending *p = &w->pending;

	if (p->n == RTE_DIM(p->packet)) {
		drop(w, m, DROP_NO_NEIGHBOUR);
		return;
	}
	p->packet[p->n++] = (struct pending_packet){
		.m = m,
		.hop = *hop,
		.neigh = next_neigh(m, hop),
		.until = rte_get_tsc_cycles() + WAIT_SECONDS * rte_get_tsc_hz(),
	};
}

static bool is_same(const struct neigh *a, const struct neigh *b)
{
	return a->port == b->port && a->af == b->af && !memcmp(&a->addr, &b->addr, sizeof(a->addr));
}

static bool one_waits(const struct pending *p, unsigned int n, const struct neigh *neigh)
{
	for (unsigned int i = 0; i < n; i++)
		if (is_same(&p->packet[i].neigh, neigh))
			return true;
	return false;
}

bool pending_has(const struct worker *w, const struct neigh *neigh)
{
	return one_waits(&w->pending, w->pending.n, neigh);
}

void pending_retry(struct worker *w)
{
	struct pending *p = &w->pending;
	unsigned int kept = 0, n = p->n;
	uint64_t now = rte_get_tsc_cycles();

	for (unsigned int i = 0; i < n; i++) {
		struct pending_packet waiting = p->packet[i];
		struct rte_ether_addr mac;

		if (now >= waiting.until)
			drop(w, waiting.m, DROP_NO_NEIGHBOUR);
		/* One before it was not resolved a moment ago, and must not be overtaken. */
		else if (one_waits(p, kept, &waiting.neigh) || !neigh_lookup(&waiting.neigh, &mac))
			p->packet[kept++] = waiting;
		else
			transmit_resolved(w, waiting.m, waiting.hop.port, &mac);
	}
	p->n = kept;
}

void pending_drop(struct worker *w)
{
	struct pending *p = &w->pending;

	while (p->n)
		drop(w, p->packet[--p->n].m, DROP_NO_NEIGHBOUR);
}
