/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "esp_transport.h"
#include "fragment.h"
#include "ip_sum.h"

bool esp_transport_fits(struct rte_mbuf *m, const struct cygnet_path *path)
{
	const struct rte_ipv4_hdr *ip = packet_ip(m);

	return packet_family(m) == AF_INET && !is_fragment(ip) &&
	       ip->src_addr == path->src.v4 && ip->dst_addr == path->dst.v4;
}

static void fix_header(struct rte_ipv4_hdr *ip, unsigned int total, uint8_t proto)
{
	ip->total_length = rte_cpu_to_be_16((uint16_t)total);
	ip->next_proto_id = proto;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = ip_checksum(ip, ip_header_len(ip));
}

uint8_t *esp_transport_open(struct rte_mbuf *m, unsigned int space, unsigned int total,
			    uint8_t proto)
{
	unsigned int header = ip_header_len(packet_ip(m));
	uint8_t *at = (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)space);

	if (!at)
		return NULL;
	memmove(at, at + space, header);
	fix_header(packet_ip(m), total, proto);
	return at + header;
}

/* Where the checksum of the payload is. @return NULL: it has none */
static uint8_t *checksum_field(struct rte_mbuf *m, uint8_t *l4)
{
	const struct rte_ipv4_hdr *ip = packet_ip(m);
	unsigned int len = rte_pktmbuf_data_len(m) - ip_header_len(ip);
	uint8_t *field = l4 + offsetof(struct rte_udp_hdr, dgram_cksum);

	if (ip->next_proto_id == IPPROTO_TCP && len >= sizeof(struct rte_tcp_hdr))
		return l4 + offsetof(struct rte_tcp_hdr, cksum);
	/* Zero in UDP: the sender has left it out. */
	if (ip->next_proto_id == IPPROTO_UDP && len >= sizeof(struct rte_udp_hdr) &&
	    (field[0] || field[1]))
		return field;
	return NULL;
}

static void fix_checksum(struct rte_mbuf *m)
{
	struct rte_ipv4_hdr *ip = packet_ip(m);
	uint8_t *l4 = (uint8_t *)ip + ip_header_len(ip), *field = checksum_field(m, l4);
	uint16_t sum = 0;

	if (!field)
		return;
	memcpy(field, &sum, sizeof(sum));
	sum = rte_ipv4_udptcp_cksum(ip, l4);
	memcpy(field, &sum, sizeof(sum));
}

void esp_transport_close(struct rte_mbuf *m, unsigned int skip, uint8_t proto)
{
	unsigned int header = ip_header_len(packet_ip(m));
	uint8_t *at = rte_pktmbuf_mtod(m, uint8_t *);

	memmove(at + skip - header, at, header);
	rte_pktmbuf_adj(m, (uint16_t)(skip - header));
	fix_header(packet_ip(m), rte_pktmbuf_data_len(m), proto);
	if (packet(m)->udp)
		fix_checksum(m);
}
