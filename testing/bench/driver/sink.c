/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_mbuf_ptype.h>

#include "wire.h"

static unsigned int bucket(uint64_t ticks)
{
	unsigned int power;

	if (ticks < (1u << BENCH_BUCKET_BITS))
		return (unsigned int)ticks;
	power = 63 - (unsigned int)__builtin_clzll(ticks) - BENCH_BUCKET_BITS;
	return (power << BENCH_BUCKET_BITS) + (unsigned int)(ticks >> power);
}

/* Drop IPv6, which the kernel sends by itself to the port's TAP. The frame is not read: a network card does so without a core,
 * and another worker may have written it.
 * @return number of packets left */
static uint16_t drop_foreign(struct rte_mbuf **m, uint16_t n)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (likely(!RTE_ETH_IS_IPV6_HDR(m[i]->packet_type)))
			m[kept++] = m[i];
		else
			rte_pktmbuf_free(m[i]);
	}
	return kept;
}

static void count_latency(const struct sink *s, struct rte_mbuf **m, uint16_t n, uint64_t now)
{
	for (uint16_t i = 0; i < n; i++) {
		uint64_t due = *RTE_MBUF_DYNFIELD(m[i], s->run->timestamp, const uint64_t *);

		s->queue->counts->latency[bucket(now > due ? now - due : 0)]++;
	}
}

static void count_slice(struct sink *s, uint16_t n, uint64_t now)
{
	struct bench_queue *c = s->queue->counts;
	uint64_t own = c->source_ticks + c->sink_ticks;

	if (c->slices || c->received) {
		s->slice.packets += n;
		if (now - s->slice.ticks < s->run->control->slice || c->slices == BENCH_SLICES)
			return;
		c->slice_of[c->slices++] = (struct bench_slice){now - s->slice.ticks,
								s->slice.packets,
								own - s->slice.own};
	}
	s->slice = (struct bench_slice){now, 0, own};
}

static void count(struct sink *s, struct rte_mbuf **m, uint16_t n, uint64_t now)
{
	struct bench_queue *c = s->queue->counts;
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < n; i++)
		bytes += m[i]->pkt_len;
	if (s->run->control->slice)
		count_slice(s, n, now);
	c->received += n;
	c->received_bytes += bytes;
	if (s->queue->timed)
		count_latency(s, m, n, now);
}

/* At full rate count packets that arrive within the measured time; at a given rate count all packets
 * that were offered within it. */
uint16_t sink_send(void *txq, struct rte_mbuf **m, uint16_t n)
{
	struct sink *s = txq;
	struct queue *queue = s->queue;
	uint64_t now = rte_rdtsc();
	uint16_t all = n;

	n = drop_foreign(m, n);
	if (s->number == queue->port)
		queue->counts->returned += n;
	else
		queue->counts->arrived += n;
	if (s->number != queue->port && now >= __atomic_load_n(&queue->begin, __ATOMIC_ACQUIRE) &&
	    (queue->rated || now < queue->end))
		count(s, m, n, now);
	rte_pktmbuf_free_bulk(m, n);
	queue->counts->sink_ticks += rte_rdtsc() - now;
	return all;
}
