/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file hold.h
 * Packets that a policy wants protected before there is an SA: the one that made a trap
 * policy ask charon, and those that come while charon negotiates, wait and leave when the
 * SA is there (RFC 4301, 4.4.1 and 5.1). A few of each policy, and not for long; none
 * ever leaves in plaintext. Each worker has its own; only that worker touches it.
 */
#ifndef CYGNETD_HOLD_H
#define CYGNETD_HOLD_H

#include <stdbool.h>
#include <stdint.h>

struct cygnet_flow;
struct cygnet_policy;
struct rte_mbuf;
struct worker;

#define HOLD_PACKETS 256u	/* of a worker */
#define HOLD_PER_POLICY 16u
#define HOLD_SECONDS 30u	/* Linux's net.core.xfrm_acq_expires */

struct held_packet {
	struct rte_mbuf *m;	/* data at its IP header, its hop taken */
	const struct cygnet_policy *policy; /* a name, together with */
	uint32_t generation;	/* its: never followed, it may be gone */
	bool asked;		/* charon has been asked, for this or another of that policy */
	uint64_t until;		/* clock_now */
};

struct hold {
	unsigned int n;
	uint64_t changes;	/* of the SPD before it was last looked at, and */
	uint64_t second;	/* when; clock_now */
	struct held_packet packet[HOLD_PACKETS];	/* in the order in which they came */
};

/**
 * Keep a packet until its policy has an SA, and ask charon for one. Of too many the oldest
 * is dropped. Takes over the packet.
 * @param m       a packet that policy says to protect
 * @param flow    its selectors
 * @param first   the policy was not used before in this second: charon is asked now; else
 *                in the next one, if nobody has asked meanwhile
 */
void hold_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_policy *policy,
	      const struct cygnet_flow *flow, bool first);
/** Protect those whose SA has come, drop those that have waited too long and those that
 * no policy wants protected any more. Does nothing unless the SPD has changed, or a
 * second has passed. Each turn in which something is held. */
void hold_retry(struct worker *w);
/** Drop all: cygnetd ends. */
void hold_drop(struct worker *w);

#endif
