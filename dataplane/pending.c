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
		.until = rte_get_tsc_cycles() + WAIT_SECONDS * rte_get_tsc_hz(),
	};
}

/* Whether a packet before this one still waits for the same neighbour: it was
 * not resolved a moment ago, and must not be overtaken if it is now. */
static bool behind_another(const struct pending *p, unsigned int kept,
			   const struct pending_packet *waiting)
{
	struct neigh for_this = next_neigh(waiting->m, &waiting->hop);

	for (unsigned int i = 0; i < kept; i++) {
		struct neigh for_that = next_neigh(p->packet[i].m, &p->packet[i].hop);

		if (for_this.port == for_that.port && for_this.af == for_that.af &&
		    !memcmp(&for_this.addr, &for_that.addr, sizeof(for_this.addr)))
			return true;
	}
	return false;
}

void pending_retry(struct worker *w)
{
	struct pending *p = &w->pending;
	unsigned int kept = 0, n = p->n;
	uint64_t now = rte_get_tsc_cycles();

	for (unsigned int i = 0; i < n; i++) {
		struct pending_packet waiting = p->packet[i];
		struct neigh neigh = next_neigh(waiting.m, &waiting.hop);
		struct rte_ether_addr mac;

		if (now >= waiting.until)
			drop(w, waiting.m, DROP_NO_NEIGHBOUR);
		else if (behind_another(p, kept, &waiting) ||
			 !neigh_lookup(&neigh, &mac))
			p->packet[kept++] = waiting;
		else
			transmit_resolved(w, waiting.m, &waiting.hop, &mac);
	}
	p->n = kept;
}

void pending_drop(struct worker *w)
{
	struct pending *p = &w->pending;

	while (p->n)
		drop(w, p->packet[--p->n].m, DROP_NO_NEIGHBOUR);
}
