/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file way.h
 * What the packets of an SA share beyond the session as long as nothing changes around them:
 * where they go, how long they may be, what they may still use.
 */
#ifndef CYGNETD_WAY_H
#define CYGNETD_WAY_H

#include <stdbool.h>
#include <stdint.h>

struct cygnet_sa;
struct session;
struct worker;

struct way {
	/* One cache line: */
	uint32_t epoch;		/* of flow_table: in another one it is void, */
	uint16_t longest;	/* inner packet that needs no second thought, bytes; 0: each does */
	uint16_t mtu;		/* of packets on the way out, bytes */
	uint64_t until;		/* and for packets that others hand over from flow_table.now on */
	struct cygnet_sa *sa;	/* in the SAD */
	uint64_t bytes, packets, seq; /* of the SA: with less, there is nothing to tell charon */
	uint8_t port;
	uint8_t af;		/* of the outer header */
	bool by_burst;		/* all of it is known, and a device of the CPU works at once */
	bool resolved;		/* the next hop is known: */
	/* Seldom read. */
	uint8_t eth[14];	/* the Ethernet header to it */
};

/** Work out the way of an SA's packets. Its worker. */
void way_find(struct worker *w, struct session *s, struct cygnet_sa *sa);

#endif
