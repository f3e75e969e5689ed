/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/interface.h"
#include "path/fragment.h"
#include "path/icmp_error.h"
#include "path/stages.h"
#include "path/worker/next_hop.h"
#include "path/worker/tx.h"

static void send_to(struct worker *w, struct rte_mbuf *m, const struct next_hop *hop)
{
	struct neigh neigh = packet_neigh(m, hop);
	struct rte_ether_addr mac;

	if (neigh_wait_resolve(w, &neigh, &mac)) {
		tx_packet(w, m, hop->interface, &mac);
		return;
	}
	neigh_solicit(&neigh);
	neigh_wait_add(w, m, &neigh);
}

/* How long a packet may be on its way out. A reassembled IPv6 packet is cut into fragments no longer than
 * before: its source has found out the path MTU. */
static unsigned int longest_out(struct rte_mbuf *m, const struct next_hop *hop)
{
	unsigned int mtu = interfaces[hop->interface].mtu, before;

	if (!packet(m)->whole || packet(m)->own || packet_family(m) != AF_INET6)
		return mtu;
	before = RTE_MAX(packet(m)->whole, IPV6_MIN_MTU);
	return RTE_MIN(mtu, before);
}

/* A packet that came in fragments may be cut, also once it is protected, whatever its outer header
 * says. */
static bool may_be_cut_here(struct rte_mbuf *m)
{
	if (packet(m)->whole)
		return true;
	return packet_family(m) == AF_INET6 ? packet(m)->own : packet_may_be_cut(m);
}

/* RFC 791, 3.2: a packet that may be fragmented is. */
static void send_parts(struct worker *w, struct rte_mbuf *m, const struct next_hop *hop)
{
	struct rte_mbuf *parts[FRAGMENTS_MAX];
	unsigned int n = fragment_packet(w, m, longest_out(m, hop), parts);

	for (unsigned int i = 0; i < n; i++)
		send_to(w, parts[i], hop);
}

static void send_by(struct worker *w, struct rte_mbuf *m, const struct next_hop *hop)
{
	if (rte_pktmbuf_pkt_len(m) <= longest_out(m, hop)) {
		send_to(w, m, hop);
	} else if (may_be_cut_here(m)) {
		send_parts(w, m, hop);
	} else {
		icmp_error(w, m, ICMP_TOO_BIG, interfaces[hop->interface].mtu);
		drop(w, m, DROP_TOO_BIG);
	}
}

static void route(struct worker *w, struct rte_mbuf *m)
{
	struct next_hop hop = packet_route(m);

	switch (hop.kind) {
	case ROUTE_FORWARD:
		send_by(w, m, &hop);
		break;
	case ROUTE_LOCAL:
	case ROUTE_KERNEL:
		stage_add(&w->stages, STAGE_TO_KERNEL, m);
		break;
	default:
		icmp_error(w, m, ICMP_NO_ROUTE, 0);
		drop(w, m, DROP_NO_ROUTE);
	}
}

void stage_route(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		route(w, m[i]);
}
