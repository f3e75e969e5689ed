/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/policy_stats.h"
#include "base/sadb.h"
#include "conf/conf.h"

struct count {
	struct policy_stats stats;
	uint32_t generation; /* of the policy; 0: nothing is counted */
	uint32_t reserved;
};

static struct count *counts[CONF_MAX_WORKERS];
static uint32_t ncounts;

int policy_stats_init(unsigned int workers, uint32_t policies)
{
	ncounts = policies;
	for (unsigned int w = 0; w < workers; w++) {
		/* Pages without a policy in use are never touched. */
		counts[w] = calloc(policies, sizeof(*counts[w]));
		if (!counts[w]) {
			policy_stats_free();
			return -ENOMEM;
		}
	}
	return 0;
}

void policy_stats_free(void)
{
	for (unsigned int w = 0; w < CONF_MAX_WORKERS; w++) {
		free(counts[w]);
		counts[w] = NULL;
	}
	ncounts = 0;
}

static void begin(struct count *count, uint32_t generation)
{
	__atomic_store_n(&count->generation, 0, __ATOMIC_RELAXED);
	/* A reader that sees the zeros, or a later count, sees that the generation has changed. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&count->stats.passed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&count->stats.dropped, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&count->generation, generation, __ATOMIC_RELEASE);
}

void policy_count(unsigned int worker, const struct cygnet_policy *policy, bool passed)
{
	uint32_t slot = cygnet_policy_index(sadb, policy);
	struct count *count;
	uint64_t *number;

	if (!counts[worker] || slot >= ncounts)
		return;
	count = &counts[worker][slot];
	if (count->generation != policy->generation)
		begin(count, policy->generation);
	number = passed ? &count->stats.passed : &count->stats.dropped;
	__atomic_store_n(number, *number + 1, __ATOMIC_RELAXED);
}

static bool read_count(const struct count *count, uint32_t generation, struct policy_stats *sum)
{
	uint64_t passed, dropped;

	if (__atomic_load_n(&count->generation, __ATOMIC_ACQUIRE) != generation)
		return false;
	passed = __atomic_load_n(&count->stats.passed, __ATOMIC_RELAXED);
	dropped = __atomic_load_n(&count->stats.dropped, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&count->generation, __ATOMIC_RELAXED) != generation)
		return false;
	sum->passed += passed;
	sum->dropped += dropped;
	return true;
}

bool policy_stats_read(uint32_t slot, uint32_t generation, struct policy_stats *sum)
{
	bool any = false;

	*sum = (struct policy_stats){0};
	for (unsigned int w = 0; w < CONF_MAX_WORKERS && slot < ncounts; w++)
		if (counts[w])
			any |= read_count(&counts[w][slot], generation, sum);
	return any;
}
