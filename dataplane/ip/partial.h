/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file partial.h
 * Packets that have not come whole yet: their fragments, until there are all of them (RFC 791,
 * 3.2; RFC 8200, 4.5). How many come is up to whoever sends them. So it is bounded how many are
 * kept, and the packet that has waited longest for its next one makes room; and fragments of a
 * packet that overlap take it with them (RFC 5722). All of a table belongs to one lcore.
 */
#ifndef CYGNETD_PARTIAL_H
#define CYGNETD_PARTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "cygnet.h"

/** Of one packet: what takes more to look for the place of the next one is no use to anybody. 64
 * KiB come in so many over any path that takes 576 bytes, which each host has to (RFC 791, 3.1). */
#define PARTIAL_PARTS_MAX 128u

/** Whose part a fragment is. No padding: it is compared as a whole. */
struct partial_key {
	struct cygnet_addr src, dst;
	uint32_t id;
	uint8_t af;
	uint8_t proto;		/* 0 in IPv6, where only the first one's counts */
	uint8_t resume;		/* enum stage that decides about its packet */
	uint8_t interface;	/* that it came in by, where policies ask for it; else 0 */
};

/** What a fragment says of itself; bytes. */
struct partial_part {
	unsigned int front;	/* headers in front of its text */
	unsigned int at;	/* where the text belongs */
	bool more;		/* it is not the last one */
};

/** A packet that has come whole. */
struct partial_whole {
	struct rte_mbuf *parts;	/* in order, by packet()->next; the data is the text */
	unsigned int front;	/* bytes in front of that of the first one: its headers */
	unsigned int len;	/* of all text, bytes */
	unsigned int longest;	/* of the fragments as they came, bytes */
	uint8_t ecn;		/* bit mask of the ECN fields there were */
};

struct partial_table;

/**
 * @param parts    to be kept at most, PARTIAL_PARTS_MAX or more
 * @param wait     how long for the next one of a packet, TSC
 * @param dropped  counts what was not used; the table has freed it
 * @return NULL: no memory
 */
struct partial_table *partial_create(unsigned int parts, uint64_t wait, uint64_t *dropped);
/** Free it with all that is in it. @param table  may be NULL */
void partial_free(struct partial_table *table);

/**
 * Take over a fragment.
 * @param m      data at its IP header, in one segment
 * @param part   its text is not empty, and ends below 64 KiB
 * @param now    TSC
 * @param whole  receives the packet, which is the caller's then
 * @return whether the packet is whole
 */
bool partial_add(struct partial_table *table, const struct partial_key *key, struct rte_mbuf *m,
		 const struct partial_part *part, uint64_t now, struct partial_whole *whole);
/** Free the parts of a packet that has come whole. @return how many */
unsigned int partial_release(struct rte_mbuf *parts);
/** Give up the packets that have waited too long. */
void partial_expire(struct partial_table *table, uint64_t now);

#endif
