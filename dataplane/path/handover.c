/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets for other workers go in batches: to put one into a ring that several fill is
 * to wait for the line that says how full it is. */
#include <rte_ring.h>

#include "path/pipeline.h"

static void flush_to(struct worker *w, unsigned int to)
{
	struct handover *batch = &w->handover[to];
	unsigned int sent = rte_ring_mp_enqueue_burst(workers[to].inbox, (void **)batch->m, batch->n,
						      NULL);

	w->stats->handed_over += sent;
	for (unsigned int i = sent; i < batch->n; i++)
		drop(w, batch->m[i], DROP_HANDOVER_FULL);
	batch->n = 0;
}

void hand_over(struct worker *w, struct rte_mbuf *m, unsigned int to)
{
	struct handover *batch = &w->handover[to];

	if (to == w->id) {
		do_stage(w, m);
		return;
	}
	packet(m)->epoch = 0;
	packet(m)->handed = 1;
	batch->m[batch->n++] = m;
	if (batch->n == RTE_DIM(batch->m))
		flush_to(w, to);
}

void handover_flush(struct worker *w)
{
	for (unsigned int to = 0; to < w->workers; to++)
		if (w->handover[to].n)
			flush_to(w, to);
}
