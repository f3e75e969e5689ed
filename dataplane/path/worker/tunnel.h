/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tunnel.h
 * Tunnels on a packet's way: which one an SA has, and their counters, which are of inner packets. Lcores.
 */
#ifndef CYGNETD_TUNNEL_H
#define CYGNETD_TUNNEL_H

#include "host/interface.h"
#include "path/worker/worker.h"

/** Whether there is any. */
static inline bool tunnels_exist(void)
{
	return __atomic_load_n(&interfaces_tunnels, __ATOMIC_RELAXED);
}

/**
 * A packet that an SA with an interface ID has decrypted comes in by the tunnel with that ID: packet()->interface is the
 * tunnel from now on, and the packet is counted.
 * @param if_id  not 0
 * @return false: there is no such tunnel
 */
static inline bool tunnel_enter(struct worker *w, struct rte_mbuf *m, uint32_t if_id)
{
	int tunnel = interface_by_if_id(if_id);

	if (tunnel < 0)
		return false;
	packet(m)->interface = (uint8_t)tunnel;
	w->stats->interface[tunnel].rx_packets++;
	w->stats->interface[tunnel].rx_bytes += rte_pktmbuf_pkt_len(m);
	return true;
}

/** Count packets that an SA protects, as the SA counts them, if it has an interface ID.
 * @param bytes  of all packets, each with its IP header */
static inline void tunnel_count_out(struct worker *w, const struct cygnet_sa *sa,
				    unsigned int packets, uint64_t bytes)
{
	int tunnel;

	if (likely(!tunnels_exist()) || !sa->if_id)
		return;
	tunnel = interface_by_if_id(sa->if_id);
	if (tunnel < 0)
		return;
	w->stats->interface[tunnel].tx_packets += packets;
	w->stats->interface[tunnel].tx_bytes += bytes;
}

#endif
