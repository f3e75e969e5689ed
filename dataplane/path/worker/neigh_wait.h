/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file neigh_wait.h
 * Packets whose next hop the kernel is resolving. A few wait, as they do in the kernel's own
 * neighbour queue (RFC 1122, 2.3.2.2), so that the first packets to a neighbour are not lost. If the
 * SPD has changed meanwhile, plaintext is looked up again: it leaves, is dropped, or is protected.
 */
#ifndef CYGNETD_NEIGH_WAIT_H
#define CYGNETD_NEIGH_WAIT_H

#include "host/neigh.h"
#include "path/worker/worker.h"

/** Keep a packet (data at its IP header) until its next hop is resolved, three seconds at the
 * most. Takes it over. */
void neigh_wait_add(struct worker *w, struct rte_mbuf *m, const struct neigh *neigh);
/** Send the packets whose next hop has been resolved meanwhile: something has changed. */
void neigh_wait_retry(struct worker *w);
/** Drop the packets that have waited too long. Each turn. */
void neigh_wait_expire(struct worker *w);
/** The MAC address of a neighbour, for packets that are to leave now: packets that wait for it are
 * sent first. @return false if it is not resolved */
bool neigh_wait_resolve(struct worker *w, const struct neigh *neigh, struct rte_ether_addr *mac);
/** Drop all. */
void neigh_wait_drop(struct worker *w);

#endif
