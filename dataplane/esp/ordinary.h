/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ordinary.h
 * Whether packets of a known flow meet no limit of their SA: nothing is to be told to charon, and
 * they fit the path.
 */
#ifndef CYGNETD_ORDINARY_H
#define CYGNETD_ORDINARY_H

#include "cygnet.h"
#include "esp/session.h"

/* Other workers may count, too. */
static inline uint64_t used(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* What the packets were compared with when numbers were taken for them (out_use.h). */
static inline bool have_numbers(const struct session *s, unsigned int n)
{
	return s->shared && s->out_block.left >= n;
}

/** Whether one packet of a session is. @param len  bytes of plaintext; 0: the packet is inbound */
static inline bool is_ordinary(const struct session *s, unsigned int len)
{
	const struct sa_route *route = &s->route;
	const struct cygnet_sa *sa = route->sa;

	if (!s->inbound && len > route->longest)
		return false;
	return have_numbers(s, 1) ||
	       (used(&sa->bytes) < route->bytes && used(&sa->packets) < route->packets &&
		(s->inbound || used(&sa->seq) < route->seq));
}

/** Whether n packets are, each of which is short enough for the path.
 * @param bytes  of plaintext, of all of them */
static inline bool are_ordinary(const struct session *s, unsigned int n, uint64_t bytes)
{
	const struct sa_route *route = &s->route;
	const struct cygnet_sa *sa = route->sa;

	/* Counters stay below 2^63, so the sums do not overflow. A process that can write the file is trusted. */
	return have_numbers(s, n) || (used(&sa->bytes) + bytes < route->bytes &&
				      used(&sa->packets) + n < route->packets &&
				      (s->inbound || used(&sa->seq) + n < route->seq));
}

#endif
