/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file outer.h
 * The IP header around ESP or AH in tunnel mode, of either family around either.
 */
#ifndef CYGNETD_OUTER_H
#define CYGNETD_OUTER_H

#include "cygnet.h"
#include "ip/packet.h"

/** Fields of the outer header that depend on the inner header and the SA. */
struct outer {
	bool v6;
	bool df; /* IPv4 */
	uint8_t tos, proto;
	uint16_t id; /* IPv4, network byte order */
};

/** Bytes of an outer header. */
static inline unsigned int outer_len(bool v6)
{
	return v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
}

/** Bits copied from the inner to the outer TOS: the DSCP if the SA is configured so, ECN as in normal
 * mode of RFC 6040. */
uint8_t outer_tos_mask(const struct cygnet_sa *sa);
/** The identification of an outer IPv4 header, network byte order. All SAs count from 1, but SAs of
 * the same gateways should not use equal identifications, because routers may fragment their packets
 * (RFC 791, 3.2). @param spi  network byte order; @param seq  of the packet */
static inline uint16_t outer_id(uint32_t spi, uint64_t seq)
{
	return rte_cpu_to_be_16((uint16_t)((uint32_t)seq + rte_be_to_cpu_32(spi)));
}
/** Whether the outer header gets DF: the inner packet has DF, or is IPv6 and longer than the smallest
 * MTU of a link. Around a shorter IPv6 packet the outer packet may be fragmented (RFC 4213, 3.2.2).
 * @param ip  header of the inner packet, checked */
static inline bool outer_df(const uint8_t *ip)
{
	if (ip[0] >> 4 == 4)
		return ip[6] & RTE_IPV4_HDR_DF_FLAG >> 8;
	return (ip[4] << 8 | ip[5]) + sizeof(struct rte_ipv6_hdr) > IPV6_MIN_MTU;
}
/** Determine the fields of the outer header (RFC 4301, 5.1.2; RFC 6040). */
void outer_describe(struct outer *outer, struct rte_mbuf *m, const struct cygnet_sa *sa);
/**
 * Write an outer header, for ESP, AH or UDP around it.
 * @param total  bytes of packet, with this header
 */
void outer_write(uint8_t *ip, const struct outer *outer, const struct cygnet_path *path,
		 unsigned int total);
/** Set the UDP checksum of a completed packet with an outer IPv6 header, if it has UDP. Zero is
 * allowed (RFC 6935, 5), but kernels drop it on ports that are not configured for a tunnel. */
void outer_finish(struct rte_mbuf *m);

/**
 * Remove the headers around an authentic inner packet, which is checked. ECN and DSCP of the outer
 * header are applied to it as the SA is configured (RFC 6040, 4.2).
 * @param skip  bytes from the start of the packet to the inner one
 * @param len   bytes of the inner packet
 * @param next  protocol of the inner packet, from the next header field
 * @return DROP_NONE or a drop reason
 */
enum drop_reason outer_strip(struct rte_mbuf *m, const struct cygnet_sa *sa, unsigned int skip,
			     unsigned int len, uint8_t next);

#endif
