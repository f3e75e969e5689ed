/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <string.h>

#include "ip/headers.h"
#include "ip/icmp.h"
#include "ip/ip_sum.h"

#define HOP_LIMIT 64
/* Headers in front of the quoted packet, bytes. */
#define AROUND	((unsigned int)(sizeof(struct rte_ipv4_hdr) + sizeof(struct icmphdr)))
#define AROUND6 ((unsigned int)(sizeof(struct rte_ipv6_hdr) + sizeof(struct icmp6_hdr)))
/* Longest errors (RFC 1812, 4.3.2.3; RFC 4443, 2.4), bytes. */
#define LONGEST	 576u
#define LONGEST6 IPV6_MIN_MTU

/* Type and code of an error. */
static const struct kind {
	uint8_t type, code;
} kinds[] = {
	[ICMP_HOPS] = {ICMP_TIME_EXCEEDED, ICMP_EXC_TTL},
	[ICMP_TOO_BIG] = {ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED},
	[ICMP_NO_ROUTE] = {ICMP_DEST_UNREACH, ICMP_NET_UNREACH},
};
static const struct kind kinds6[] = {
	[ICMP_HOPS] = {ICMP6_TIME_EXCEEDED, ICMP6_TIME_EXCEED_TRANSIT},
	[ICMP_TOO_BIG] = {ICMP6_PACKET_TOO_BIG, 0},
	[ICMP_NO_ROUTE] = {ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOROUTE},
};

/* No error about ICMP errors, later fragments, or packets whose source or destination is not a single
 * host. */
static bool may_answer4(struct rte_mbuf *m)
{
	const struct rte_ipv4_hdr *ip = packet_ip(m);
	unsigned int header = ip_header_len(ip);
	const uint8_t *icmp = (const uint8_t *)ip + header;
	uint8_t first = *(const uint8_t *)&ip->src_addr;

	if (*(const uint8_t *)&ip->dst_addr >= 224)
		return false;
	if (ip->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_OFFSET_MASK))
		return false;
	if (first == 0 || first == 127 || first >= 224)
		return false;
	if (ip->next_proto_id != IPPROTO_ICMP)
		return true;
	return rte_pktmbuf_data_len(m) > header &&
	       (*icmp == ICMP_ECHO || *icmp == ICMP_ECHOREPLY || *icmp == ICMP_TIMESTAMP);
}

static bool is_error6(struct rte_mbuf *m, const struct headers *h)
{
	const uint8_t *type = rte_pktmbuf_mtod_offset(m, const uint8_t *, h->len);

	if (h->proto != IPPROTO_ICMPV6)
		return false;
	return h->later || rte_pktmbuf_data_len(m) <= h->len || !(*type & ICMP6_INFOMSG_MASK) ||
	       *type == ND_REDIRECT;
}

static bool may_answer6(struct rte_mbuf *m, enum icmp_why why)
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
	return !is_error6(m, &h);
}

bool icmp_may_answer(struct rte_mbuf *m, enum icmp_why why)
{
	return packet_family(m) == AF_INET6 ? may_answer6(m, why) : may_answer4(m);
}

uint16_t icmp_kind(uint8_t af, enum icmp_why why)
{
	const struct kind *kind = af == AF_INET6 ? &kinds6[why] : &kinds[why];

	return (uint16_t)(kind->type << 8 | kind->code);
}

unsigned int icmp_length(struct rte_mbuf *m)
{
	unsigned int quoted = rte_pktmbuf_data_len(m);

	if (packet_family(m) == AF_INET6)
		return RTE_MIN(AROUND6 + quoted, LONGEST6);
	return RTE_MIN(AROUND + quoted, LONGEST);
}

static void write4(struct rte_mbuf *answer, struct rte_mbuf *m, enum icmp_why why, uint16_t mtu,
		   const struct cygnet_addr *source)
{
	const struct rte_ipv4_hdr *bad = rte_pktmbuf_mtod(m, const struct rte_ipv4_hdr *);
	struct rte_ipv4_hdr *ip = packet_ip(answer);
	struct icmphdr *icmp = (struct icmphdr *)(ip + 1);
	unsigned int total = rte_pktmbuf_data_len(answer), quoted = total - AROUND;

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = 0xc0, /* RFC 1812, 4.3.2.5 */
		.total_length = rte_cpu_to_be_16((uint16_t)total),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_ICMP,
		.src_addr = source->v4,
		.dst_addr = bad->src_addr,
	};
	ip->hdr_checksum = ip_checksum(ip, sizeof(*ip));
	*icmp = (struct icmphdr){.type = kinds[why].type, .code = kinds[why].code};
	icmp->un.frag.mtu = rte_cpu_to_be_16(mtu);
	memcpy(icmp + 1, bad, quoted);
	icmp->checksum = (uint16_t)~rte_raw_cksum(icmp, sizeof(*icmp) + quoted);
}

static void write6(struct rte_mbuf *answer, struct rte_mbuf *m, enum icmp_why why, uint16_t mtu,
		   const struct cygnet_addr *source)
{
	struct rte_ipv6_hdr *ip = packet_ip6(answer);
	struct icmp6_hdr *icmp = (struct icmp6_hdr *)(ip + 1);
	unsigned int quoted = rte_pktmbuf_data_len(answer) - AROUND6;

	*ip = (struct rte_ipv6_hdr){
		.vtc_flow = rte_cpu_to_be_32(6u << 28),
		.payload_len = rte_cpu_to_be_16((uint16_t)(sizeof(*icmp) + quoted)),
		.proto = IPPROTO_ICMPV6,
		.hop_limits = HOP_LIMIT,
	};
	memcpy(&ip->src_addr, source, sizeof(ip->src_addr));
	memcpy(&ip->dst_addr, ip6_src(packet_ip6(m)), sizeof(ip->dst_addr));
	*icmp = (struct icmp6_hdr){.icmp6_type = kinds6[why].type, .icmp6_code = kinds6[why].code};
	if (why == ICMP_TOO_BIG)
		icmp->icmp6_mtu = rte_cpu_to_be_32(RTE_MAX(mtu, IPV6_MIN_MTU));
	memcpy(icmp + 1, packet_ip6(m), quoted);
	icmp->icmp6_cksum = rte_ipv6_udptcp_cksum(ip, icmp);
}

void icmp_write(struct rte_mbuf *answer, struct rte_mbuf *m, enum icmp_why why, uint16_t mtu,
		const struct cygnet_addr *source)
{
	(packet_family(m) == AF_INET6 ? write6 : write4)(answer, m, why, mtu, source);
}
