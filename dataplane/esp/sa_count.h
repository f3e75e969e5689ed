/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_count.h
 * Usage counters of an SA, for its lifetimes and for query_sa.
 */
#ifndef CYGNETD_SA_COUNT_H
#define CYGNETD_SA_COUNT_H

#include "base/clock.h"
#include "cygnet.h"

/** The SA is in use. Any worker. */
static inline void sa_count_use(struct cygnet_sa *sa)
{
	if (__atomic_load_n(&sa->use_time, __ATOMIC_RELAXED) != clock_seconds())
		__atomic_store_n(&sa->use_time, clock_seconds(), __ATOMIC_RELAXED);
}

/** Count packets. The worker of the SA.
 * @param bytes  protected bytes, as counted by Linux: the inner packets, in transport mode without
 *		 the headers in front; without TFC padding */
static inline void sa_count_some(struct cygnet_sa *sa, unsigned int packets, uint64_t bytes)
{
	__atomic_store_n(&sa->packets, sa->packets + packets, __ATOMIC_RELAXED);
	__atomic_store_n(&sa->bytes, sa->bytes + bytes, __ATOMIC_RELAXED);
	sa_count_use(sa);
}

/** Count one packet. @param bytes  as above */
static inline void sa_count(struct cygnet_sa *sa, unsigned int bytes)
{
	sa_count_some(sa, 1, bytes);
}

/** Count a packet that is a replay or outside the window (RFC 4303, 3.4.3). */
static inline void sa_count_replay(struct cygnet_sa *sa)
{
	__atomic_store_n(&sa->replay_drops, sa->replay_drops + 1, __ATOMIC_RELAXED);
}

/** Count a packet that is not authentic. */
static inline void sa_count_forged(struct cygnet_sa *sa)
{
	__atomic_store_n(&sa->auth_drops, sa->auth_drops + 1, __ATOMIC_RELAXED);
}

#endif
