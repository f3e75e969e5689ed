/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/interface.h"
#include "path/fragment.h"
#include "path/icmp_error.h"
#include "path/stages.h"
#include "path/worker/neigh_wait.h"
#include "path/worker/next_hop.h"
#include "path/worker/trace_note.h"
#include "path/worker/tx.h"
#include "path/worker/without_policy.h"

static void send_to(struct worker *w, struct rte_mbuf *m, const struct next_hop *hop)
{
	struct neigh neigh = packet_neigh(m, hop);
	struct rte_ether_addr mac;

	if (neigh_wait_resolve(w, &neigh, &mac)) {
		tx_packet(w, m, hop->interface, hop->macvlan, &mac);
		return;
	}
	if (unlikely(w->trace != NULL)) {
		trace_wait_neighbour(w->trace, &neigh);
		return;
	}
	neigh_solicit(&neigh);
	neigh_wait_add(w, m, &neigh);
}

/* How long a packet may be on its way out. A reassembled IPv6 packet is cut into fragments no longer than
 * before: its source has found out the path MTU. */
static unsigned int longest_out(struct rte_mbuf *m, const struct next_hop *hop)
{
	unsigned int mtu = next_hop_mtu(hop), before;

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

static void forward(struct worker *w, struct rte_mbuf *m, const struct next_hop *hop)
{
	if (rte_pktmbuf_pkt_len(m) <= longest_out(m, hop)) {
		send_to(w, m, hop);
	} else if (may_be_cut_here(m)) {
		send_parts(w, m, hop);
	} else {
		icmp_error(w, m, ICMP_TOO_BIG, (uint16_t)next_hop_mtu(hop));
		drop(w, m, DROP_TOO_BIG);
	}
}

/* The kernel does not take a packet from its own address. */
static void to_kernel(struct worker *w, struct rte_mbuf *m)
{
	if (packet(m)->own)
		drop(w, m, DROP_ROUTE_UNUSABLE);
	else
		stage_add(&w->stages, STAGE_TO_KERNEL, m);
}

static void route(struct worker *w, struct rte_mbuf *m)
{
	struct next_hop hop = packet_route(m);
	enum drop_reason reason = DROP_NONE;

	if (packet(m)->unmatched)
		reason = without_policy_to(w->settings, m, &hop);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	if (unlikely(w->trace != NULL))
		trace_route(w->trace, m, &hop);
	switch (hop.kind) {
	case ROUTE_FORWARD:
		forward(w, m, &hop);
		break;
	case ROUTE_LOCAL:
	case ROUTE_KERNEL:
		to_kernel(w, m);
		break;
	case ROUTE_TUNNEL:
		/* The packet may leave in plaintext, but its route has changed to a tunnel since. */
		drop(w, m, packet(m)->own ? DROP_TUNNEL_LOOP : DROP_TUNNEL_POLICY);
		break;
	default:
		icmp_error(w, m, ICMP_NO_ROUTE, 0);
		drop(w, m, DROP_NO_ROUTE);
		break;
	}
}

void stage_route(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		route(w, m[i]);
}
