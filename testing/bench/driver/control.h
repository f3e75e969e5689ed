/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file control.h
 * The page through which the runner commands the ports of one process and reads
 * what they measured. It is a file of that size, mapped by both; control.py has
 * the same layout. Times are in ticks of the time-stamp counter.
 *
 * The runner fills in what is asked and then raises `go`; the queues of the port that is
 * the source of that set of frames start once each has seen it, and set `done` to the same
 * number once the time is over and the gateway has polled often enough since for
 * what it held to be out.
 */
#ifndef BENCH_CONTROL_H
#define BENCH_CONTROL_H

#include <stdint.h>

#define BENCH_QUEUES 16u
#define BENCH_SLICES 8192u
/* A latency falls into one of 32 buckets for each power of two: 3 percent apart. */
#define BENCH_BUCKET_BITS 5u
#define BENCH_BUCKETS (64u << BENCH_BUCKET_BITS)
/* The time between two packets has so many binary places. */
#define BENCH_GAP_SHIFT 16u

struct bench_slice {
	uint64_t ticks;
	uint64_t packets; /* that arrived at the sink in that time */
};

/* Of the queues with one number, of all ports: one lcore polls and fills them. */
struct bench_queue {
	/* The source writes. */
	uint64_t done;
	uint64_t offered, offered_bytes; /* missed ones included; Ethernet header, no FCS */
	uint64_t missed;
	uint64_t no_buffer; /* polls that found no free packet buffer */
	uint64_t reserved1[3];

	/* The sink writes. */
	uint64_t received, received_bytes;
	uint64_t returned; /* packets that left through the port they are offered at */
	uint64_t slices;
	uint64_t arrived; /* of all that was offered, also before it counted and after */
	uint64_t reserved2[3];
	struct bench_slice slice_of[BENCH_SLICES];
	uint64_t latency[BENCH_BUCKETS];
};

struct bench_control {
	/* The runner writes. */
	uint64_t go;
	uint64_t set;    /* of frames, in the order of the list */
	uint64_t gap;    /* between two packets of all queues, << BENCH_GAP_SHIFT; 0: when asked */
	uint64_t warmup; /* before anything counts */
	uint64_t ticks;  /* how long it counts */
	uint64_t slice;  /* length of one; 0: none */
	uint64_t ring;   /* packets that wait in a queue, as in a network card; more are missed */
	uint64_t drain;  /* how long the gateway may hold a packet */

	/* The ports write. */
	uint64_t hz; /* of the time-stamp counter */
	uint64_t queues;
	uint64_t reserved[6];
	struct bench_queue queue[BENCH_QUEUES];
};

#endif
