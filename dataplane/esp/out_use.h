/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file out_use.h
 * Sequence numbers and counters of an outbound SA, of one worker's or of one that several workers protect packets
 * with (session.shared). A shared SA's counters are in a cache line for which the workers compete, so one takes numbers for
 * all packets of a burst at once, and counts the packets of a batch at once. Hence a lifetime in bytes or packets may be
 * exceeded by a batch of each worker.
 */
#ifndef CYGNETD_OUT_USE_H
#define CYGNETD_OUT_USE_H

#include "esp/sa_count.h"
#include "esp/session.h"

/** Numbers that are taken at once, but for more packets. */
#define OUT_BLOCK_MOST 64u

/** Take up to n numbers that follow each other, as cygnet_sa_reserve_seq(). @return how many; 0: there are none */
static inline uint32_t out_reserve(struct session *s, struct cygnet_sa *sa, uint32_t n,
				   uint64_t *first)
{
	struct out_block *b = &s->out_block;

	if (!s->shared)
		return cygnet_sa_reserve_seq(sa, n, first);
	if (!b->left) {
		uint32_t coming = RTE_MIN(b->coming, OUT_BLOCK_MOST);

		b->left = cygnet_sa_reserve_seq_shared(sa, RTE_MAX(n, coming), &b->next);
		b->coming = 0;
	}
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
	s->out_block.sa = sa;
}

/** Give back numbers of a shared SA that were taken and no packet has. @param first  receives the first. @return how many */
static inline uint32_t out_rest(struct session *s, uint64_t *first)
{
	uint32_t rest = s->out_block.left;

	*first = s->out_block.next;
	s->out_block.left = 0;
	return rest;
}

/** Add what has been counted of a shared SA, in the same turn. */
static inline void out_flush(struct session *s)
{
	struct out_block *b = &s->out_block;

	b->coming = 0;
	if (!b->packets)
		return;
	__atomic_fetch_add(&b->sa->packets, b->packets, __ATOMIC_RELAXED);
	__atomic_fetch_add(&b->sa->bytes, b->bytes, __ATOMIC_RELAXED);
	sa_count_use(b->sa);
	b->packets = 0;
	b->bytes = 0;
}

#endif
