/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_ether.h>
#include <rte_ip.h>

#include "conf/conf.h"
#include "host/vlan.h"
#include "ip/priority.h"
#include "ip/tos.h"

#define TYPE_AT	    (2 * RTE_ETHER_ADDR_LEN)
#define PCP_SHIFT   13
#define CLASS_SHIFT 5 /* in the TOS byte */

/* The IP packet behind the tags of a frame, one after the other. @return NULL: it has none */
static uint8_t *packet_behind(struct rte_mbuf *m, uint8_t **tag)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *at = frame + TYPE_AT;
	unsigned int len = rte_pktmbuf_data_len(m);
	uint16_t type = 0;

	*tag = NULL;
	for (; len >= (unsigned int)(at - frame) + 2 + sizeof(struct rte_ipv4_hdr);
	     at += VLAN_TAG) {
		type = vlan_word(at);
		if (!vlan_is_tag(type))
			break;
		if (!*tag)
			*tag = at;
	}
	if (type == RTE_ETHER_TYPE_IPV4 && at[2] >> 4 == 4)
		return at + 2;
	return type == RTE_ETHER_TYPE_IPV6 && at[2] >> 4 == 6 ? at + 2 : NULL;
}

/* The checksum of an IPv4 header is updated, and stays wrong if it was (RFC 1624). */
static void set_tos(uint8_t *ip, uint8_t tos)
{
	struct rte_ipv4_hdr *v4 = (struct rte_ipv4_hdr *)ip;
	uint32_t sum;

	if (ip[0] >> 4 == 6) {
		ip[0] = (uint8_t)(0x60 | tos >> 4);
		ip[1] = (uint8_t)((ip[1] & 0x0f) | tos << 4);
		return;
	}
	sum = (uint32_t)(uint16_t)~v4->hdr_checksum +
	      (uint16_t)~rte_cpu_to_be_16(v4->type_of_service) + rte_cpu_to_be_16(tos);
	sum = (sum & 0xffff) + (sum >> 16);
	v4->hdr_checksum = (rte_be16_t) ~((sum & 0xffff) + (sum >> 16));
	v4->type_of_service = tos;
}

void priority_to_dscp(struct rte_mbuf *const *m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *tag, *ip = packet_behind(m[i], &tag);

		if (ip && tag)
			set_tos(ip, (uint8_t)((tos_of(ip) & RTE_IPV4_HDR_ECN_MASK) |
					      tag[2] >> (PCP_SHIFT - 8) << CLASS_SHIFT));
	}
}

void priority_set(struct rte_mbuf *const *m, unsigned int n, uint8_t priority)
{
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *tag, *ip = packet_behind(m[i], &tag), pcp = priority;

		if (priority == CONF_PRIORITY_OF_DSCP)
			pcp = ip ? tos_of(ip) >> CLASS_SHIFT : 0;
		for (unsigned int t = 0; tag && t < 2 && vlan_is_tag(vlan_word(tag));
		     t++, tag += VLAN_TAG)
			tag[2] = (uint8_t)((tag[2] & 0x1f) | pcp << (PCP_SHIFT - 8));
	}
}
