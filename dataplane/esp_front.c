/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_esp.h>
#include <rte_udp.h>

#include "cygnet.h"
#include "esp_front.h"
#include "ip_sum.h"
#include "outer.h"
#include "tos.h"

/* From the end: lengths, numbers and what depends on the packet are zero. */
static void make(struct esp_front *f, const struct cygnet_sa *sa, const struct cygnet_path *path)
{
	const struct rte_esp_hdr esp = {.spi = sa->spi};
	const struct rte_udp_hdr udp = {.src_port = path->sport, .dst_port = path->dport};
	const struct outer outer = {
		.v6 = f->v6,
		.proto = path->encap ? IPPROTO_UDP : IPPROTO_ESP,
	};
	uint8_t *at = f->bytes + sizeof(f->bytes) - sizeof(esp);

	memcpy(at, &esp, sizeof(esp));
	if (f->udp) {
		at -= sizeof(udp);
		memcpy(at, &udp, sizeof(udp));
	}
	at -= outer_len(f->v6);
	outer_write(at, &outer, path, f->v6 ? sizeof(struct rte_ipv6_hdr) : 0);
	f->len = (uint8_t)(f->bytes + sizeof(f->bytes) - at);
	if (!f->v6) {
		((struct rte_ipv4_hdr *)at)->hdr_checksum = 0;
		f->sum = ip_sum(at, sizeof(struct rte_ipv4_hdr));
	}
}

void esp_front_make(struct esp_front *f, const struct cygnet_sa *sa)
{
	uint32_t index = __atomic_load_n(&sa->path_index, __ATOMIC_ACQUIRE);
	const struct cygnet_path *path = &sa->path[index & 1];

	if (f->made && f->path_index == index)
		return;
	*f = (struct esp_front){
		.made = true,
		.v6 = path->af == AF_INET6,
		.udp = path->encap,
		.copy_df = sa->flags & CYGNET_SA_COPY_DF,
		.copy_tos = outer_tos_mask(sa),
		.path_index = index,
		.spi = sa->spi,
	};
	make(f, sa, path);
}

void esp_front_set_ether(struct esp_front *f, const uint8_t *eth)
{
	uint8_t *end = f->bytes + sizeof(f->bytes);

	if (esp_front_has_ether(f))
		memcpy(end - f->len - sizeof(struct rte_ether_hdr), eth, sizeof(struct rte_ether_hdr));
}

static void finish_v4(struct rte_ipv4_hdr *ip, const struct esp_front *f, uint64_t seq,
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
	ip->hdr_checksum = (uint16_t)~((sum & 0xffff) + (sum >> 16));
}

static void finish_v6(struct rte_ipv6_hdr *ip, uint8_t tos, unsigned int total)
{
	ip->vtc_flow |= rte_cpu_to_be_32((uint32_t)tos << TOS_V6_SHIFT);
	ip->payload_len = rte_cpu_to_be_16((uint16_t)(total - sizeof(*ip)));
}

uint8_t *esp_front_write(const struct esp_front *f, uint8_t *ip, unsigned int room, uint64_t seq,
			 unsigned int iv_len, unsigned int total)
{
	const rte_be32_t number = rte_cpu_to_be_32((uint32_t)seq);
	uint8_t *end = ip - iv_len, *at = end - f->len;
	uint8_t tos = (uint8_t)(tos_of(ip) & f->copy_tos);
	rte_be16_t datagram;

	if (esp_front_writes_all(room, iv_len))
		memcpy(end - sizeof(f->bytes), f->bytes, sizeof(f->bytes));
	else
		memcpy(at, f->bytes + sizeof(f->bytes) - f->len, f->len);
	memcpy(end - sizeof(number), &number, sizeof(number));
	if (f->udp) {
		datagram = rte_cpu_to_be_16((uint16_t)(total - outer_len(f->v6)));
		memcpy(end - sizeof(struct rte_esp_hdr) - sizeof(struct rte_udp_hdr) +
			       offsetof(struct rte_udp_hdr, dgram_len), &datagram, sizeof(datagram));
	}
	if (f->v6)
		finish_v6((struct rte_ipv6_hdr *)at, tos, total);
	else
		finish_v4((struct rte_ipv4_hdr *)at, f, seq, tos, f->copy_df && outer_df(ip), total);
	return end;
}
