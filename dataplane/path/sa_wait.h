/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_wait.h
 * Packets waiting for an SA. If a packet's policy protects it but has no SA yet, the worker raises
 * an acquire (base/acquire.h), and another one every second. The packet and later ones of its pair
 * of addresses wait while charon negotiates, and leave in their order when there is an SA
 * (RFC 4301, 4.4.1 and 5.1). Their number is limited by pair and by worker (path/worker/sa_wait_list.h), and
 * their time to SA_WAIT_SECONDS; none leaves in plaintext. Each worker has a list that only it
 * touches.
 */
#ifndef CYGNETD_SA_WAIT_H
#define CYGNETD_SA_WAIT_H

#include "path/worker/worker.h"

/**
 * Queue a packet until its policy has an SA, and raise an acquire. If a queue is full, a packet
 * is dropped. Takes over the packet.
 * @param m     a packet that policy says to protect
 * @param flow  its selectors
 */
void sa_wait_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_policy *policy,
		 const struct cygnet_flow *flow);
/**
 * Have a packet protected with the SA of its policy, by cygnet_policy_sa_for(). If there is none, sa_wait_add().
 * Takes over the packet.
 * @param m     a packet that policy says to protect
 * @param flow  its selectors
 */
void sa_wait_or_protect(struct worker *w, struct rte_mbuf *m, struct cygnet_policy *policy,
			const struct cygnet_flow *flow);
/** Protect the packets whose SA has come; drop packets that have waited too long, or that no
 * policy protects any more; raise acquires for the others. Called in each turn in which packets
 * wait. After a change of the SPD, and each second, all packets are looked up, a limited number in
 * a turn. */
void sa_wait_retry(struct worker *w);
/** Drop all packets that wait: cygnetd ends. */
void sa_wait_drop(struct worker *w);

#endif
