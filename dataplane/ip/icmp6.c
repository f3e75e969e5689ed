/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/icmp6.h>
#include <netinet/in.h>

#include "ip/headers.h"
#include "ip/icmp6.h"

#define HOP_LIMIT 64

_Static_assert(ICMP6_AROUND == sizeof(struct rte_ipv6_hdr) + sizeof(struct icmp6_hdr),
	       "an error's header has 8 bytes");

static bool is_error(struct rte_mbuf *m, const struct headers *h)
{
	const uint8_t *type = rte_pktmbuf_mtod_offset(m, const uint8_t *, h->len);

	if (h->proto != IPPROTO_ICMPV6)
		return false;
	return h->later || rte_pktmbuf_data_len(m) <= h->len ||
	       !(*type & ICMP6_INFOMSG_MASK) || *type == ND_REDIRECT;
}

bool icmp6_may_answer(struct rte_mbuf *m, enum icmp_why why)
{
	static const struct cygnet_addr unspecified;
	const uint8_t *src = ip6_src(packet_ip6(m));
	struct headers h = headers_read(m);

	/* A multicast packet is answered only with Packet Too Big. */
	if (ip6_dst(packet_ip6(m))[0] == 0xff && why != ICMP_TOO_BIG)
		return false;
	/* A link-local source is not reachable by a route. */
	if (src[0] == 0xff || (src[0] == 0xfe && (src[1] & 0xc0) == 0x80) ||
	    !memcmp(src, &unspecified, sizeof(unspecified)))
		return false;
	return !is_error(m, &h);
}

static const struct {
	uint8_t type, code;
} kinds[] = {
	[ICMP_HOPS] = {ICMP6_TIME_EXCEEDED, ICMP6_TIME_EXCEED_TRANSIT},
	[ICMP_TOO_BIG] = {ICMP6_PACKET_TOO_BIG, 0},
	[ICMP_NO_ROUTE] = {ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOROUTE},
};

uint16_t icmp6_kind(enum icmp_why why)
{
	return (uint16_t)(kinds[why].type << 8 | kinds[why].code);
}

void icmp6_write(struct rte_mbuf *answer, struct rte_mbuf *m, unsigned int quoted,
		 enum icmp_why why, uint16_t mtu, const struct cygnet_addr *source)
{
	struct rte_ipv6_hdr *ip = packet_ip6(answer);
	struct icmp6_hdr *icmp = (struct icmp6_hdr *)(ip + 1);

	*ip = (struct rte_ipv6_hdr){
		.vtc_flow = rte_cpu_to_be_32(6u << 28),
		.payload_len = rte_cpu_to_be_16((uint16_t)(sizeof(*icmp) + quoted)),
		.proto = IPPROTO_ICMPV6,
		.hop_limits = HOP_LIMIT,
	};
	memcpy(&ip->src_addr, source, sizeof(ip->src_addr));
	memcpy(&ip->dst_addr, ip6_src(packet_ip6(m)), sizeof(ip->dst_addr));
	*icmp = (struct icmp6_hdr){.icmp6_type = kinds[why].type, .icmp6_code = kinds[why].code};
	if (why == ICMP_TOO_BIG)
		icmp->icmp6_mtu = rte_cpu_to_be_32(RTE_MAX(mtu, IPV6_MIN_MTU));
	memcpy(icmp + 1, packet_ip6(m), quoted);
	icmp->icmp6_cksum = rte_ipv6_udptcp_cksum(ip, icmp);
}
