/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_count.h
 * What an SA was used for: its lifetimes and query_sa go by that.
 */
#ifndef CYGNETD_SA_COUNT_H
#define CYGNETD_SA_COUNT_H

#include "base/clock.h"
#include "cygnet.h"

/** Count packets. The worker of the SA.
 * @param bytes  that it protects: the inner packets, in transport mode what follows the headers
 *		 that stay in front, as Linux has it; neither what hides their length */
static inline void sa_count_some(struct cygnet_sa *sa, unsigned int packets, uint64_t bytes)
{
	__atomic_store_n(&sa->packets, sa->packets + packets, __ATOMIC_RELAXED);
	__atomic_store_n(&sa->bytes, sa->bytes + bytes, __ATOMIC_RELAXED);
	if (sa->use_time != clock_seconds())
		__atomic_store_n(&sa->use_time, clock_seconds(), __ATOMIC_RELAXED);
}

/** Count one. @param bytes  as there */
static inline void sa_count(struct cygnet_sa *sa, unsigned int bytes)
{
	sa_count_some(sa, 1, bytes);
}

/** Count one that came again, or too late (RFC 4303, 3.4.3). */
static inline void sa_count_replay(struct cygnet_sa *sa)
{
	__atomic_store_n(&sa->replay_drops, sa->replay_drops + 1, __ATOMIC_RELAXED);
}

/** Count one that is not authentic. */
static inline void sa_count_forged(struct cygnet_sa *sa)
{
	__atomic_store_n(&sa->auth_drops, sa->auth_drops + 1, __ATOMIC_RELAXED);
}

#endif
