/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_front_write.h
 * Writes the outer header template in front of a packet. Inline, because it runs for every packet.
 */
#ifndef CYGNETD_ESP_FRONT_WRITE_H
#define CYGNETD_ESP_FRONT_WRITE_H

#include <rte_esp.h>
#include <rte_udp.h>

#include "esp/esp_front.h"
#include "esp/outer.h"
#include "ip/tos.h"

static inline void front_finish_v4(struct rte_ipv4_hdr *ip, const struct esp_front *f, uint64_t seq,
				   uint8_t tos, bool df, unsigned int total)
{
	uint32_t sum;

	ip->type_of_service = tos;
	ip->total_length = rte_cpu_to_be_16((uint16_t)total);
	ip->packet_id = outer_id(f->spi, seq);
	ip->fragment_offset = df ? rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG) : 0;
	sum = (uint32_t)f->sum + rte_cpu_to_be_16(tos) + ip->total_length + ip->packet_id +
	      ip->fragment_offset;
	sum = (sum & 0xffff) + (sum >> 16);
	ip->hdr_checksum = (uint16_t) ~((sum & 0xffff) + (sum >> 16));
}

static inline void front_finish_v6(struct rte_ipv6_hdr *ip, uint8_t tos, unsigned int total)
{
	ip->vtc_flow |= rte_cpu_to_be_32((uint32_t)tos << TOS_V6_SHIFT);
	ip->payload_len = rte_cpu_to_be_16((uint16_t)(total - sizeof(*ip)));
}

/* Set what depends on the packet in the UDP and ESP headers of the template, which end at end.
 * @param datagram  bytes from the UDP header on */
static inline void front_finish_esp(const struct esp_front *f, uint8_t *end, uint64_t seq,
				    unsigned int datagram)
{
	const rte_be32_t number = rte_cpu_to_be_32((uint32_t)seq);
	const rte_be16_t len = rte_cpu_to_be_16((uint16_t)datagram);

	memcpy(end - sizeof(number), &number, sizeof(number));
	if (f->udp)
		memcpy(end - sizeof(struct rte_esp_hdr) - sizeof(struct rte_udp_hdr) +
			       offsetof(struct rte_udp_hdr, dgram_len),
		       &len, sizeof(len));
}

/**
 * Write the UDP and ESP headers of the template behind the IP header of a packet in transport mode.
 * @return position of the IV
 * @param datagram  bytes from there on of the final packet
 */
static inline uint8_t *esp_front_write_esp(const struct esp_front *f, uint8_t *header, uint64_t seq,
					   unsigned int datagram)
{
	unsigned int len = f->len - outer_len(f->v6);

	memcpy(header, f->bytes + sizeof(f->bytes) - len, len);
	front_finish_esp(f, header + len, seq, datagram);
	return header + len;
}

/**
 * Write the template in front of an inner packet. @return position of the IV
 * @param ip      the inner packet
 * @param room    headroom in bytes, enough for template and IV
 * @param seq     ESP sequence number
 * @param iv_len  bytes of the IV, between template and inner packet
 * @param total   bytes of the final packet
 */
static __rte_always_inline uint8_t *esp_front_write(const struct esp_front *f, uint8_t *ip,
						    unsigned int room, uint64_t seq,
						    unsigned int iv_len, unsigned int total)
{
	uint8_t *end = ip - iv_len, *outer = end - f->len;
	uint8_t tos = (uint8_t)(tos_of(ip) & f->copy_tos);

	if (esp_front_writes_all(room, iv_len))
		memcpy(end - sizeof(f->bytes), f->bytes, sizeof(f->bytes));
	else
		memcpy(outer, f->bytes + sizeof(f->bytes) - f->len, f->len);
	front_finish_esp(f, end, seq, total - outer_len(f->v6));
	if (f->v6)
		front_finish_v6((struct rte_ipv6_hdr *)outer, tos, total);
	else
		front_finish_v4((struct rte_ipv4_hdr *)outer, f, seq, tos,
				f->copy_df && outer_df(ip), total);
	return end;
}

#endif
