/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_wait.h
 * Packets waiting for an SA. A packet whose policy protects it but has no SA yet makes the worker
 * ask charon (base/acquire.h), and again every second. It and later packets of its pair of
 * addresses wait while charon negotiates, and leave in their order when the SA is there (RFC 4301,
 * 4.4.1 and 5.1). Their number is limited by pair and by worker (path/worker/sa_wait_list.h), and
 * their time to SA_WAIT_SECONDS; none leaves in plaintext. Each worker has a list that only it
 * touches.
 */
#ifndef CYGNETD_SA_WAIT_H
#define CYGNETD_SA_WAIT_H

#include "path/worker/worker.h"

/**
 * Keep a packet until its policy has an SA, and ask charon for one. If there is no room, a packet
 * is dropped. Takes over the packet.
 * @param m     a packet that policy says to protect
 * @param flow  its selectors
 */
void sa_wait_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_policy *policy,
		 const struct cygnet_flow *flow);
/**
 * Have a packet protected with the SA of its policy. If there is none, sa_wait_add().
 * Takes over the packet.
 * @param m     a packet that policy says to protect
 * @param flow  its selectors
 */
void sa_wait_or_protect(struct worker *w, struct rte_mbuf *m, struct cygnet_policy *policy,
			const struct cygnet_flow *flow);
/** Protect the packets whose SA has come; drop packets that have waited too long, or that no
 * policy protects any more; ask charon again for others. Looks up some packets, and the others in
 * later turns, when the SPD has changed or a second has passed. Each turn in which packets wait. */
void sa_wait_retry(struct worker *w);
/** Drop all packets that wait: cygnetd ends. */
void sa_wait_drop(struct worker *w);

#endif
