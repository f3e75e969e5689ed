/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file route_action.h
 * What the route stage decides about a packet.
 */
#ifndef CYGNETD_ROUTE_ACTION_H
#define CYGNETD_ROUTE_ACTION_H

#include "host/route.h"

struct rte_mbuf;

enum route_action {
	ROUTE_SEND,		/* to the neighbour */
	ROUTE_FRAGMENT,		/* to the neighbour, in fragments */
	ROUTE_TOO_BIG,		/* longer than the MTU, and may not be fragmented here */
	ROUTE_TO_KERNEL,	/* to the kernel */
	ROUTE_UNREACHABLE,	/* no route */
	ROUTE_UNUSABLE,		/* only the kernel could send it, which does not take a packet from its own address */
};

/**
 * Decide how a packet goes on. Changes nothing. Lcores, or under control_lock().
 * @param m    data at its IP header, checked, with its struct packet
 * @param hop  packet_route()
 */
enum route_action route_decide(struct rte_mbuf *m, const struct next_hop *hop);

#endif
