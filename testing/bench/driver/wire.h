/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file wire.h
 * The ports of net_bench. A port is a source and a sink: what a gateway polls
 * from it is written into the gateway's buffers on the spot, what the gateway
 * sends is counted and freed. No packet crosses to another core or process, so
 * nothing but the gateway limits the rate; with a rate set, packets become due by
 * the clock, wait in a ring of the size of a network card's, and are missed when
 * that is full.
 */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include <ethdev_driver.h>

#include "control.h"
#include "frames.h"

/* The run that goes on; all ports of the process share it. */
struct run {
	struct bench_control *control;
	struct frames *sets;
	unsigned int nsets;
	int timestamp;         /* offset in a packet buffer of when it became due */
	unsigned int port;     /* the source */
	bool rated;
	uint64_t begin, end;   /* of what counts; TSC */
};

struct source {
	struct run *run;
	struct rte_mempool *pool;
	uint16_t port;         /* DPDK's number */
	unsigned int number;   /* ours */
	const struct frames *frames; /* NULL: nothing to offer */
	uint32_t next;
	uint64_t go;           /* the last one seen */
	uint64_t start, due;   /* TSC; the next packet, << BENCH_GAP_SHIFT after start */
	uint64_t gap, ring;
	unsigned int drained; /* polls since the time was over */
};

struct sink {
	struct run *run;
	unsigned int number;
	uint64_t slice_start, slice_packets;
};

uint16_t source_receive(void *queue, struct rte_mbuf **m, uint16_t n);
uint16_t sink_send(void *queue, struct rte_mbuf **m, uint16_t n);

#endif
