/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>

#include "wire.h"

#define AHEAD 8u /* frames whose template is fetched before it is copied */
#define DRAIN_POLLS 2000u /* after the last packet: what the gateway holds gets out */

static void begin_run(struct source *s, struct bench_control *c)
{
	struct run *run = s->run;

	s->frames = &run->sets[c->set];
	s->start = rte_rdtsc();
	s->gap = c->gap;
	s->ring = c->ring;
	s->due = 0;
	s->drained = 0;
	c->offered = c->offered_bytes = c->missed = c->no_buffer = 0;
	c->received = c->received_bytes = c->returned = c->slices = c->arrived = 0;
	memset(c->latency, 0, sizeof(c->latency));
	run->port = s->number;
	run->rated = c->gap != 0;
	run->end = s->start + c->warmup + c->ticks;
	__atomic_store_n(&run->begin, s->start + c->warmup, __ATOMIC_RELEASE);
}

/* @return whether there is something to offer */
static bool command(struct source *s)
{
	struct bench_control *c = s->run->control;
	uint64_t go = __atomic_load_n(&c->go, __ATOMIC_ACQUIRE);

	if (likely(go == s->go))
		return false;
	s->go = go;
	if (c->set < s->run->nsets && s->run->sets[c->set].port == s->number)
		begin_run(s, c);
	return s->frames;
}

static void end_run(struct source *s)
{
	if (++s->drained < DRAIN_POLLS)
		return;
	s->frames = NULL;
	__atomic_store_n(&s->run->control->done, s->go, __ATOMIC_RELEASE);
}

/* How many packets wait by now; those beyond the ring are lost. */
static uint16_t waiting(struct source *s, uint64_t now, uint16_t n)
{
	struct bench_control *c = s->run->control;
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
	*RTE_MBUF_DYNFIELD(m, s->run->timestamp, uint64_t *) =
		s->start + (s->due >> BENCH_GAP_SHIFT);
	s->due += s->gap;
}

static unsigned int write_frame(struct source *s, struct rte_mbuf *m)
{
	const struct frame *frame = &s->frames->frame[s->next];
	uint8_t *to = rte_pktmbuf_mtod(m, uint8_t *);

	for (unsigned int at = 0; at < frame->copy; at += FRAME_STEP)
		rte_mov64(to + at, frame->data + at);
	m->data_len = frame->len;
	m->pkt_len = frame->len;
	m->port = s->port;
	if (++s->next == s->frames->n)
		s->next = 0;
	return frame->len;
}

static void fetch_ahead(const struct source *s)
{
	uint32_t next = s->next + AHEAD;

	if (next < s->frames->n)
		rte_prefetch0(s->frames->frame[next].data);
}

uint16_t source_receive(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct source *s = queue;
	struct bench_control *c = s->run->control;
	uint64_t now, bytes = 0;

	if (!s->frames && !command(s))
		return 0;
	now = rte_rdtsc();
	if (now >= s->run->end) {
		end_run(s);
		return 0;
	}
	if (s->gap)
		n = waiting(s, now, n);
	if (!n)
		return 0;
	if (rte_pktmbuf_alloc_bulk(s->pool, m, n)) {
		c->no_buffer++;
		return 0;
	}
	for (uint16_t i = 0; i < n; i++) {
		fetch_ahead(s);
		bytes += write_frame(s, m[i]);
		if (s->gap)
			stamp(s, m[i]);
	}
	c->offered += n;
	c->offered_bytes += bytes;
	return n;
}
