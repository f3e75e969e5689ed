/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_ether.h>

#include "ip/frame.h"
#include "ip/headers.h"
#include "path/frame_in.h"

enum drop_reason frame_in_check(const struct worker *w, struct rte_mbuf *m, unsigned int interface,
				bool *ip)
{
	packet_received(w, m, interface);
	if ((m->nb_segs > 1 && rte_pktmbuf_linearize(m)) ||
	    rte_pktmbuf_data_len(m) < sizeof(struct rte_ether_hdr))
		return DROP_MALFORMED;
	return frame_check(m, ip);
}

enum drop_reason frame_in_strip(struct rte_mbuf *m, bool verify)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	bool v6 = eth->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6);

	rte_pktmbuf_adj(m, sizeof(*eth));
	if (!rte_pktmbuf_data_len(m) || v6 != (packet_family(m) == AF_INET6))
		return DROP_MALFORMED;
	return headers_check(m, verify);
}

void frame_in_restore(struct rte_mbuf *m)
{
	rte_pktmbuf_prepend(m, sizeof(struct rte_ether_hdr));
}
