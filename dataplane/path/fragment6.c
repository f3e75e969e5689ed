/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_ip_frag.h>

#include "crypto/device/pool.h"
#include "ip/headers.h"
#include "path/fragment.h"

#define AROUND (sizeof(struct rte_ipv6_hdr) + sizeof(struct rte_ipv6_fragment_ext))
#define UNIT   8u /* of offsets, bytes */

/* The part of m with len bytes of payload from offset on. @return NULL: no memory */
static struct rte_mbuf *make_part(struct worker *w, struct rte_mbuf *m, unsigned int offset,
				  unsigned int len, bool more, uint32_t id)
{
	const struct rte_ipv6_hdr *whole = packet_ip6(m);
	struct rte_mbuf *part = rte_pktmbuf_alloc(packet_pool_for(w->packets, AROUND + len));
	struct rte_ipv6_fragment_ext *ext;
	struct rte_ipv6_hdr *ip;
	const void *from;

	if (!part)
		return NULL;
	ip = (struct rte_ipv6_hdr *)rte_pktmbuf_append(part, (uint16_t)(AROUND + len));
	if (!ip) {
		rte_pktmbuf_free(part);
		return NULL;
	}
	*packet(part) = *packet(m);
	*ip = *whole;
	ip->proto = IPPROTO_FRAGMENT;
	ip->payload_len = rte_cpu_to_be_16((uint16_t)(sizeof(*ext) + len));
	ext = (struct rte_ipv6_fragment_ext *)(ip + 1);
	*ext = (struct rte_ipv6_fragment_ext){
		.next_header = whole->proto,
		.frag_data = rte_cpu_to_be_16((uint16_t)(offset | more)),
		.id = id,
	};
	from = rte_pktmbuf_read(m, (uint32_t)sizeof(*whole) + offset, len, ext + 1);
	if (from != ext + 1)
		memcpy(ext + 1, from, len);
	return part;
}

/* @return how many parts; 0: no memory */
static unsigned int make_parts(struct worker *w, struct rte_mbuf *m, unsigned int room,
			       struct rte_mbuf *parts[FRAGMENTS_MAX])
{
	unsigned int total = rte_pktmbuf_pkt_len(m) - (unsigned int)sizeof(struct rte_ipv6_hdr);
	uint32_t id = random_id(&w->fragment_ids); /* not predictable (RFC 7739) */
	unsigned int n = 0;

	for (unsigned int offset = 0; offset < total; offset += room) {
		unsigned int len = RTE_MIN(room, total - offset);

		parts[n] = make_part(w, m, offset, len, offset + len < total, id);
		if (!parts[n]) {
			rte_pktmbuf_free_bulk(parts, n);
			return 0;
		}
		n++;
	}
	return n;
}

unsigned int fragment6_packet(struct worker *w, struct rte_mbuf *m, unsigned int mtu,
			      struct rte_mbuf *parts[FRAGMENTS_MAX])
{
	struct headers h = headers_read(m);
	unsigned int room = (mtu - (unsigned int)AROUND) / UNIT * UNIT, n;

	/* Extension headers in front of a fragment header have rules of their own, and
	 * packets of ours have none. */
	if (h.len != sizeof(struct rte_ipv6_hdr) || mtu < IPV6_MIN_MTU ||
	    rte_pktmbuf_pkt_len(m) > FRAGMENTS_MAX * room) {
		drop(w, m, DROP_TOO_BIG);
		return 0;
	}
	n = make_parts(w, m, room, parts);
	if (!n) {
		drop(w, m, DROP_NO_BUFFER);
		return 0;
	}
	rte_pktmbuf_free(m);
	return n;
}
