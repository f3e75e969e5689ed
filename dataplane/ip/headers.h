/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file headers.h
 * The headers in front of a packet's upper layer (L4), in IPv4 and IPv6.
 */
#ifndef CYGNETD_HEADERS_H
#define CYGNETD_HEADERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/drop.h"
#include "ip/packet.h"

struct headers {
	uint16_t len;	      /* IP header with options or extension headers, bytes */
	uint16_t fragment_at; /* IPv6: offset of the fragment header; 0: none */
	uint16_t proto_at;    /* offset of the field with proto */
	uint8_t proto;	      /* protocol of the upper layer */
	bool fragment;	      /* the packet is a fragment */
	bool later;	      /* the packet is not a first fragment, so it has no L4 header */
};

/**
 * Check the headers at the start of a packet and trim Ethernet padding. IPv6 extension headers
 * (RFC 8200, 4) must be few, in a valid order and not repeated, and must not hide the upper layer,
 * because policies select by protocol and ports.
 * @param m       its first segment contains the headers
 * @param verify  check an IPv4 header's checksum too
 * @return DROP_NONE or a drop reason
 */
enum drop_reason headers_check(struct rte_mbuf *m, bool verify);

/** The headers of a checked packet. */
struct headers headers_read(struct rte_mbuf *m);

/** Whether an ICMPv6 message is of link scope: neighbour or router discovery, or multicast listener
 * discovery. @param type  of the message */
bool headers_icmp6_of_the_link(uint16_t type);
/**
 * The headers of a checked packet that stay in front of ESP or AH in transport mode: the IP
 * header with options, or with the extension headers that routers look at (RFC 4303,
 * 3.1.1). Only .len, .proto and .proto_at are set.
 */
struct headers headers_front(struct rte_mbuf *m);

/**
 * The TCP or UDP checksum of an IPv6 packet, whose checksum field is 0.
 * @param h  headers_read()
 */
uint16_t headers_checksum6(struct rte_mbuf *m, const struct headers *h);

/**
 * Whether a checked IPv6 packet is neighbour, router or multicast listener discovery of its link
 * (RFC 4861; RFC 2710; RFC 3810). Like ARP, it is not subject to policies.
 */
bool headers_link_control(struct rte_mbuf *m, const struct headers *h);

#endif
