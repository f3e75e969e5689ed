/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <rte_arp.h>
#include <rte_ether.h>

#include "host/interface.h"
#include "path/proxy.h"
#include "path/worker/next_hop.h"
#include "path/worker/tx.h"

struct arp_frame {
	struct rte_ether_hdr eth;
	struct rte_arp_hdr arp;
} __attribute__((packed, aligned(2)));

/* Without the option that a solicitation may have, with the one that an answer has. */
struct nd_frame {
	struct rte_ether_hdr eth;
	struct rte_ipv6_hdr ip;
	union {
		struct nd_neighbor_solicit asked;
		struct nd_neighbor_advert answer;
	} nd;
	struct nd_opt_hdr option;
	struct rte_ether_addr mac;
} __attribute__((packed, aligned(2)));

#define ND_ASKED offsetof(struct nd_frame, option)

/* @param addr  it need not be aligned */
static bool has_no_host(uint8_t af, const void *addr, unsigned int interface)
{
	struct next_hop hop = route_lookup(af, addr);

	return hop.kind == ROUTE_FORWARD && hop.no_neighbour && hop.interface == interface;
}

static void answer(struct worker *w, struct rte_mbuf *m, const struct rte_ether_addr *own)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);

	eth->dst_addr = eth->src_addr;
	eth->src_addr = *own;
	tap_frame(w, m);
}

static bool answer_arp(struct worker *w, struct rte_mbuf *m)
{
	struct arp_frame *f = rte_pktmbuf_mtod(m, struct arp_frame *);
	struct rte_ether_addr own = interface_mac(&interfaces[packet(m)->interface]);
	rte_be32_t target;

	if (rte_pktmbuf_data_len(m) < sizeof(*f) ||
	    f->arp.arp_hardware != rte_cpu_to_be_16(RTE_ARP_HRD_ETHER) ||
	    f->arp.arp_protocol != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) ||
	    f->arp.arp_hlen != sizeof(own) || f->arp.arp_plen != sizeof(target) ||
	    f->arp.arp_opcode != rte_cpu_to_be_16(RTE_ARP_OP_REQUEST))
		return false;
	target = f->arp.arp_data.arp_tip;
	if (!has_no_host(AF_INET, &target, packet(m)->interface))
		return false;
	f->arp.arp_opcode = rte_cpu_to_be_16(RTE_ARP_OP_REPLY);
	f->arp.arp_data.arp_tha = f->arp.arp_data.arp_sha;
	f->arp.arp_data.arp_tip = f->arp.arp_data.arp_sip;
	f->arp.arp_data.arp_sha = own;
	f->arp.arp_data.arp_sip = target;
	answer(w, m, &own);
	return true;
}

/* A host that asks from the unspecified address has no address yet (RFC 4862, 5.4). */
static bool is_solicitation(const struct nd_frame *f)
{
	static const uint8_t unspecified[16];

	return f->ip.proto == IPPROTO_ICMPV6 && f->nd.asked.nd_ns_type == ND_NEIGHBOR_SOLICIT &&
	       !f->nd.asked.nd_ns_code && memcmp(ip6_src(&f->ip), unspecified, sizeof(unspecified));
}

static void write_advertisement(struct nd_frame *f, const struct rte_ether_addr *own)
{
	struct nd_neighbor_advert nd = {.nd_na_target = f->nd.asked.nd_ns_target};

	nd.nd_na_type = ND_NEIGHBOR_ADVERT;
	nd.nd_na_flags_reserved = ND_NA_FLAG_SOLICITED | ND_NA_FLAG_OVERRIDE;
	f->nd.answer = nd;
	f->option = (struct nd_opt_hdr){ND_OPT_TARGET_LINKADDR, 1};
	f->mac = *own;
	memcpy(&f->ip.dst_addr, ip6_src(&f->ip), sizeof(f->ip.dst_addr));
	memcpy(&f->ip.src_addr, &nd.nd_na_target, sizeof(f->ip.src_addr));
	f->ip.payload_len = rte_cpu_to_be_16(sizeof(*f) - offsetof(struct nd_frame, nd));
	f->nd.answer.nd_na_cksum = rte_ipv6_udptcp_cksum(&f->ip, &f->nd);
}

static bool answer_discovery(struct worker *w, struct rte_mbuf *m)
{
	struct nd_frame *f = rte_pktmbuf_mtod(m, struct nd_frame *);
	struct rte_ether_addr own = interface_mac(&interfaces[packet(m)->interface]);
	unsigned int len = rte_pktmbuf_data_len(m);

	if (len < ND_ASKED || !is_solicitation(f) ||
	    !has_no_host(AF_INET6, &f->nd.asked.nd_ns_target, packet(m)->interface))
		return false;
	if (len < sizeof(*f) ? !rte_pktmbuf_append(m, (uint16_t)(sizeof(*f) - len))
			     : rte_pktmbuf_trim(m, (uint16_t)(len - sizeof(*f))))
		return false;
	write_advertisement(f, &own);
	answer(w, m, &own);
	return true;
}

bool proxy_neighbour(struct worker *w, struct rte_mbuf *m)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);

	switch (rte_be_to_cpu_16(eth->ether_type)) {
	case RTE_ETHER_TYPE_ARP:
		return answer_arp(w, m);
	case RTE_ETHER_TYPE_IPV6:
		return answer_discovery(w, m);
	default:
		return false;
	}
}
