/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_byteorder.h>

#include "ip/headers.h"
#include "ip/l4.h"
#include "ip/packet.h"

packet_drop_watch packet_drops_watched;

struct rte_mbuf *packet_move(struct rte_mbuf *m, struct rte_mempool *pool)
{
	struct rte_mbuf *moved = rte_pktmbuf_copy(m, pool, 0, UINT32_MAX);

	if (!moved)
		return NULL;
	*packet(moved) = *packet(m);
	rte_pktmbuf_free(m);
	return moved;
}

static unsigned int selectors_of(const struct cygnet_flow *flow)
{
	return l4_selectors(flow->af == AF_INET6, flow->proto);
}

bool packet_hides_ports(const struct cygnet_flow *flow)
{
	return !flow->has_ports && selectors_of(flow);
}

bool packet_hides_protocol(struct rte_mbuf *m)
{
	return packet_family(m) == AF_INET6 && headers_read(m).later;
}

void packet_flow(struct rte_mbuf *m, struct cygnet_flow *flow)
{
	struct headers h = headers_read(m);
	const uint8_t *l4 = rte_pktmbuf_mtod_offset(m, const uint8_t *, h.len);
	unsigned int left = rte_pktmbuf_data_len(m) - h.len, size;

	*flow = (struct cygnet_flow){
		.src = packet_src(m),
		.dst = packet_dst(m),
		.af = packet_family(m),
		.proto = h.proto,
		.fragment = h.fragment,
	};
	size = selectors_of(flow);
	if (h.later || !size || left < size)
		return;
	flow->has_ports = 1;
	if (size == L4_PORTS) {
		flow->sport = (uint16_t)(l4[0] << 8 | l4[1]);
		flow->dport = (uint16_t)(l4[2] << 8 | l4[3]);
	} else {
		flow->sport = l4[0];
		flow->dport = l4[1];
	}
}

bool packet_decrement_ttl(struct rte_ipv4_hdr *ip)
{
	uint32_t sum;

	if (ip->time_to_live <= 1)
		return false;
	ip->time_to_live--;
	/* RFC 1624: the TTL is the high byte of its word. A checksum of 0xffff is written as 0. */
	sum = (uint32_t)ip->hdr_checksum + rte_cpu_to_be_16(0x0100);
	ip->hdr_checksum = (uint16_t)(sum + (sum >= 0xffff));
	return true;
}
