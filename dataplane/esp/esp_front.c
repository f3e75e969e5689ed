/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_esp.h>
#include <rte_udp.h>

#include "cygnet.h"
#include "esp/esp_front.h"
#include "esp/outer.h"
#include "ip/ip_sum.h"
#include "ip/tos.h"

/* Write the headers from the end of bytes[] to the front. Lengths, sequence number and all fields that
 * depend on the packet are zero. */
static void make(struct esp_front *f, const struct cygnet_sa *sa, const struct cygnet_path *path)
{
	const struct rte_esp_hdr esp = {.spi = sa->spi};
	const struct rte_udp_hdr udp = {.src_port = path->sport, .dst_port = path->dport};
	const struct outer outer = {
		.v6 = f->v6,
		.proto = path->encap ? IPPROTO_UDP : IPPROTO_ESP,
	};
	uint8_t *header = f->bytes + sizeof(f->bytes) - sizeof(esp);

	memcpy(header, &esp, sizeof(esp));
	if (f->udp) {
		header -= sizeof(udp);
		memcpy(header, &udp, sizeof(udp));
	}
	header -= outer_len(f->v6);
	outer_write(header, &outer, path, f->v6 ? sizeof(struct rte_ipv6_hdr) : 0);
	f->len = (uint8_t)(f->bytes + sizeof(f->bytes) - header);
	if (!f->v6) {
		((struct rte_ipv4_hdr *)header)->hdr_checksum = 0;
		f->sum = ip_sum(header, sizeof(struct rte_ipv4_hdr));
	}
}

bool esp_front_make(struct esp_front *f, const struct cygnet_sa *sa)
{
	uint32_t index = __atomic_load_n(&sa->path_index, __ATOMIC_ACQUIRE);
	const struct cygnet_path *path = &sa->path[index & 1];

	if (f->made && f->path_index == index)
		return false;
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
	return true;
}

void esp_front_set_link(struct esp_front *f, const struct link_header *link)
{
	uint8_t *end = f->bytes + sizeof(f->bytes);

	if (esp_front_has_link(f, link))
		memcpy(end - f->len - link->len, link->bytes, link->len);
}
