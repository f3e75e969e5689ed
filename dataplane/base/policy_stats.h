/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file policy_stats.h
 * Packets by policy. Each worker counts in an array of its own, by the policy's slot: workers share no
 * cache line. Counts begin anew when a slot is given to another policy, and when cygnetd starts.
 */
#ifndef CYGNETD_POLICY_STATS_H
#define CYGNETD_POLICY_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

/** Lookups that found a policy. Packets of known flows are not looked up: to count them too would cost
 * two more cache lines a packet, which with many tunnels is more than all else. */
struct policy_stats {
	uint64_t passed; /* packets that were protected, accepted from an SA or left in plaintext */
	uint64_t dropped; /* packets that were discarded, or that should have come from another SA or
				 * from any */
};

/** Before the workers start. @return 0 or -ENOMEM */
int policy_stats_init(unsigned int workers, uint32_t policies);
/** After the workers and telemetry have ended. */
void policy_stats_free(void);
/** Count a packet. @param worker  the caller's number */
void policy_count(unsigned int worker, const struct cygnet_policy *policy, bool passed);
/** Sum of the workers' counts of a policy. Any thread. @return false: none has counted */
bool policy_stats_read(uint32_t slot, uint32_t generation, struct policy_stats *sum);

#endif
