/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ICMP errors to the source of a packet. To others they leave as a packet of this
 * host would: through plain_out(), so that policy applies. What the kernel sent is
 * answered into its TAP. */
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include "icmp6.h"
#include "icmp_source.h"
#include "ip_sum.h"
#include "pipeline.h"
#include "policy.h"
#include "port.h"

#define PER_SECOND 100	/* of each worker */
#define QUOTED 576	/* RFC 1812, 4.3.2.3: as much as fits into 576 bytes */

/* RFC 1122, 3.2.2: never about ICMP errors, later fragments, what went to many, or
 * to nobody. */
static bool may_answer(struct rte_mbuf *m)
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

static void write_error(struct rte_mbuf *answer, const struct rte_mbuf *m, unsigned int quoted,
			enum icmp_why why, uint16_t mtu, uint32_t source)
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
		.src_addr = source,
		.dst_addr = bad->src_addr,
	};
	ip->hdr_checksum = ip_checksum(ip, sizeof(*ip));
	*icmp = (struct icmphdr){.type = kinds[why].type, .code = kinds[why].code};
	icmp->un.frag.mtu = rte_cpu_to_be_16(mtu);
	memcpy(icmp + 1, bad, quoted);
	icmp->checksum = (uint16_t)~rte_raw_cksum(icmp, sizeof(*icmp) + quoted);
}

/* A packet for the error, as long as it is to be. @return NULL: no memory */
static struct rte_mbuf *make_answer(struct worker *w, struct rte_mbuf *m, unsigned int len)
{
	struct rte_mbuf *answer = rte_pktmbuf_alloc(w->packets);

	if (!answer)
		return NULL;
	memset(packet(answer), 0, sizeof(struct packet));
	packet(answer)->port = packet(m)->port;
	packet(answer)->must_protect = packet(m)->decrypted;
	packet(answer)->answer = !packet(m)->decrypted;
	if (rte_pktmbuf_append(answer, (uint16_t)len))
		return answer;
	rte_pktmbuf_free(answer);
	return NULL;
}

/* What policies are asked about the error, but for its source. */
static void describe(struct rte_mbuf *m, enum icmp_why why, struct cygnet_flow *error)
{
	bool v6 = packet_family(m) == AF_INET6;

	*error = (struct cygnet_flow){
		.dst = packet_src(m),
		.sport = v6 ? icmp6_kind(why) >> 8 : kinds[why].type,
		.dport = v6 ? icmp6_kind(why) & 0xff : kinds[why].code,
		.af = packet_family(m),
		.proto = v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP,
		.has_ports = 1,
	};
	policy_flow_to(error);
}

static struct rte_mbuf *answer_v4(struct worker *w, struct rte_mbuf *m, enum icmp_why why,
				  uint16_t mtu, const struct cygnet_addr *source)
{
	unsigned int around = sizeof(struct rte_ipv4_hdr) + sizeof(struct icmphdr);
	unsigned int quoted = RTE_MIN(rte_pktmbuf_data_len(m), QUOTED - around);
	struct rte_mbuf *answer = make_answer(w, m, around + quoted);

	if (answer)
		write_error(answer, m, quoted, why, mtu, source->v4);
	return answer;
}

static struct rte_mbuf *answer_v6(struct worker *w, struct rte_mbuf *m, enum icmp_why why,
				  uint16_t mtu, const struct cygnet_addr *source)
{
	unsigned int quoted = RTE_MIN(rte_pktmbuf_data_len(m), IPV6_MIN_MTU - ICMP6_AROUND);
	struct rte_mbuf *answer = make_answer(w, m, (unsigned int)ICMP6_AROUND + quoted);

	if (answer)
		icmp6_write(answer, m, quoted, why, mtu, source);
	return answer;
}

void icmp_error(struct worker *w, struct rte_mbuf *m, enum icmp_why why, uint16_t mtu)
{
	bool v6 = packet_family(m) == AF_INET6;
	struct cygnet_addr source;
	struct rte_mbuf *answer;
	struct cygnet_flow flow;

	if (!(v6 ? icmp6_may_answer(m, why) : may_answer(m)) || !rate_allows(&w->icmp, PER_SECOND))
		return;
	describe(m, why, &flow);
	if (!icmp_source(m, &flow, &source))
		return;
	answer = v6 ? answer_v6(w, m, why, mtu, &source) : answer_v4(w, m, why, mtu, &source);
	if (!answer)
		return;
	if (packet(m)->from_kernel) {
		transmit_packet_to_kernel(w, answer);
		return;
	}
	policy_flow(answer, &flow);
	plain_out(w, answer, &flow);
}
