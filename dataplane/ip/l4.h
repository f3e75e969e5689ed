/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file l4.h
 * The parts of an L4 header that selectors and the flow cache use. A key of the flow cache must
 * distinguish at least what a selector distinguishes. Otherwise a packet would get the cached
 * decision of a packet that another policy matches.
 */
#ifndef CYGNETD_L4_H
#define CYGNETD_L4_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/** Whether a protocol number is an IPv6 extension header and no upper layer. */
static inline bool l4_is_extension(uint8_t proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING || proto == IPPROTO_DSTOPTS ||
	       proto == IPPROTO_FRAGMENT;
}

/** Bytes of both ports, and of ICMP's type and code, which selectors treat as ports. */
#define L4_PORTS 4u
#define L4_TYPE	 2u
/** Bytes of an SPI: not part of a selector, but it identifies the SA of a received packet. */
#define L4_SPI 4u

/** How many bytes of an L4 header are part of the flow cache's key.
 * @return L4_PORTS, L4_TYPE, L4_SPI or 0, bytes */
static inline unsigned int l4_flow(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		return L4_PORTS;
	case IPPROTO_ESP:
		return L4_SPI;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return L4_TYPE;
	default:
		return 0;
	}
}

/**
 * How many bytes of an L4 header selectors use; never more than l4_flow().
 * @param v6  the packet is IPv6: the ICMP of the other family then has no type
 * @return L4_PORTS, L4_TYPE or 0, bytes
 */
static inline unsigned int l4_selectors(bool v6, uint8_t proto)
{
	if (proto == IPPROTO_ESP || proto == (v6 ? IPPROTO_ICMP : IPPROTO_ICMPV6))
		return 0;
	return l4_flow(proto);
}

#endif
