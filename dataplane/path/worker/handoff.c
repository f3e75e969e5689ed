/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_ring.h>

#include "path/worker/handoff.h"

static void flush_to(struct worker *w, unsigned int to)
{
	struct handoff *batch = &w->handoff[to];
	unsigned int sent = rte_ring_mp_enqueue_burst(workers[to].inbox, (void **)batch->m,
						      batch->n, NULL);

	w->stats->handed_off += sent;
	for (unsigned int i = sent; i < batch->n; i++) {
		unsigned int stage = packet(batch->m[i])->stage;

		packet_drop_as(w->stats, batch->m[i], DROP_HANDOFF_FULL,
			       stage == STAGE_TX || stage == STAGE_TAP);
	}
	batch->n = 0;
}

void handoff(struct worker *w, struct rte_mbuf *m, unsigned int to, enum stage stage)
{
	struct handoff *batch = &w->handoff[to];

	if (to == w->id) {
		stage_add(&w->stages, stage, m);
		return;
	}
	stage_assert_next(&w->stages, stage);
	packet(m)->stage = (uint8_t)stage;
	packet(m)->seen = 0;
	packet(m)->handed = 1;
	batch->m[batch->n++] = m;
	if (batch->n == RTE_DIM(batch->m))
		flush_to(w, to);
}

void handoff_flush(struct worker *w)
{
	for (unsigned int to = 0; to < w->workers; to++)
		if (w->handoff[to].n)
			flush_to(w, to);
}
