/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_route.h
 * The route of an SA: what its packets share as long as nothing changes around the SA. Where they
 * go, how long they may be, what they may still use.
 */
#ifndef CYGNETD_SA_ROUTE_H
#define CYGNETD_SA_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

struct cygnet_sa;

struct sa_route {
	/* One cache line that each packet reads. */
	uint32_t epoch;		/* flow_table.epoch in which the route is valid */
	uint16_t longest;	/* inner packet without a look at its length, bytes; 0: none */
	uint16_t mtu;		/* of packets on the way out, bytes */
	uint64_t until;		/* flow_table.now: valid for packets handed off by other workers */
	struct cygnet_sa *sa;	/* in the SAD */
	uint64_t bytes, packets, seq; /* limits of the SA: below them charon need not hear of it */
	uint8_t interface;	/* that packets leave by */
	uint8_t af;		/* of the outer header */
	bool by_batch;		/* packets need no struct packet: a device of the CPU is called */
	bool resolved;		/* the next hop's MAC address is known */
	/* Seldom read. */
	uint8_t eth[14];	/* Ethernet header to the next hop, if resolved */
};

#endif
