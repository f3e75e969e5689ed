/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include "ip/icmp.h"
#include "ip/ip_sum.h"

/* No error about ICMP errors, later fragments, or packets whose source or destination is not a single
 * host. */
bool icmp_may_answer(struct rte_mbuf *m)
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

/* Type and code of an error. */
struct kind {
	uint8_t type, code;
};

static const struct kind kinds[] = {
	[ICMP_HOPS] = {ICMP_TIME_EXCEEDED, ICMP_EXC_TTL},
	[ICMP_TOO_BIG] = {ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED},
	[ICMP_NO_ROUTE] = {ICMP_DEST_UNREACH, ICMP_NET_UNREACH},
};

uint16_t icmp_kind(enum icmp_why why)
{
	return (uint16_t)(kinds[why].type << 8 | kinds[why].code);
}

void icmp_write(struct rte_mbuf *answer, struct rte_mbuf *m, unsigned int quoted,
		enum icmp_why why, uint16_t mtu, const struct cygnet_addr *source)
{
	const struct rte_ipv4_hdr *bad = rte_pktmbuf_mtod(m, const struct rte_ipv4_hdr *);
	struct rte_ipv4_hdr *ip = packet_ip(answer);
	struct icmphdr *icmp = (struct icmphdr *)(ip + 1);
	unsigned int total = rte_pktmbuf_data_len(answer);

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
