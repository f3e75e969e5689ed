/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file wire.h
 * The ports of net_bench. A port is a source and a sink for each of its queues: what a
 * gateway polls from it is written into the gateway's buffers on the spot, what the
 * gateway sends is counted and freed. No packet crosses to another core or process, so
 * nothing but the gateway limits the rate; with a rate set, packets become due by
 * the clock, wait in a ring of the size of a network card's, and are missed when
 * that is full.
 */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include <ethdev_driver.h>

#include "control.h"
#include "frames.h"

/* The queues with one number in the run that goes on. */
struct queue {
	struct bench_queue *counts;
	uint64_t armed;      /* the last `go` that the source has seen; atomic */
	unsigned int port;   /* the source's */
	bool rated;
	uint64_t begin, end; /* of what counts; TSC */
} __rte_cache_aligned;

/* What all ports of the process share. */
struct run {
	struct bench_control *control;
	struct frames *sets;
	unsigned int nsets;
	int timestamp; /* offset in a packet buffer of when it became due */
	struct queue queue[BENCH_QUEUES];
};

struct source {
	struct run *run;
	struct queue *queue;
	struct rte_mempool *pool;
	uint16_t port;         /* DPDK's number */
	unsigned int number;   /* ours */
	uint16_t index;        /* of the queue, */
	uint16_t queues;       /* of so many */
	bool waits;            /* for the other queues to have seen `go` */
	bool running;
	const struct frames *frames;
	uint32_t first, next, end; /* of the frames' places in the set */
	uint64_t go;           /* the last one seen */
	uint64_t start, due;   /* TSC; the next packet, << BENCH_GAP_SHIFT after start */
	uint64_t gap, ring;
	unsigned int drained; /* polls since the time was over */
} __rte_cache_aligned;

struct sink {
	struct run *run;
	struct queue *queue;
	unsigned int number;
	uint64_t slice_start, slice_packets;
} __rte_cache_aligned;

uint16_t source_receive(void *queue, struct rte_mbuf **m, uint16_t n);
uint16_t sink_send(void *queue, struct rte_mbuf **m, uint16_t n);

#endif
