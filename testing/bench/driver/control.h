/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file control.h
 * Shared memory by which the runner controls the ports of one process and reads their
 * measurements. It is a file that both map; control.py has the same layout. Times are in
 * ticks of the time-stamp counter.
 *
 * The runner fills in the parameters of a run and then increments `go`. The port that is the
 * source of the set of frames starts when each of its queues has seen the new value. A queue
 * sets `done` to this value when the time is over and the gateway has polled often enough to
 * send all packets that it held.
 */
#ifndef BENCH_CONTROL_H
#define BENCH_CONTROL_H

#include <stdint.h>

#define BENCH_QUEUES 16u
#define BENCH_SLICES 8192u
/* Latencies are counted in 32 buckets for each power of two, 3 percent apart. */
#define BENCH_BUCKET_BITS 5u
#define BENCH_BUCKETS	  (64u << BENCH_BUCKET_BITS)
/* Number of fractional bits of the time between two packets. */
#define BENCH_GAP_SHIFT 16u

struct bench_slice {
	uint64_t ticks;	  /* length of the slice */
	uint64_t packets; /* received by the sink in the slice */
	uint64_t own;	  /* of these ticks: those of source and sink */
};

/* The queues of all ports with the same number. One lcore of the gateway polls and fills them. */
struct bench_queue {
	/* Written by the source. */
	uint64_t done;		/* number of the last run that has ended */
	uint64_t offered;	/* packets, including missed ones */
	uint64_t offered_bytes; /* of packets that were not missed, with Ethernet header, without FCS */
	uint64_t missed;	/* packets for which the ring had no room */
	uint64_t no_buffer;	/* polls that found no free packet buffer */
	uint64_t source_ticks; /* in the source, when it had packets */
	uint64_t reserved1[2];

	/* Written by the sink. */
	uint64_t received, received_bytes; /* within the measured time */
	uint64_t returned;		   /* packets sent by the port that is the source */
	uint64_t slices;		   /* number of slice_of in use */
	uint64_t arrived;    /* packets received, also before and after the measured time */
	uint64_t sink_ticks; /* in the sink */
	uint64_t reserved2[2];
	struct bench_slice slice_of[BENCH_SLICES];
	uint64_t latency[BENCH_BUCKETS]; /* number of packets in each bucket */
};

struct bench_control {
	/* Written by the runner. */
	uint64_t go;	 /* number of the run */
	uint64_t set;	 /* index of the set of frames in the list */
	uint64_t gap;	 /* between two packets of all queues, << BENCH_GAP_SHIFT; 0: full rate */
	uint64_t warmup; /* time before the measured time */
	uint64_t ticks;	 /* length of the measured time */
	uint64_t slice;	 /* length of a slice; 0: no slices */
	uint64_t ring;	 /* packets that a queue holds, as in a network card; more are missed */
	uint64_t drain;	 /* longest time that the gateway may hold a packet */
	uint64_t demote; /* 1: frames are in the last-level cache when they come, as if a network card had written them (CLDEMOTE) */
	uint64_t timed; /* 1: at a given rate packets carry the time at which they are due, for their latency */

	/* Written by the ports. */
	uint64_t hz;	 /* frequency of the time-stamp counter */
	uint64_t queues; /* number of queues of a port */
	uint64_t reserved[4];
	struct bench_queue queue[BENCH_QUEUES];
};

#endif
