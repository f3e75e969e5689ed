/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>

#include "wire.h"

#define AHEAD 8u /* number of frames that are prefetched before they are copied */
#define DRAIN_POLLS \
	2000u /* polls after the last packet, in which the gateway sends what it holds */

/* The rate of a queue is proportional to the number of its frames. */
static void begin_run(struct source *s, const struct bench_control *c)
{
	struct queue *queue = s->queue;
	uint32_t mine = s->end - s->first;

	s->start = rte_rdtsc();
	s->gap = mine ? c->gap * s->frames->n / mine : 0;
	s->ring = c->ring;
	s->due = 0;
	s->drained = 0;
	s->running = true;
	queue->port = s->number;
	queue->rated = c->gap != 0;
	queue->timed = c->gap && c->timed;
	queue->end = s->start + c->warmup + c->ticks;
	__atomic_store_n(&queue->begin, s->start + c->warmup, __ATOMIC_RELEASE);
}

static void arm(struct source *s, const struct bench_control *c)
{
	struct bench_queue *counts = s->queue->counts;

	s->frames = &s->run->sets[c->set];
	s->first = s->frames->first[s->index];
	s->end = s->frames->first[s->index + 1];
	s->next = s->first;
	counts->offered = counts->offered_bytes = counts->missed = counts->no_buffer = 0;
	counts->received = counts->received_bytes = counts->returned = 0;
	counts->slices = counts->arrived = 0;
	counts->source_ticks = counts->sink_ticks = 0;
	memset(counts->latency, 0, sizeof(counts->latency));
	s->waits = true;
	__atomic_store_n(&s->queue->armed, s->go, __ATOMIC_RELEASE);
}

/* A gateway may send a packet by another queue, so all queues start together. */
static bool all_armed(const struct source *s)
{
	for (unsigned int q = 0; q < s->queues; q++)
		if (__atomic_load_n(&s->run->queue[q].armed, __ATOMIC_ACQUIRE) != s->go)
			return false;
	return true;
}

/* Look for a new run. @return whether a run begins now */
static bool command(struct source *s)
{
	const struct bench_control *c = s->run->control;
	uint64_t go = __atomic_load_n(&c->go, __ATOMIC_ACQUIRE);

	if (unlikely(go != s->go)) {
		s->go = go;
		if (c->set < s->run->nsets && s->run->sets[c->set].port == s->number)
			arm(s, c);
	}
	if (likely(!s->waits) || !all_armed(s))
		return false;
	s->waits = false;
	begin_run(s, c);
	return true;
}

static void end_run(struct source *s, uint64_t now)
{
	if (++s->drained < DRAIN_POLLS || now < s->queue->end + s->run->control->drain)
		return;
	s->running = false;
	__atomic_store_n(&s->queue->counts->done, s->go, __ATOMIC_RELEASE);
}

/* Number of packets that are due, at most n. Packets for which the ring has no room are missed. */
static uint16_t waiting(struct source *s, uint64_t now, uint16_t n)
{
	struct bench_queue *c = s->queue->counts;
	uint64_t past = (now - s->start) << BENCH_GAP_SHIFT, behind;

	if (past < s->due)
		return 0;
	behind = (past - s->due) / s->gap + 1;
	if (behind > s->ring) {
		c->missed += behind - s->ring;
		c->offered += behind - s->ring;
		s->due += (behind - s->ring) * s->gap;
		behind = s->ring;
	}
	return (uint16_t)RTE_MIN(behind, n);
}

static void stamp(struct source *s, struct rte_mbuf *m)
{
	if (s->queue->timed)
		*RTE_MBUF_DYNFIELD(m, s->run->timestamp, uint64_t *) = s->start +
								       (s->due >> BENCH_GAP_SHIFT);
	s->due += s->gap;
}

static unsigned int write_frame(struct source *s, struct rte_mbuf *m)
{
	const struct frame *frame = &s->frames->frame[s->next];
	uint8_t *to = rte_pktmbuf_mtod(m, uint8_t *);

	for (unsigned int offset = 0; offset < frame->copy; offset += FRAME_STEP)
		rte_mov64(to + offset, frame->data + offset);
	m->data_len = frame->len;
	m->pkt_len = frame->len;
	m->port = s->port;
	if (++s->next == s->end)
		s->next = s->first;
	return frame->len;
}

/* Prefetch, because a network card would have written the frame into the cache. */
static void fetch_ahead(const struct source *s, struct rte_mbuf *const *m, uint16_t left)
{
	uint32_t next = s->next + AHEAD;

	if (next < s->end)
		rte_prefetch0(s->frames->frame[next].data);
	if (left <= AHEAD || next >= s->end)
		return;
	for (unsigned int offset = 0;
	     offset < s->frames->frame[next].copy + RTE_CACHE_LINE_SIZE - 1u;
	     offset += RTE_CACHE_LINE_SIZE)
		rte_prefetch0_write(rte_pktmbuf_mtod_offset(m[AHEAD], void *, offset));
}

/* A network card writes frames into the last-level cache, where it may (DDIO). What the worker has left of a buffer in its
 * own caches, and what the source has written, goes there. Other processors than recent ones of Intel do nothing. */
static void demote(struct rte_mbuf *const *m, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		for (unsigned int offset = 0; offset < m[i]->data_len;
		     offset += RTE_CACHE_LINE_SIZE)
			rte_cldemote(rte_pktmbuf_mtod_offset(m[i], void *, offset));
}

uint16_t source_receive(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct source *s = queue;
	struct bench_queue *c = s->queue->counts;
	uint64_t now, bytes = 0;

	if (!s->running && !command(s))
		return 0;
	now = rte_rdtsc();
	if (now >= s->queue->end) {
		end_run(s, now);
		return 0;
	}
	if (s->first == s->end)
		return 0;
	if (s->gap)
		n = waiting(s, now, n);
	if (!n)
		return 0;
	if (rte_pktmbuf_alloc_bulk(s->pool, m, n)) {
		c->no_buffer++;
		return 0;
	}
	for (uint16_t i = 0; i < n; i++) {
		fetch_ahead(s, m + i, n - i);
		bytes += write_frame(s, m[i]);
		if (s->gap)
			stamp(s, m[i]);
	}
	if (s->run->control->demote)
		demote(m, n);
	c->offered += n;
	c->offered_bytes += bytes;
	c->source_ticks += rte_rdtsc() - now;
	return n;
}
