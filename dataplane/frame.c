/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip6.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <string.h>

#include "frame.h"

#define TYPE_EAPOL 0x888e
#define TYPE_QINQ_OLD 0x9100
#define LENGTH_MAX 1500		/* up to here it is no type (IEEE 802.3, 3.2.6) */
#define LSAP_STP 0x42
#define LSAP_ISIS 0xfe

/* Neighbour and router discovery, and redirects: with this hop limit they come
 * from the link itself (RFC 4861, 11.2). payload: what follows the header, len bytes. */
static bool is_discovery(const struct ip6_hdr *ip, const uint8_t *payload, unsigned int len)
{
	return ip->ip6_nxt == IPPROTO_ICMPV6 && ip->ip6_hlim == 255 && len > 0 &&
	       *payload >= ND_ROUTER_SOLICIT && *payload <= ND_REDIRECT;
}

/* No router takes these to another link (RFC 4291, 2.5.6 and 2.7). */
static bool stays_on_link(const uint8_t *packet, unsigned int len)
{
	struct ip6_hdr ip;	/* behind an Ethernet header it is not aligned for its type */

	if (len < sizeof(ip))
		return false;
	memcpy(&ip, packet, sizeof(ip));
	return IN6_IS_ADDR_LINKLOCAL(&ip.ip6_dst) || IN6_IS_ADDR_MC_LINKLOCAL(&ip.ip6_dst) ||
	       is_discovery(&ip, packet + sizeof(ip), len - sizeof(ip));
}

static enum drop_reason check_ipv6(const struct rte_mbuf *m, enum ipv6_choice choice)
{
	const unsigned int header = sizeof(struct rte_ether_hdr);
	const uint8_t *packet = rte_pktmbuf_mtod_offset(m, const uint8_t *, header);

	if (choice == IPV6_PASS)
		return DROP_NONE;
	if (choice == IPV6_LINK && stays_on_link(packet, rte_pktmbuf_data_len(m) - header))
		return DROP_NONE;
	return DROP_IPV6;
}

/* IEEE 802.2: spanning tree and IS-IS. What SNAP carries is none of them. */
static enum drop_reason check_llc(const struct rte_mbuf *m)
{
	const uint8_t *lsap = rte_pktmbuf_mtod_offset(m, const uint8_t *,
						      sizeof(struct rte_ether_hdr));

	if (rte_pktmbuf_data_len(m) < sizeof(struct rte_ether_hdr) + 2 || lsap[0] != lsap[1])
		return DROP_ETHERTYPE;
	return *lsap == LSAP_STP || *lsap == LSAP_ISIS ? DROP_NONE : DROP_ETHERTYPE;
}

enum drop_reason frame_check(const struct rte_mbuf *m, enum ipv6_choice ipv6, bool *ipv4)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	uint16_t type = rte_be_to_cpu_16(eth->ether_type);

	*ipv4 = type == RTE_ETHER_TYPE_IPV4;
	switch (type) {
	case RTE_ETHER_TYPE_IPV4:
	case RTE_ETHER_TYPE_ARP:
	case RTE_ETHER_TYPE_LLDP:
	case RTE_ETHER_TYPE_SLOW:
	case TYPE_EAPOL:
		return DROP_NONE;
	case RTE_ETHER_TYPE_IPV6:
		return check_ipv6(m, ipv6);
	case RTE_ETHER_TYPE_VLAN:
	case RTE_ETHER_TYPE_QINQ:
	case TYPE_QINQ_OLD:
		return DROP_VLAN_TAG;
	default:
		return type <= LENGTH_MAX ? check_llc(m) : DROP_ETHERTYPE;
	}
}
