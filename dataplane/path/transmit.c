/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "host/port.h"
#include "path/fragment.h"
#include "path/pipeline.h"

#define TAP_FRAME (uint32_t)(RTE_ETHER_MTU + RTE_ETHER_HDR_LEN)

/* @param bytes  receives how many went out
 * @return packets that went out */
static uint16_t flush_batch(struct worker *w, struct mbuf_batch *batch, uint16_t ethdev,
			    uint16_t queue, enum drop_reason full, uint64_t *bytes)
{
	unsigned int n = batch->n;
	uint16_t sent;

	*bytes = 0;
	if (!n)
		return 0;
	/* Before the device has them: then they are not ours to read. */
	for (unsigned int i = 0; i < n; i++)
		*bytes += rte_pktmbuf_pkt_len(batch->m[i]);
	sent = rte_eth_tx_burst(ethdev, queue, batch->m, (uint16_t)n);
	for (unsigned int i = sent; i < n; i++) {
		*bytes -= rte_pktmbuf_pkt_len(batch->m[i]);
		drop(w, batch->m[i], full);
	}
	batch->n = 0;
	return sent;
}

/* net_tap of DPDK 22.11 sends what the segments hold, but none of a packet that says to be
 * longer than the MTU which the driver has; that it has no way to raise (port.c). */
static void fit_tap(struct mbuf_batch *batch)
{
	for (unsigned int i = 0; i < batch->n; i++)
		batch->m[i]->pkt_len = RTE_MIN(batch->m[i]->pkt_len, TAP_FRAME);
}

void transmit_flush(struct worker *w)
{
	for (unsigned int p = 0; p < nports; p++) {
		struct stats_port *s = &w->stats->port[p];
		uint16_t queue = (uint16_t)(w->id % ports[p].queues);
		uint64_t bytes;

		s->tx_packets += flush_batch(w, &w->tx[p], ports[p].id, queue, DROP_TX_FULL,
					     &bytes);
		s->tx_bytes += bytes;
		if (ports[p].mtu > RTE_ETHER_MTU)
			fit_tap(&w->tap[p]);
		s->to_kernel += flush_batch(w, &w->tap[p], ports[p].tap_id, 0, DROP_TAP_FULL,
					    &bytes);
	}
}

/* A port with a single queue has one sender, and ports are spread over the workers. */
void transmit_init(struct worker *w)
{
	for (unsigned int p = 0; p < nports; p++)
		w->tx_owner[p] = (uint8_t)(ports[p].queues == 1 ? p % w->workers
								: w->id % ports[p].queues);
}

void transmit_by(struct worker *w, struct rte_mbuf *m, unsigned int port)
{
	struct mbuf_batch *batch = &w->tx[port];

	if (w->tx_owner[port] != w->id) {
		packet(m)->port = (uint8_t)port;
		packet(m)->stage = STAGE_TX;
		hand_over(w, m, w->tx_owner[port]);
		return;
	}
	batch->m[batch->n++] = m;
	if (batch->n == RTE_DIM(batch->m))
		transmit_flush(w);
}

void transmit_frame(struct worker *w, struct rte_mbuf *m)
{
	transmit_by(w, m, packet(m)->port);
}

void transmit_to_kernel(struct worker *w, struct rte_mbuf *m)
{
	unsigned int port = packet(m)->port, owner = tap_owner(w, port);
	struct mbuf_batch *batch = &w->tap[port];

	packet(m)->stage = STAGE_TAP;
	if (owner != w->id) {
		hand_over(w, m, owner);
		return;
	}
	batch->m[batch->n++] = m;
	if (batch->n == RTE_DIM(batch->m))
		transmit_flush(w);
}

static bool push_ethernet(struct rte_mbuf *m, const struct rte_ether_addr *dst,
			  const struct rte_ether_addr *src)
{
	rte_be16_t type = packet_family(m) == AF_INET6 ? rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6)
						       : rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	struct rte_ether_hdr *eth = (void *)rte_pktmbuf_prepend(m, sizeof(*eth));

	if (!eth)
		return false;
	eth->dst_addr = *dst;
	eth->src_addr = *src;
	eth->ether_type = type;
	return true;
}

