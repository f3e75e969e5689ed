/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_ether.h>

#include "host/link.h"
#include "host/macvlan.h"
#include "host/tap.h"
#include "path/frame_in.h"
#include "path/stages.h"
#include "path/worker/next_hop.h"
#include "path/worker/police.h"
#include "path/worker/tx.h"

/* A group frame does not go past the policies, and is not forwarded (RFC 1812, 5.3.4). */
static void by_route(struct worker *w, struct rte_mbuf *m, bool group)
{
	if (packet_route(m).kind == ROUTE_LOCAL)
		stage_add(&w->stages, STAGE_LOCAL, m);
	else if (group)
		drop(w, m, DROP_NOT_OURS);
	else
		stage_add(&w->stages, STAGE_FORWARD, m);
}

static bool is_ours(unsigned int interface, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr own = interface_mac(&interfaces[interface]);
	uint64_t word = 0;

	memcpy(&word, mac, sizeof(*mac));
	return rte_is_same_ether_addr(mac, &own) || macvlan_has_mac(interface, word);
}

/* ARP and the like, which is the kernel's. */
static void to_kernel(struct worker *w, struct rte_mbuf *m)
{
	struct neigh_message said;

	if (police_link(w, m, neigh_message_arp(m, &said) ? &said : NULL, true))
		tap_frame(w, m);
}

static void from_wire(struct worker *w, struct rte_mbuf *m)
{
	const struct rte_ether_hdr *eth;
	unsigned int interface = packet(m)->interface;
	enum drop_reason reason;
	bool group, ip;

	w->stats->interface[interface].rx_packets++;
	w->stats->interface[interface].rx_bytes += rte_pktmbuf_pkt_len(m);
	link_untag(m, interface);
	reason = frame_in_check(w, m, interface, &ip);
	eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	/* Frames of known flows need no check: they never reach the kernel. */
	if (reason == DROP_NONE && tap_is_forged(eth))
		reason = DROP_FORGED_SOURCE;
	if (reason != DROP_NONE) {
		drop_frame(w, m, reason);
		return;
	}
	if (!ip) {
		to_kernel(w, m);
		return;
	}
	group = rte_is_multicast_ether_addr(&eth->dst_addr);
	if (!group && !is_ours(interface, &eth->dst_addr)) {
		drop_frame(w, m, DROP_NOT_OURS);
		return;
	}
	reason = frame_in_strip(m, true);
	if (reason != DROP_NONE)
		drop(w, m, reason);
	else
		by_route(w, m, group);
}

void stage_from_wire(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		from_wire(w, m[i]);
}
