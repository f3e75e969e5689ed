/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tos.h
 * The DSCP and ECN of an IP header: IPv4's TOS, IPv6's traffic class.
 */
#ifndef CYGNETD_TOS_H
#define CYGNETD_TOS_H

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

/** Change them. The checksum of an IPv4 header is updated, and stays wrong if it was (RFC 1624). */
static inline void tos_write(uint8_t *ip, uint8_t tos)
{
	struct rte_ipv4_hdr *v4 = (struct rte_ipv4_hdr *)ip;
	uint32_t sum;

	if (ip[0] >> 4 == 6) {
		ip[0] = (uint8_t)(0x60 | tos >> 4);
		ip[1] = (uint8_t)((ip[1] & 0x0f) | tos << 4);
		return;
	}
	sum = (uint32_t)(uint16_t)~v4->hdr_checksum +
	      (uint16_t)~rte_cpu_to_be_16(v4->type_of_service) + rte_cpu_to_be_16(tos);
	sum = (sum & 0xffff) + (sum >> 16);
	v4->hdr_checksum = (rte_be16_t) ~((sum & 0xffff) + (sum >> 16));
	v4->type_of_service = tos;
}

/** The same for a packet. */
static inline void tos_set(struct rte_mbuf *m, uint8_t tos)
{
	tos_write(rte_pktmbuf_mtod(m, uint8_t *), tos);
}

#endif
