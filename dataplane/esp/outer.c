/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_udp.h>

#include "esp/outer.h"
#include "ip/headers.h"
#include "ip/ip_sum.h"
#include "ip/tos.h"

#define HOPS 64

uint8_t outer_tos_mask(const struct cygnet_sa *sa)
{
	return (uint8_t)((sa->dscp & CYGNET_DSCP_COPY_OUT ? ~TOS_ECN : 0) |
			 (sa->flags & CYGNET_SA_COPY_ECN ? TOS_ECN : 0));
}

void outer_describe(struct outer *outer, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	outer->proto = sa->proto;
	outer->id = outer_id(sa->spi, sa->seq);
	outer->tos = tos_get(m) & outer_tos_mask(sa);
	outer->df = sa->flags & CYGNET_SA_COPY_DF && outer_df(rte_pktmbuf_mtod(m, const uint8_t *));
}

static void write_v4(struct rte_ipv4_hdr *ip, const struct outer *outer,
		     const struct cygnet_path *path, unsigned int total)
{
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = outer->tos,
		.total_length = rte_cpu_to_be_16((uint16_t)total),
		.packet_id = outer->id,
		.fragment_offset = outer->df ? rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG) : 0,
		.time_to_live = HOPS,
		.next_proto_id = path->encap ? IPPROTO_UDP : outer->proto,
		.src_addr = path->src.v4,
		.dst_addr = path->dst.v4,
	};
	ip->hdr_checksum = ip_checksum(ip, sizeof(*ip));
}

/* The flow label is zero, because a copy of the inner one would disclose inner flows. */
static void write_v6(struct rte_ipv6_hdr *ip, const struct outer *outer,
		     const struct cygnet_path *path, unsigned int total)
{
	*ip = (struct rte_ipv6_hdr){
		.vtc_flow = rte_cpu_to_be_32(6u << 28 | (uint32_t)outer->tos << TOS_V6_SHIFT),
		.payload_len = rte_cpu_to_be_16((uint16_t)(total - sizeof(*ip))),
		.proto = path->encap ? IPPROTO_UDP : outer->proto,
		.hop_limits = HOPS,
	};
	memcpy(&ip->src_addr, &path->src, sizeof(ip->src_addr));
	memcpy(&ip->dst_addr, &path->dst, sizeof(ip->dst_addr));
}

void outer_write(uint8_t *ip, const struct outer *outer, const struct cygnet_path *path,
		 unsigned int total)
{
	if (outer->v6)
		write_v6((struct rte_ipv6_hdr *)ip, outer, path, total);
	else
		write_v4((struct rte_ipv4_hdr *)ip, outer, path, total);
}

void outer_finish(struct rte_mbuf *m)
{
	struct rte_udp_hdr *udp;
	struct headers h;

	if (packet_ip6(m)->proto == IPPROTO_ESP)
		return;
	h = headers_read(m);
	if (h.proto != IPPROTO_UDP)
		return;
	udp = rte_pktmbuf_mtod_offset(m, struct rte_udp_hdr *, h.len);
	udp->dgram_cksum = 0;
	udp->dgram_cksum = headers_checksum6(m, &h);
}

static bool decapsulate_ecn(struct rte_mbuf *m, uint8_t outer)
{
	uint8_t tos = tos_get(m), inner = tos & TOS_ECN;

	outer &= TOS_ECN;
	if (outer == 3 && inner == 0)
		return false;
	if ((outer == 3 && inner != 3) || (outer == 1 && inner == 2))
		tos_set(m, (uint8_t)((tos & ~TOS_ECN) | outer));
	return true;
}

static bool decapsulate(struct rte_mbuf *m, const struct cygnet_sa *sa, uint8_t tos)
{
	if ((sa->flags & CYGNET_SA_COPY_ECN) && !decapsulate_ecn(m, tos))
		return false;
	if (sa->dscp & CYGNET_DSCP_COPY_IN)
		tos_set(m, (uint8_t)((tos & ~TOS_ECN) | (tos_get(m) & TOS_ECN)));
	return true;
}

/* Whether the next header field matches the IP version of the inner packet. */
static bool is_inner(struct rte_mbuf *m, uint8_t next)
{
	return (packet_family(m) == AF_INET6) == (next == IPPROTO_IPV6);
}

enum drop_reason outer_strip(struct rte_mbuf *m, const struct cygnet_sa *sa, unsigned int skip,
			     unsigned int len, uint8_t next)
{
	uint8_t tos = tos_get(m);
	enum drop_reason reason;

	packet_narrow(m, skip, len);
	if (!len || !is_inner(m, next))
		return DROP_MALFORMED;
	/* For speed packet_check_ip() checks IPv4 inline. */
	reason = packet_family(m) == AF_INET6 ? headers_check(m, true)
		 : packet_check_ip(m, true)   ? DROP_NONE
					      : DROP_MALFORMED;
	if (reason != DROP_NONE)
		return reason;
	return decapsulate(m, sa, tos) ? DROP_NONE : DROP_ECN;
}
