/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file partial.h
 * Incomplete packets: a table keeps fragments until a packet is complete (RFC 791, 3.2; RFC 8200,
 * 4.5). The number of fragments in a table is bounded, because senders are not trusted. A full table
 * evicts the packet that has waited longest for its next fragment. A packet with overlapping
 * fragments is dropped (RFC 5722). One lcore uses a table.
 */
#ifndef CYGNETD_PARTIAL_H
#define CYGNETD_PARTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "cygnet.h"

/** Fragments of one packet at most, to bound the search in its list. 64 KiB need no more over a path
 * with an MTU of 576 bytes, which every host accepts (RFC 791, 3.1). */
#define PARTIAL_PARTS_MAX 128u

/** Identity of a fragment's packet. No padding: keys are compared by memcmp(). */
struct partial_key {
	struct cygnet_addr src, dst;
	uint32_t id;
	uint8_t af;
	uint8_t proto;	   /* 0 in IPv6, where only the first fragment's counts */
	uint8_t resume;	   /* enum stage of the packet after reassembly */
	uint8_t interface; /* incoming interface if policies select by it; else 0 */
};

/** Position of a fragment in its packet, bytes. */
struct partial_part {
	unsigned int front;  /* headers in front of its payload */
	unsigned int offset; /* offset of its payload in the packet */
	bool more;	     /* further fragments follow (MF) */
};

/** A complete packet. */
struct partial_whole {
	struct rte_mbuf *parts; /* in order, by packet()->next; their data is payload */
	unsigned int front;	/* bytes of headers in front of the first fragment's data */
	unsigned int len;	/* of the whole payload, bytes */
	unsigned int longest;	/* length of the longest received fragment, bytes */
	uint8_t ecn;		/* bit mask of the ECN values of all fragments */
};

struct partial_table;

/**
 * @param parts    capacity in fragments, PARTIAL_PARTS_MAX or more
 * @param wait     time limit for the next fragment of a packet, TSC
 * @param dropped  counts fragments that the table freed
 * @return NULL: no memory
 */
struct partial_table *partial_create(unsigned int parts, uint64_t wait, uint64_t *dropped);
/** Free a table and its fragments. @param table  may be NULL */
void partial_free(struct partial_table *table);

/**
 * Take over a fragment.
 * @param m      data at its IP header, in one segment
 * @param part   its payload is not empty and ends below 64 KiB
 * @param now    TSC
 * @param whole  receives the complete packet, which the caller then owns
 * @return whether the packet is complete
 */
bool partial_add(struct partial_table *table, const struct partial_key *key, struct rte_mbuf *m,
		 const struct partial_part *part, uint64_t now, struct partial_whole *whole);
/** Free the fragments of a complete packet. @return their number */
unsigned int partial_release(struct rte_mbuf *parts);
/** Drop the packets whose time limit has passed. */
void partial_expire(struct partial_table *table, uint64_t now);

#endif
