/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file neigh_wait.h
 * Packets whose next hop the kernel is resolving. A few wait, as they do in the kernel's own
 * neighbour queue (RFC 1122, 2.3.2.2), so that the first packets to a neighbour are not lost. If the
 * SPD has changed meanwhile, plaintext is looked up again: it leaves, is dropped, or is protected.
 */
#ifndef CYGNETD_NEIGH_WAIT_H
#define CYGNETD_NEIGH_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "host/neigh.h"

struct rte_mbuf;
struct worker;

/** Neighbours at a time, and packets of each: a neighbour that does not answer takes no room from
 * the others. */
#define NEIGH_WAIT_NEIGHBOURS 64u
#define NEIGH_WAIT_PACKETS 32u

struct waiting_neigh {
	struct neigh neigh;
	uint64_t until;		/* flow_table.now */
	uint64_t databases;	/* worker.databases before the policies of its first packet were looked up */
	unsigned int n;
	struct rte_mbuf *head, *tail; /* by packet()->next; data at the IP header */
};

struct neigh_wait {
	unsigned int n;
	struct waiting_neigh of[NEIGH_WAIT_NEIGHBOURS]; /* the oldest first */
};

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
