/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file headers.h
 * What stands in front of a packet's upper layer, in either family.
 */
#ifndef CYGNETD_HEADERS_H
#define CYGNETD_HEADERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/drop.h"
#include "ip/packet.h"

struct headers {
	uint16_t len;		/* IP header with options or extension headers, bytes */
	uint16_t fragment_at;	/* IPv6: where the fragment header is; 0: there is none */
	uint16_t proto_at;	/* where the last of them says what follows */
	uint8_t proto;		/* of what follows */
	bool fragment;		/* a part of a packet, and */
	bool later;		/* not its first one: what follows is no upper layer's header */
};

/**
 * Check the headers at the start of a packet and trim what follows it (Ethernet
 * padding). Of IPv6's extension headers (RFC 8200, 4) there are few, each at most as
 * often and where it may be, and none hides the upper layer: else policies for
 * protocols and ports would not see it.
 * @param m       the headers lie in its first segment
 * @param verify  an IPv4 header's checksum too
 * @return DROP_NONE or why the packet goes no further
 */
enum drop_reason headers_check(struct rte_mbuf *m, bool verify);

/** The headers of a checked packet. */
struct headers headers_read(struct rte_mbuf *m);

/** Whether an ICMPv6 message is neighbour or router discovery, or joins groups: what only means
 * something on the link that it came from. @param type  of the message */
bool headers_icmp6_of_the_link(uint16_t type);
/**
 * The headers of a checked packet that stay in front of ESP or AH in transport mode: the IP
 * header with options, or with the extension headers that routers look at (RFC 4303,
 * 3.1.1). Only .len, .proto and .proto_at are of use.
 */
struct headers headers_front(struct rte_mbuf *m);

/**
 * What belongs into the checksum field of an IPv6 packet's TCP or UDP, which is 0 now.
 * @param h  headers_read()
 */
uint16_t headers_checksum6(struct rte_mbuf *m, const struct headers *h);

/**
 * Whether a checked IPv6 packet finds neighbours or routers, or joins groups, on one
 * link (RFC 4861; RFC 2710; RFC 3810): as ARP is none, it is no business of policies.
 */
bool headers_link_control(struct rte_mbuf *m, const struct headers *h);

#endif
