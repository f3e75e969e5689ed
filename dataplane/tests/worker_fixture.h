/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file worker_fixture.h
 * Single steps of a worker's iteration.
 */
#ifndef WORKER_FIXTURE_H
#define WORKER_FIXTURE_H

#include "path/dispatch.h"
#include "path/fast/fast.h"
#include "path/refresh.h"

/** Process a received burst as far as possible. */
static inline void worker_receive(struct worker *w, struct rte_mbuf **m, unsigned int n,
				  unsigned int interface)
{
	struct fast_burst burst;

	refresh_turn(w);
	fast_lookup(w, &burst, m, n, interface);
	while (!fast_receive(w, &burst))
		dispatch(w);
	dispatch(w);
}

/** Process a packet before packet()->stage: it gets into the crypto batch or to its next stage. */
static inline void worker_pass(struct worker *w, struct rte_mbuf *m)
{
	stage_add(&w->stages, (enum stage)packet(m)->stage, m);
	dispatch_stages(w);
	if (w->stages.waiting)
		dispatch(w);
}

/** Collect packets that devices have completed. @return number of packets */
static inline unsigned int worker_poll(struct worker *w)
{
	struct crypto_poll poll = {0};

	dispatch(w);
	while (crypto_poll(&w->crypto, &poll))
		dispatch(w);
	return poll.moved;
}

#endif
