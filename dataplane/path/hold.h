/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file hold.h
 * Packets that a policy wants protected before there is an SA: the one that made a trap
 * policy ask charon, and packets that come while charon negotiates, wait and leave when the
 * SA is there (RFC 4301, 4.4.1 and 5.1). A few of each policy, and not for long; none
 * ever leaves in plaintext. Each worker has its own; only that worker touches it.
 */
#ifndef CYGNETD_HOLD_H
#define CYGNETD_HOLD_H

#include "path/worker/worker.h"

/**
 * Keep a packet until its policy has an SA, and ask charon for one. Of too many packets the oldest is
 * dropped. Takes over the packet.
 * @param m      a packet that policy says to protect
 * @param flow   its selectors
 * @param first  the policy was not used before in this second: charon is asked now; else in the
 *		 next second, if no packet has had charon asked meanwhile
 */
void hold_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_policy *policy,
	      const struct cygnet_flow *flow, bool first);
/**
 * Have a packet protected with the SA of its policy. If there is none, hold_add().
 * Takes over the packet.
 * @param m         a packet that policy says to protect
 * @param flow      its selectors
 * @param last_use  policy_use(): charon is asked if that is not this second
 */
void hold_or_protect(struct worker *w, struct rte_mbuf *m, struct cygnet_policy *policy,
		     const struct cygnet_flow *flow, uint64_t last_use);
/** Protect the packets whose SA has come; drop packets that have waited too long, or that no policy
 * wants protected any more. Does nothing unless the SPD has changed, or a second has passed. Each
 * turn in which packets are held. */
void hold_retry(struct worker *w);
/** Drop all: cygnetd ends. */
void hold_drop(struct worker *w);

#endif
