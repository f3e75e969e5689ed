/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_ip_frag.h>

#include "crypto/device/pool.h"
#include "ip/ip_sum.h"
#include "path/fragment.h"
#include "path/worker/trace_note.h"

static void fix_header(struct rte_mbuf *part, const struct packet *p)
{
	struct rte_ipv4_hdr *ip = packet_ip(part);

	*packet(part) = *p;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = ip_checksum(ip, ip_header_len(ip));
}

unsigned int fragment_packet(struct worker *w, struct rte_mbuf *m, unsigned int mtu,
			     struct rte_mbuf *parts[FRAGMENTS_MAX])
{
	const struct packet p = *packet(m);
	int32_t n;

	if (unlikely(w->trace != NULL))
		return trace_fragment(w, m, mtu, parts);
	if (packet_family(m) == AF_INET6)
		return fragment6_packet(w, m, mtu, parts);
	packet_ip(m)->fragment_offset &= rte_cpu_to_be_16((uint16_t)~RTE_IPV4_HDR_DF_FLAG);
	/* Also of a packet in several segments, the parts are linear. */
	n = rte_ipv4_fragment_copy_nonseg_packet(m, parts, FRAGMENTS_MAX, (uint16_t)mtu,
						 packet_pool_for(w->packets, mtu));
	if (n < 0) {
		drop(w, m, n == -ENOMEM ? DROP_NO_BUFFER : DROP_TOO_BIG);
		return 0;
	}
	rte_pktmbuf_free(m);
	for (int32_t i = 0; i < n; i++)
		fix_header(parts[i], &p);
	return (unsigned int)n;
}
