/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file runs.h
 * Whether chains' packets come in runs of one SA. A multi-buffer library works on several packets
 * at a time: those of a call, which are all of one SA, or of whatever SAs there are in a queue. So
 * a call for one packet takes as long as one for eight (AES-128-CBC with HMAC-SHA1, eight SAs in
 * turn, 512 bytes: 6,700 cycles a packet, by the queue 900). One a worker.
 */
#ifndef CYGNETD_RUNS_H
#define CYGNETD_RUNS_H

#include <stdbool.h>

#include "session.h"

/** Packets of a call that are worth it; and of a turn that say anything. */
#define RUNS_WORTH 4u
#define RUNS_ENOUGH 8u

struct runs {
	const struct session *last;	/* only compared with others */
	unsigned int packets, n;	/* in this turn; runs */
	bool short_ones;		/* in the last one that said anything */
};

/** A worker's turn begins: what the last one has shown holds. */
static inline void runs_turn(struct runs *r)
{
	if (r->packets >= RUNS_ENOUGH)
		r->short_ones = r->n * RUNS_WORTH > r->packets;
	*r = (struct runs){.short_ones = r->short_ones};
}

/** A packet is about to be called for, or queued. */
static inline void runs_note(struct runs *r, const struct session *s)
{
	if (s->form != SUITE_CHAIN)
		return;
	r->packets++;
	r->n += s != r->last;
	r->last = s;
}

/** Whether a device may be called for packets of an SA. */
static inline bool runs_allow_call(const struct runs *r, const struct session *s)
{
	return s->form != SUITE_CHAIN || !r->short_ones;
}

#endif
