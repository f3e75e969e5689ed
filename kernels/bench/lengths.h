/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file lengths.h
 * Lengths of the payloads that the benchmarks encrypt: one size, uniform, or a
 * mix of testing/bench/mixes.def. Whole blocks of 16 bytes, as packets after padding.
 */
#ifndef BENCH_LENGTHS_H
#define BENCH_LENGTHS_H

#include <stdint.h>

#define LENGTH_MAX   9216u /* bytes: as long as jumbo frames are */
#define LENGTH_BLOCK 16u
#define LENGTH_SIZES 4u

/** What lengths there are and how often. */
struct lengths {
	uint32_t low, high; /* uniform between these, if high is not 0 */
	uint32_t sizes, sum;
	uint32_t bytes[LENGTH_SIZES], share[LENGTH_SIZES];
};

/**
 * @param name  bytes (up to 9,216, rounded up to blocks), "random" (64 to 1,280), or the
 *		name of a mix
 * @return 0, or -EINVAL if it is none of these
 */
int lengths_find(struct lengths *l, const char *name);

/** The longest there is, bytes. */
uint32_t lengths_longest(const struct lengths *l);

/** @param random  32 random bits @return bytes */
uint32_t lengths_draw(const struct lengths *l, uint32_t random);

#endif