static void frame_to_kernel(struct worker *w, struct rte_mbuf *m)
{
	struct rte_ether_addr own = port_mac(&ports[packet(m)->port]);

	if (push_ethernet(m, &own, &own))
		transmit_to_kernel(w, m);
	else
		drop(w, m, DROP_NO_BUFFER);
}

void transmit_packet_to_kernel(struct worker *w, struct rte_mbuf *m)
{
	struct rte_mbuf *parts[FRAGMENTS_MAX];
	uint16_t mtu = ports[packet(m)->port].mtu;
	unsigned int n;

	if (rte_pktmbuf_pkt_len(m) <= mtu) {
		frame_to_kernel(w, m);
		return;
	}
	n = fragment_packet(w, m, mtu, parts);
	for (unsigned int i = 0; i < n; i++)
		frame_to_kernel(w, parts[i]);
}

void transmit_resolved(struct worker *w, struct rte_mbuf *m, unsigned int port,
		       const struct rte_ether_addr *mac)
{
	struct rte_ether_addr own = port_mac(&ports[port]);

	if (push_ethernet(m, mac, &own))
		transmit_by(w, m, port);
	else
		drop(w, m, DROP_NO_BUFFER);
}

void transmit_framed(struct worker *w, struct rte_mbuf *m, unsigned int port, const uint8_t *eth)
{
	char *at = rte_pktmbuf_prepend(m, sizeof(struct rte_ether_hdr));

	if (!at) {
		drop(w, m, DROP_NO_BUFFER);
		return;
	}
	memcpy(at, eth, sizeof(struct rte_ether_hdr));
	transmit_by(w, m, port);
}

static void transmit_to(struct worker *w, struct rte_mbuf *m, const struct next_hop *hop)
{
	struct neigh neigh = packet_neigh(m, hop);
	struct rte_ether_addr mac;

	if (pending_resolve(w, &neigh, &mac)) {
		transmit_resolved(w, m, hop->port, &mac);
		return;
	}
	neigh_solicit(&neigh);
	pending_add(w, m, &neigh);
}

/* How long a packet may be on its way out. One of IPv6 that we have put together has parts
 * no longer than before: how long they may be its source has found out. */
static unsigned int longest_out(struct rte_mbuf *m, const struct next_hop *hop)
{
	unsigned int mtu = ports[hop->port].mtu, before;

	if (!packet(m)->whole || packet(m)->own || packet_family(m) != AF_INET6)
		return mtu;
	before = RTE_MAX(packet(m)->whole, IPV6_MIN_MTU);
	return RTE_MIN(mtu, before);
}

/* What came in fragments, also once it is protected and whatever its outer header says. */
static bool may_be_cut_here(struct rte_mbuf *m)
{
	if (packet(m)->whole)
		return true;
	return packet_family(m) == AF_INET6 ? packet(m)->own : packet_may_be_cut(m);
}

/* RFC 791, 3.2: a packet that may be fragmented is. */
static void fragment(struct worker *w, struct rte_mbuf *m, const struct next_hop *hop)
{
	struct rte_mbuf *parts[FRAGMENTS_MAX];
	unsigned int n = fragment_packet(w, m, longest_out(m, hop), parts);

	for (unsigned int i = 0; i < n; i++)
		transmit_to(w, parts[i], hop);
}

void transmit_hop(struct worker *w, struct rte_mbuf *m, const struct next_hop *hop)
{
	if (rte_pktmbuf_pkt_len(m) <= longest_out(m, hop)) {
		transmit_to(w, m, hop);
		return;
	}
	if (may_be_cut_here(m)) {
		fragment(w, m, hop);
		return;
	}
	icmp_error(w, m, ICMP_TOO_BIG, ports[hop->port].mtu);
	drop(w, m, DROP_TOO_BIG);
}

void transmit_routed(struct worker *w, struct rte_mbuf *m)
{
	struct next_hop hop = packet_route(m);

	switch (hop.kind) {
	case ROUTE_FORWARD:
		transmit_hop(w, m, &hop);
		break;
	case ROUTE_LOCAL:
	case ROUTE_KERNEL:
		transmit_packet_to_kernel(w, m);
		break;
	default:
		icmp_error(w, m, ICMP_NO_ROUTE, 0);
		drop(w, m, DROP_NO_ROUTE);
	}
}
