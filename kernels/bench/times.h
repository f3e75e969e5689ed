/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file times.h
 * A distribution of times: whole microseconds below 64, then 32 steps to each doubling.
 */
#ifndef BENCH_TIMES_H
#define BENCH_TIMES_H

#include <stdint.h>
#include <stdio.h>

#define TIMES_BITS    5
#define TIMES_BUCKETS (28 << TIMES_BITS) /* up to two minutes */

struct times {
	uint64_t bucket[TIMES_BUCKETS];
};

void times_add(struct times *t, uint64_t us);
void times_merge(struct times *sum, const struct times *t);

/** @param share  of all, 0 to 1 @return microseconds that no more than the rest exceed */
double times_share(const struct times *t, double share);

/** A line for each bucket that is not empty: its upper end, how many; and an empty one. */
void times_write(const struct times *t, FILE *out);

#endif
