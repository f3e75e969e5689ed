/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/icmp6.h>
#include <rte_arp.h>
#include <rte_ether.h>

#include "ip/neigh_message.h"

bool neigh_message_arp(const struct rte_mbuf *m, struct neigh_message *said)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	struct rte_arp_hdr arp;

	if (eth->ether_type != rte_cpu_to_be_16(RTE_ETHER_TYPE_ARP) ||
	    rte_pktmbuf_data_len(m) < sizeof(*eth) + sizeof(arp))
		return false;
	memcpy(&arp, eth + 1, sizeof(arp));
	if (arp.arp_hardware != rte_cpu_to_be_16(RTE_ARP_HRD_ETHER) ||
	    arp.arp_protocol != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) ||
	    arp.arp_hlen != sizeof(struct rte_ether_addr) || arp.arp_plen != sizeof(uint32_t))
		return false;
	*said = (struct neigh_message){
		.af = AF_INET,
		.asks = arp.arp_opcode == rte_cpu_to_be_16(RTE_ARP_OP_REQUEST),
		.sender = cygnet_addr4(arp.arp_data.arp_sip),
		.target = cygnet_addr4(arp.arp_data.arp_tip),
	};
	return true;
}

void neigh_message_icmp6(struct rte_mbuf *m, const struct headers *h, struct neigh_message *said)
{
	/* A solicitation and an advertisement have the target at the same place. */
	struct nd_neighbor_solicit nd;

	*said = (struct neigh_message){.af = AF_INET6, .sender = packet_src(m)};
	if (rte_pktmbuf_data_len(m) < h->len + sizeof(nd))
		return;
	memcpy(&nd, rte_pktmbuf_mtod_offset(m, const uint8_t *, h->len), sizeof(nd));
	said->asks = nd.nd_ns_type == ND_NEIGHBOR_SOLICIT;
	if (said->asks)
		memcpy(&said->target, &nd.nd_ns_target, sizeof(said->target));
	else if (nd.nd_ns_type == ND_NEIGHBOR_ADVERT)
		memcpy(&said->sender, &nd.nd_ns_target, sizeof(said->sender));
}
