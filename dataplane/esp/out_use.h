/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file out_use.h
 * Sequence numbers and counters of an outbound SA, of one worker's or of one that several workers protect packets
 * with (session.shared). A shared SA's counters are in a cache line for which the workers compete, so one takes numbers for
 * all packets of a burst at once, and counts the packets of a batch at once. Hence a lifetime in bytes or packets may be
 * exceeded by a turn of each worker.
 */
#ifndef CYGNETD_OUT_USE_H
#define CYGNETD_OUT_USE_H

#include "esp/sa_count.h"
#include "esp/session.h"

/** Take up to n numbers that follow each other, as cygnet_sa_reserve_seq().
 * @param most  of a shared SA, how many may be taken for packets that come: out_rest() gives them back in this turn
 * @return how many; 0: there are none */
static inline uint32_t out_reserve(struct session *s, struct cygnet_sa *sa, uint32_t n,
				   uint32_t most, uint64_t *first)
{
	struct out_block *b = &s->out_block;

	if (!s->shared)
		return cygnet_sa_reserve_seq(sa, n, first);
	if (!b->left) {
		uint32_t coming = RTE_MIN(b->coming, most);

		b->left = cygnet_sa_reserve_seq_shared(sa, RTE_MAX(n, coming), &b->next);
		b->coming = 0;
	}
	if (!b->left)
		return 0;
	n = RTE_MIN(n, b->left);
	*first = b->next;
	b->next += n;
	b->left -= n;
	return n;
}

/** Count packets, as sa_count_some(); those of a shared SA when out_flush() is called. */
static inline void out_count(struct session *s, struct cygnet_sa *sa, unsigned int packets,
			     uint64_t bytes)
{
	if (!s->shared) {
		sa_count_some(sa, packets, bytes);
		return;
	}
	s->out_block.packets += packets;
	s->out_block.bytes += bytes;
}

/** Give back numbers of a shared SA that were taken and no packet has. @param first  receives the first. @return how many */
static inline uint32_t out_rest(struct session *s, uint64_t *first)
{
	uint32_t rest = s->out_block.left;

	*first = s->out_block.next;
	s->out_block.left = 0;
	return rest;
}

/** Add what has been counted of a shared SA. @param sa  NULL: it is gone */
static inline void out_flush(struct session *s, struct cygnet_sa *sa)
{
	struct out_block *b = &s->out_block;

	b->coming = 0;
	if (sa && b->packets) {
		__atomic_fetch_add(&sa->packets, b->packets, __ATOMIC_RELAXED);
		__atomic_fetch_add(&sa->bytes, b->bytes, __ATOMIC_RELAXED);
		sa_count_use(sa);
	}
	b->packets = 0;
	b->bytes = 0;
}

#endif
