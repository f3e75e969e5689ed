/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file route.h
 * The kernel's IPv4 routes, mirrored into a DPDK FIB. The control thread writes
 * (netlink), lcores look up without locks.
 */
#ifndef CYGNETD_ROUTE_H
#define CYGNETD_ROUTE_H

#include <stdint.h>

enum route_kind {
	ROUTE_NONE,		/* no route: unreachable */
	ROUTE_LOCAL,		/* one of our addresses, or broadcast or multicast: the kernel's */
	ROUTE_FORWARD,		/* out of a gateway port */
	ROUTE_KERNEL,		/* out of an interface that is none of our ports: the kernel's */
	ROUTE_BLACKHOLE,	/* blackhole, unreachable or prohibit */
};

struct next_hop {
	uint8_t kind;		/* enum route_kind */
	uint8_t port;		/* ROUTE_FORWARD: index in ports[] */
	uint16_t reserved;
	uint32_t gateway;	/* network byte order; 0: the destination itself is on link */
};

/**
 * Look up the next hop of each destination. Lcores.
 * @param dst   network byte order, n of them
 * @param hops  receives n copies
 */
void route_lookup_bulk(const uint32_t *dst, struct next_hop *hops, unsigned int n);

#endif
