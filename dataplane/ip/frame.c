/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_byteorder.h>
#include <rte_ether.h>

#include "host/vlan.h"
#include "ip/frame.h"

#define TYPE_EAPOL 0x888e
#define LENGTH_MAX 1500 /* up to this value the field is a length (IEEE 802.3, 3.2.6) */
#define LSAP_STP   0x42
#define LSAP_ISIS  0xfe

/* IEEE 802.2: spanning tree and IS-IS pass; SNAP does not, because it may carry IP. */
static enum drop_reason check_llc(const struct rte_mbuf *m)
{
	const uint8_t *lsap = rte_pktmbuf_mtod_offset(m, const uint8_t *,
						      sizeof(struct rte_ether_hdr));

	if (rte_pktmbuf_data_len(m) < sizeof(struct rte_ether_hdr) + 2 || lsap[0] != lsap[1])
		return DROP_ETHERTYPE;
	return *lsap == LSAP_STP || *lsap == LSAP_ISIS ? DROP_NONE : DROP_ETHERTYPE;
}

enum drop_reason frame_check(const struct rte_mbuf *m, bool *ip)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	uint16_t type = rte_be_to_cpu_16(eth->ether_type);

	*ip = type == RTE_ETHER_TYPE_IPV4 || type == RTE_ETHER_TYPE_IPV6;
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED || vlan_is_tag(type))
		return DROP_VLAN_TAG;
	switch (type) {
	case RTE_ETHER_TYPE_IPV4:
	case RTE_ETHER_TYPE_IPV6:
	case RTE_ETHER_TYPE_ARP:
	case RTE_ETHER_TYPE_LLDP:
	case RTE_ETHER_TYPE_SLOW:
	case TYPE_EAPOL:
		return DROP_NONE;
	default:
		return type <= LENGTH_MAX ? check_llc(m) : DROP_ETHERTYPE;
	}
}
