/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_common.h>

#include "times.h"

#define STEPS (1u << TIMES_BITS)

void times_add(struct times *t, uint64_t us)
{
	uint32_t power = us < 2 * STEPS ? 0 : 63 - __builtin_clzll(us) - TIMES_BITS;

	t->bucket[RTE_MIN(power * STEPS + (us >> power), TIMES_BUCKETS - 1u)]++;
}

/* The largest time of a bucket. */
static uint64_t upper_end(uint32_t bucket)
{
	uint32_t power = bucket < 2 * STEPS ? 0 : bucket / STEPS - 1;

	return ((uint64_t)(bucket - power * STEPS + 1) << power) - 1;
}

void times_merge(struct times *sum, const struct times *t)
{
	for (uint32_t i = 0; i < TIMES_BUCKETS; i++)
		sum->bucket[i] += t->bucket[i];
}

double times_share(const struct times *t, double share)
{
	uint64_t all = 0, seen = 0;
	uint32_t i;

	for (i = 0; i < TIMES_BUCKETS; i++)
		all += t->bucket[i];
	for (i = 0; i < TIMES_BUCKETS - 1; i++) {
		seen += t->bucket[i];
		if (seen >= share * all)
			break;
	}
	return upper_end(i);
}

void times_write(const struct times *t, FILE *out)
{
	for (uint32_t i = 0; i < TIMES_BUCKETS; i++) {
		if (t->bucket[i])
			fprintf(out, "%lu %lu\n", upper_end(i), t->bucket[i]);
	}
	fprintf(out, "\n");
	fflush(out);
}
