/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file wire.h
 * The ports of net_bench. Each queue of a port has a source and a sink. When a gateway polls,
 * the source writes frames into the gateway's packet buffers. The sink counts and frees the
 * packets that the gateway sends. No packet crosses to another core or process, so only the
 * gateway limits the rate. If a rate is set, packets become due by the clock, and wait in a
 * ring of the size of a network card's. Packets that become due while the ring is full are
 * missed.
 */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include <ethdev_driver.h>

#include "control.h"
#include "frames.h"

/* The state of the current run, for the queues of all ports with the same number. */
struct queue {
	struct bench_queue *counts;
	uint64_t armed;	     /* last value of `go` that the source has seen; atomic */
	unsigned int port;   /* number of the port that is the source */
	bool rated, timed;   /* a rate is set; and latencies are counted */
	uint64_t begin, end; /* of the measured time, TSC; begin is atomic */
} __rte_cache_aligned;

/* The state that all ports of the process share. */
struct run {
	struct bench_control *control;
	struct frames *sets;
	unsigned int nsets;
	int timestamp; /* offset of the dynamic field of an mbuf: TSC at which it became due */
	struct queue queue[BENCH_QUEUES];
};

/* The source of one queue. */
struct source {
	struct run *run;
	struct queue *queue;
	struct rte_mempool *pool;
	uint16_t port;	     /* DPDK's number of the port */
	unsigned int number; /* the bench's number of the port */
	uint16_t index;	     /* of the queue */
	uint16_t queues;     /* number of queues of the port */
	bool waits;	     /* until the other queues have seen `go` */
	bool running;
	const struct frames *frames;
	uint32_t first, next, end; /* indices of the queue's frames in the set */
	uint64_t go;		   /* last value seen */
	uint64_t start;		   /* of the run, TSC */
	uint64_t due;	      /* time of the next packet after start, ticks << BENCH_GAP_SHIFT */
	uint64_t gap;	      /* between two packets of this queue, as in struct bench_control */
	uint64_t ring;	      /* as in struct bench_control */
	unsigned int drained; /* polls since the end of the measured time */
} __rte_cache_aligned;

/* The sink of one queue. */
struct sink {
	struct run *run;
	struct queue *queue;
	unsigned int number; /* the bench's number of the port */
	struct bench_slice
		slice; /* the current one: when it began, its packets, and the queue's own ticks by then */
} __rte_cache_aligned;

/** The receive function of a queue (eth_rx_burst_t). */
uint16_t source_receive(void *queue, struct rte_mbuf **m, uint16_t n);
/** The transmit function of a queue (eth_tx_burst_t). Sends all packets. */
uint16_t sink_send(void *queue, struct rte_mbuf **m, uint16_t n);

#endif
