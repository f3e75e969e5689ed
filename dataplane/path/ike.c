/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_udp.h>

#include "base/clock.h"
#include "ip/ike_header.h"
#include "path/ike.h"

#define IKE_PORT rte_cpu_to_be_16(500)

/* Charon leaves the marker out if either port is 500, or at a port that is for IKE alone. */
static bool needs_marker(struct rte_mbuf *m, rte_be16_t own, rte_be16_t other)
{
	return own != IKE_PORT && other != IKE_PORT &&
	       cygnet_ike_port(sadb, packet_family(m), rte_be_to_cpu_16(own)) != CYGNET_IKE_PLAIN;
}

/* Without a charon nobody notes addresses. */
static bool charon_sends_to(struct rte_mbuf *m)
{
	struct cygnet_addr dst = packet_dst(m);

	return !__atomic_load_n(&sadb_charon, __ATOMIC_RELAXED) ||
	       cygnet_ike_noted(sadb, packet_family(m), &dst, (uint32_t)clock_seconds());
}

bool ike_exempt(struct rte_mbuf *m, const struct headers *h, bool out)
{
	unsigned int data = h->len + (unsigned int)sizeof(struct rte_udp_hdr), have, len;
	struct rte_udp_hdr udp;
	rte_be16_t own, other;

	if (rte_pktmbuf_data_len(m) < data)
		return false;
	memcpy(&udp, rte_pktmbuf_mtod_offset(m, const uint8_t *, h->len), sizeof(udp));
	own = out ? udp.src_port : udp.dst_port;
	other = out ? udp.dst_port : udp.src_port;
	len = rte_be_to_cpu_16(udp.dgram_len);
	if (!ike_exempt_port(m, own) || len < sizeof(udp) ||
	    (h->fragment ? len + h->len < rte_pktmbuf_pkt_len(m)
			 : len + h->len != rte_pktmbuf_pkt_len(m)) ||
	    (out && !charon_sends_to(m)))
		return false;
	len -= (unsigned int)sizeof(udp);
	have = RTE_MIN(rte_pktmbuf_data_len(m) - data, len);
	/* Charon sends what the header says; peers may pad. */
	return ike_message_fits(rte_pktmbuf_mtod_offset(m, const uint8_t *, data), have, len,
				(needs_marker(m, own, other) ? (unsigned int)IKE_MARKED : 0u) |
					(out ? 0u : (unsigned int)IKE_PADDED));
}
