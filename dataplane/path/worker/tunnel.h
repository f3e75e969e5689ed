/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tunnel.h
 * Tunnels on a packet's way: which one an SA has, and their counters, which are of inner packets. Lcores.
 */
#ifndef CYGNETD_TUNNEL_H
#define CYGNETD_TUNNEL_H

#include "host/interface.h"
#include "path/worker/worker.h"

/** No tunnel: an index that no interface has. */
#define TUNNEL_NONE CONF_MAX_INTERFACES

/** The tunnel with an SA's interface ID. @return index in interfaces[] or TUNNEL_NONE */
static inline unsigned int tunnel_of(const struct cygnet_sa *sa)
{
	int tunnel = sa->if_id ? interface_by_if_id(sa->if_id) : -1;

	return tunnel < 0 ? TUNNEL_NONE : (unsigned int)tunnel;
}

/** Whether there is any. */
static inline bool tunnels_exist(void)
{
	return __atomic_load_n(&interfaces_tunnels, __ATOMIC_RELAXED);
}

/** Count a packet out of an SA. @param tunnel  of tunnel_of() */
static inline void tunnel_count_in(struct worker *w, unsigned int tunnel, struct rte_mbuf *m)
{
	if (likely(tunnel == TUNNEL_NONE))
		return;
	w->stats->interface[tunnel].rx_packets++;
	w->stats->interface[tunnel].rx_bytes += rte_pktmbuf_pkt_len(m);
}

/** Count a packet that is to be protected by an SA. */
static inline void tunnel_count_out(struct worker *w, unsigned int tunnel, struct rte_mbuf *m)
{
	if (likely(tunnel == TUNNEL_NONE))
		return;
	w->stats->interface[tunnel].tx_packets++;
	w->stats->interface[tunnel].tx_bytes += rte_pktmbuf_pkt_len(m);
}

#endif
