/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file l4.h
 * What protocols put behind an IP header, as far as policies look at it. The SPD's selectors and
 * the flows whose decisions are remembered both go by this: a flow that told fewer packets apart
 * than a policy does would lend one packet another one's decision.
 */
#ifndef CYGNETD_L4_H
#define CYGNETD_L4_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/** Whether it is one of IPv6's extension headers that a router may meet, and no upper layer. */
static inline bool l4_is_extension(uint8_t proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING ||
	       proto == IPPROTO_DSTOPTS || proto == IPPROTO_FRAGMENT;
}

/** Bytes of both ports, and of ICMP's type and code, which selectors take for ports. */
#define L4_PORTS 4u
#define L4_TYPE 2u
/** Bytes of an SPI: no selector sees it, but it tells which SA a packet came by. */
#define L4_SPI 4u

/** How much of an upper layer's header tells flows apart.
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
 * How much of it selectors see, which is never more than that.
 * @param v6  whether it is in IPv6: the other family's ICMP has no type there
 * @return L4_PORTS, L4_TYPE or 0, bytes
 */
static inline unsigned int l4_selectors(bool v6, uint8_t proto)
{
	if (proto == IPPROTO_ESP || proto == (v6 ? IPPROTO_ICMP : IPPROTO_ICMPV6))
		return 0;
	return l4_flow(proto);
}

#endif
