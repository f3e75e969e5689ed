/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file outer.h
 * The IP header around ESP or AH in tunnel mode, of either family around either.
 */
#ifndef CYGNETD_OUTER_H
#define CYGNETD_OUTER_H

#include "cygnet.h"
#include "ip/packet.h"

/** What the outer header takes from the inner one and the SA. */
struct outer {
	bool v6;
	bool df;	/* IPv4 */
	uint8_t tos, proto;
	uint16_t id;	/* IPv4, network byte order */
};

/** Bytes of an outer header. */
static inline unsigned int outer_len(bool v6)
{
	return v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
}

/** The bits of the inner TOS that the outer one shows: the DSCP only if the SA says so; ECN as
 * RFC 6040's normal mode does. */
uint8_t outer_tos_mask(const struct cygnet_sa *sa);
/** The identification of an outer IPv4 header, network byte order. SAs of the same two gateways
 * all count from 1, but must not use the same numbers for packets that are fragmented on the
 * way (RFC 791, 3.2). @param spi  network byte order; @param seq  of the packet */
static inline uint16_t outer_id(uint32_t spi, uint64_t seq)
{
	return rte_cpu_to_be_16((uint16_t)((uint32_t)seq + rte_be_to_cpu_32(spi)));
}
/** Whether an inner packet is not to be cut on the way: it has DF, or is of IPv6 and longer than
 * what no link may refuse. What is shorter is cut around it (RFC 4213, 3.2.2).
 * @param ip  its header, checked */
static inline bool outer_df(const uint8_t *ip)
{
	if (ip[0] >> 4 == 4)
		return ip[6] & RTE_IPV4_HDR_DF_FLAG >> 8;
	return (ip[4] << 8 | ip[5]) + sizeof(struct rte_ipv6_hdr) > IPV6_MIN_MTU;
}
/** Work out what the outer header of an inner packet says (RFC 4301, 5.1.2; RFC 6040). */
void outer_describe(struct outer *outer, struct rte_mbuf *m, const struct cygnet_sa *sa);
/**
 * Write an outer header, for ESP, AH or UDP around it.
 * @param total  bytes of packet, with this header
 */
void outer_write(uint8_t *at, const struct outer *outer, const struct cygnet_path *path,
		 unsigned int total);
/** Once a packet with an outer IPv6 header is as it goes out: its UDP checksum, if there
 * is UDP. Zero is allowed (RFC 6935, 5), but a kernel that does not know that the port
 * carries a tunnel drops it. */
void outer_finish(struct rte_mbuf *m);

/**
 * Take off what is around an authentic inner packet, which is checked. Congestion and
 * DSCP met on the way come through to it, as far as the SA says so (RFC 6040, 4.2).
 * @param skip  bytes from the start of the packet to the inner one
 * @param len   bytes of that, which are there
 * @param next  what the header in front of it says that it is
 * @return DROP_NONE or a drop reason
 */
enum drop_reason outer_strip(struct rte_mbuf *m, const struct cygnet_sa *sa, unsigned int skip,
			     unsigned int len, uint8_t next);

#endif
