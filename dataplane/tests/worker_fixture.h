/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file worker_fixture.h
 * What the worker's loop does, a step at a time.
 */
#ifndef WORKER_FIXTURE_H
#define WORKER_FIXTURE_H

#include "path/dispatch.h"
#include "path/fast/receive.h"

/** A burst comes in by a port, and goes on as far as it can. */
static inline void worker_receive(struct worker *w, struct rte_mbuf **m, unsigned int n,
				  unsigned int interface)
{
	struct fast_burst burst;

	fast_lookup(w, &burst, m, n, interface);
	while (!fast_receive(w, &burst))
		dispatch(w);
	dispatch(w);
}

/** A packet is in front of packet()->stage: it goes into the crypto batch, or wherever it has to. */
static inline void worker_pass(struct worker *w, struct rte_mbuf *m)
{
	stage_add(&w->stages, (enum stage)packet(m)->stage, m);
	dispatch_stages(w);
	if (w->stages.waiting)
		dispatch(w);
}

/** Collect what the devices give back. @return packets */
static inline unsigned int worker_poll(struct worker *w)
{
	struct crypto_poll poll = {0};

	dispatch(w);
	while (crypto_poll(&w->crypto, &poll))
		dispatch(w);
	return poll.moved;
}

#endif
