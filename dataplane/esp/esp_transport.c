/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "esp/esp_transport.h"
#include "ip/headers.h"
#include "ip/ip_sum.h"

bool esp_transport_fits(struct rte_mbuf *m, const struct cygnet_path *path)
{
	struct cygnet_addr src = packet_src(m), dst = packet_dst(m);
	struct headers h = headers_read(m);

	return !h.fragment && !h.fragment_at && packet_family(m) == path->af &&
	       !memcmp(&src, &path->src, sizeof(src)) && !memcmp(&dst, &path->dst, sizeof(dst));
}

/* @param proto_at  offset of the field with the protocol */
static void fix_headers(struct rte_mbuf *m, unsigned int total, unsigned int proto_at,
			uint8_t proto)
{
	struct rte_ipv6_hdr *ip6 = packet_ip6(m);
	struct rte_ipv4_hdr *ip = packet_ip(m);

	*rte_pktmbuf_mtod_offset(m, uint8_t *, proto_at) = proto;
	if (packet_family(m) == AF_INET6) {
		ip6->payload_len = rte_cpu_to_be_16((uint16_t)(total - sizeof(*ip6)));
		return;
	}
	ip->total_length = rte_cpu_to_be_16((uint16_t)total);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = ip_checksum(ip, ip_header_len(ip));
}

uint8_t *esp_transport_open(struct rte_mbuf *m, unsigned int space, unsigned int total,
			    uint8_t proto)
{
	struct headers front = headers_front(m);
	uint8_t *ip = (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)space);

	if (!ip)
		return NULL;
	memmove(ip, ip + space, front.len);
	fix_headers(m, total, front.proto_at, proto);
	return ip + front.len;
}

/* The checksum field of a TCP or UDP payload. @return NULL: no checksum */
static uint8_t *checksum_field(uint8_t *l4, unsigned int len, uint8_t proto)
{
	uint8_t *field = l4 + offsetof(struct rte_udp_hdr, dgram_cksum);

	if (proto == IPPROTO_TCP && len >= sizeof(struct rte_tcp_hdr))
		return l4 + offsetof(struct rte_tcp_hdr, cksum);
	/* A zero UDP checksum means that the sender computed none. */
	if (proto == IPPROTO_UDP && len >= sizeof(struct rte_udp_hdr) && (field[0] || field[1]))
		return field;
	return NULL;
}

static void fix_checksum(struct rte_mbuf *m)
{
	struct headers h = headers_read(m);
	unsigned int len = rte_pktmbuf_data_len(m) - h.len;
	uint8_t *l4 = rte_pktmbuf_mtod_offset(m, uint8_t *, h.len);
	uint8_t *field = checksum_field(l4, len, h.proto);
	uint16_t sum = 0;

	if (!field)
		return;
	memcpy(field, &sum, sizeof(sum));
	sum = packet_family(m) == AF_INET6 ? headers_checksum6(m, &h)
					   : rte_ipv4_udptcp_cksum(packet_ip(m), l4);
	memcpy(field, &sum, sizeof(sum));
}

enum drop_reason esp_transport_close(struct rte_mbuf *m, unsigned int skip, uint8_t proto)
{
	struct headers h = headers_read(m);
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);
	enum drop_reason reason = DROP_NONE;

	memmove(ip + skip - h.len, ip, h.len);
	rte_pktmbuf_adj(m, (uint16_t)(skip - h.len));
	fix_headers(m, rte_pktmbuf_data_len(m), h.proto_at, proto);
	/* The decrypted payload may begin with IPv6 extension headers, which are not checked yet. */
	if (packet_family(m) == AF_INET6)
		reason = headers_check(m, false);
	if (reason == DROP_NONE && packet(m)->udp)
		fix_checksum(m);
	return reason;
}
