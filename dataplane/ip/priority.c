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

void priority_to_dscp(struct rte_mbuf *const *m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *tag, *ip = packet_behind(m[i], &tag);

		if (ip && tag)
			tos_write(ip, (uint8_t)((tos_of(ip) & TOS_ECN) |
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
