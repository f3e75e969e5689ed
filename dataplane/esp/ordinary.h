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

/** Whether one packet of a session is. @param len  bytes of plaintext; 0: the packet is inbound */
static inline bool is_ordinary(const struct session *s, unsigned int len)
{
	const struct sa_route *route = &s->route;
	const struct cygnet_sa *sa = route->sa;

	return sa->bytes < route->bytes && sa->packets < route->packets &&
	       (s->inbound || (len <= route->longest && sa->seq < route->seq));
}

/** Whether n packets are, each of which is short enough for the path.
 * @param bytes  of plaintext, of all of them */
static inline bool are_ordinary(const struct session *s, unsigned int n, uint64_t bytes)
{
	const struct sa_route *route = &s->route;
	const struct cygnet_sa *sa = route->sa;

	/* Counters stay below 2^63, so the sums do not overflow. A process that can write the file is trusted. */
	return sa->bytes + bytes < route->bytes && sa->packets + n < route->packets &&
	       (s->inbound || sa->seq + n < route->seq);
}

#endif
