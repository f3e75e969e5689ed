/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "host/macvlan.h"
#include "path/worker/capture.h"
#include "path/worker/handoff.h"
#include "path/worker/tx.h"

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
		drop_frame(w, batch->m[i], full);
	}
	batch->n = 0;
	return sent;
}

/* Packets for the port that has been removed since. */
static void drop_batch(struct worker *w, struct mbuf_batch *batch)
{
	for (unsigned int i = 0; i < batch->n; i++)
		drop_frame(w, batch->m[i], DROP_PORT_REMOVED);
	batch->n = 0;
}

/* net_tap of DPDK 22.11 drops packets whose pkt_len exceeds its MTU, which cannot be raised above 1,500
 * (host/tap.c), but sends data_len bytes: cap pkt_len. */
static void fit_tap(struct mbuf_batch *batch)
{
	for (unsigned int i = 0; i < batch->n; i++)
		batch->m[i]->pkt_len = RTE_MIN(batch->m[i]->pkt_len, TAP_FRAME);
}

/* The kernel refuses frames of a TAP that is down. */
static enum drop_reason tap_refuses(const struct interface *interface)
{
	return __atomic_load_n(&interface->up, __ATOMIC_RELAXED) ? DROP_TAP_FULL : DROP_TAP_DOWN;
}

void tx_flush(struct worker *w)
{
	unsigned int n = __atomic_load_n(&ninterfaces, __ATOMIC_RELAXED);

	if (unlikely(w->capture != NULL))
		capture_sent(w);
	for (unsigned int p = 0; p < n; p++) {
		const struct device *device = interface_device(&interfaces[p]);
		struct stats_interface *s = &w->stats->interface[p];
		uint16_t queue;
		uint64_t bytes;

		if (!(w->present >> p & 1)) {
			drop_batch(w, &w->tx[p]);
			drop_batch(w, &w->tap[p]);
			continue;
		}
		queue = (uint16_t)(w->id % device->queues);
		s->tx_packets += flush_batch(w, &w->tx[p], device->id, queue, DROP_TX_FULL, &bytes);
		s->tx_bytes += bytes;
		if (interfaces[p].mtu > RTE_ETHER_MTU)
			fit_tap(&w->tap[p]);
		s->to_kernel += flush_batch(w, &w->tap[p], interfaces[p].tap.id, 0,
					    tap_refuses(&interfaces[p]), &bytes);
	}
}

/* A device with a single queue has one sender, and devices are spread over the workers. */
static uint8_t queue_owner(const struct worker *w, unsigned int interface, unsigned int queues)
{
	return (uint8_t)(queues == 1 ? interface % w->workers : w->id % queues);
}

void tx_init(struct worker *w)
{
	w->present = interfaces_present();
	for (unsigned int p = 0; p < CONF_MAX_INTERFACES; p++)
		if (w->present >> p & 1)
			w->tx_owner[p] = queue_owner(w, p, interface_device(&interfaces[p])->queues);
}

void tx_handoff(struct worker *w, struct rte_mbuf *m, unsigned int interface)
{
	packet(m)->interface = (uint8_t)interface;
	handoff(w, m, w->tx_owner[interface], STAGE_TX);
}

void tap_frame(struct worker *w, struct rte_mbuf *m)
{
	unsigned int interface = packet(m)->interface, owner = tap_owner(w, interface);

	if (owner == w->id)
		tx_add(w, &w->tap[interface], m);
	else
		handoff(w, m, owner, STAGE_TAP);
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

void tx_packet(struct worker *w, struct rte_mbuf *m, unsigned int interface, unsigned int macvlan,
	       const struct rte_ether_addr *mac)
{
	struct rte_ether_addr own = macvlan_source(interface, macvlan);

	if (push_ethernet(m, mac, &own))
		tx_frame(w, m, interface);
	else
		drop(w, m, DROP_NO_BUFFER);
}

void tx_packet_behind(struct worker *w, struct rte_mbuf *m, unsigned int interface,
		      const uint8_t *eth)
{
	char *at = rte_pktmbuf_prepend(m, sizeof(struct rte_ether_hdr));

	if (!at) {
		drop(w, m, DROP_NO_BUFFER);
		return;
	}
	memcpy(at, eth, sizeof(struct rte_ether_hdr));
	tx_frame(w, m, interface);
}

void tap_packet(struct worker *w, struct rte_mbuf *m)
{
	const struct rte_ether_addr own = interface_mac(&interfaces[packet(m)->interface]);
	const struct rte_ether_addr from = packet(m)->decrypted ? TAP_DECRYPTED_MAC : own;

	if (push_ethernet(m, &own, &from))
		tap_frame(w, m);
	else
		drop(w, m, DROP_NO_BUFFER);
}
