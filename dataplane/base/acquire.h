/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file acquire.h
 * Acquires: events that make charon negotiate an SA, and their rate.
 *
 * Charon has one negotiation at a time for a reqid, whatever the packet. Policies in transport
 * mode for any peer are the exception: there the peer is the packet's destination, and charon
 * negotiates for each pair of addresses, or each pair of addresses and ports where the policy
 * selects by ports. Linux keeps one larval SA per template end points, mode and reqid
 * (xfrm_state_find()). Policies that are per CPU (RFC 9611) have one more for each worker, which gets an SA of its own.
 *
 * Acquires of one negotiation are raised once a second at the most, by one of the workers. The
 * number of all acquires is limited. One source under one reqid may cause half of them, so that a
 * host that scans a network behind a trap does not use up those of other hosts.
 */
#ifndef CYGNETD_ACQUIRE_H
#define CYGNETD_ACQUIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cygnet.h"

/** Acquires in all: so many at once, after that so many a second. */
#define ACQUIRES_AT_ONCE    2048u
#define ACQUIRES_PER_SECOND 256u

/** Seconds between two acquires for an SA of one CPU, as in Linux: its packets have another SA meanwhile. */
#define ACQUIRE_CPU_SECONDS 165u

/** The selectors of a packet, reduced to those by which a policy can have several SAs: addresses,
 * and the ports that the policy selects. Everything else is zero. Any thread. */
void acquire_flow(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
		  struct cygnet_flow *reduced);
/**
 * Raise an acquire for a policy, within the limits. Lcores; never blocks.
 * @param policy   protects, and has no SA
 * @param flow     the packet's selectors, which charon gets
 * @param seconds  since the last acquire of the same negotiation, at least: 1 or more
 * @return         true: raised; false: the last one is too recent, or a limit is reached: try
 *                 again in the next second
 */
bool acquire_raise(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
		   unsigned int seconds);
/**
 * Raise an acquire for an SA that a policy has not, beside those that it has: at most once in ACQUIRE_CPU_SECONDS, unless it
 * was answered meanwhile. Lcores; never blocks.
 * @param policy  is per CPU
 * @param cpu     that the SA is to be for; CYGNET_CPU_ANY: for all
 * @return        whether it was raised
 */
bool acquire_raise_cpu(const struct cygnet_policy *policy, const struct cygnet_flow *flow, int cpu);
/** An SA has come that acquire_raise_cpu() may have asked for: when it is gone, the next acquire is raised at once. Lcores. */
void acquire_answered(const struct cygnet_policy *policy, const struct cygnet_flow *flow, int cpu);
/** A hash that senders of packets cannot predict. Lcores. */
uint64_t acquire_hash(const void *data, size_t size);

/** Before the workers start. @return 0 or -errno */
int acquires_init(void);

#endif
