/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file acquire.h
 * Acquires: when charon is asked for an SA, and how often.
 *
 * A question is what one negotiation answers. Charon has one negotiation at a time for a reqid,
 * whatever the packet, so that all packets of a reqid are one question. Policies in transport
 * mode for any peer are the exception: there the peer is the packet's destination, and each pair
 * of addresses is a question, or each pair with its ports where the policy selects by ports.
 * Linux has a larval SA for each of the same things (xfrm_state_find()).
 *
 * A question is asked once a second at the most, by one of the workers. All questions together
 * are limited, and so are those of one source under one reqid, to half of that: a host that scans
 * a network behind a trap floods neither charon nor the others' questions.
 */
#ifndef CYGNETD_ACQUIRE_H
#define CYGNETD_ACQUIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cygnet.h"

/** Acquires in all: so many at once, after that so many a second. */
#define ACQUIRES_AT_ONCE 2048u
#define ACQUIRES_PER_SECOND 256u

/** The selectors of a packet, reduced to those by which a policy can have several SAs: addresses,
 * and the ports that the policy selects. Everything else is zero. Any thread. */
void acquire_flow(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
		  struct cygnet_flow *reduced);
/**
 * Ask charon for the SA of a policy, if that may be asked now. Lcores; never blocks.
 * @param policy   protects, and has no SA
 * @param flow     the packet's selectors, which charon gets
 * @param seconds  since the question was asked, at least: 1 or more
 * @return         true: charon is asked now; false: it was asked less long ago, or there are too
 *                 many questions: try again in the next second
 */
bool acquire_raise(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
		   unsigned int seconds);
/** A hash that senders of packets cannot predict. Lcores. */
uint64_t acquire_hash(const void *data, size_t size);

/** Before the workers start. @return 0 or -errno */
int acquires_init(void);

#endif
