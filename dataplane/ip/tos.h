/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tos.h
 * The DSCP and ECN of an IP header: IPv4's TOS, IPv6's traffic class.
 */
#ifndef CYGNETD_TOS_H
#define CYGNETD_TOS_H

#include "ip/ip_sum.h"
#include "ip/packet.h"

#define TOS_ECN	     3u
#define TOS_V6_SHIFT 20

/** DSCP and ECN of a checked IP header. */
static inline uint8_t tos_of(const uint8_t *ip)
{
	return ip[0] >> 4 == 6 ? (uint8_t)(ip[0] << 4 | ip[1] >> 4) : ip[1];
}

/** DSCP and ECN of a packet, data at its IP header. */
static inline uint8_t tos_get(struct rte_mbuf *m)
{
	return tos_of(rte_pktmbuf_mtod(m, const uint8_t *));
}

static inline void tos_set(struct rte_mbuf *m, uint8_t tos)
{
	struct rte_ipv6_hdr *ip6 = packet_ip6(m);
	struct rte_ipv4_hdr *ip = packet_ip(m);

	if (packet_family(m) == AF_INET6) {
		ip6->vtc_flow &= rte_cpu_to_be_32(~(0xffu << TOS_V6_SHIFT));
		ip6->vtc_flow |= rte_cpu_to_be_32((uint32_t)tos << TOS_V6_SHIFT);
		return;
	}
	ip->type_of_service = tos;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = ip_checksum(ip, ip_header_len(ip));
}

#endif
