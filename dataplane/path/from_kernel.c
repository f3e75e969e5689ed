/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>

#include "base/clock.h"
#include "host/neigh_asked.h"
#include "ip/headers.h"
#include "ip/neigh_message.h"
#include "path/dhcp.h"
#include "path/frame_in.h"
#include "path/ike.h"
#include "path/proxy.h"
#include "path/reassemble.h"
#include "path/stages.h"
#include "path/worker/next_hop.h"
#include "path/worker/policy.h"
#include "path/worker/tx.h"

/* The datagram that a fragment belongs to. */
static struct ike_datagram datagram_of(struct rte_mbuf *m, const struct headers *h)
{
	struct ike_datagram datagram = {
		.src = packet_src(m),
		.dst = packet_dst(m),
		.id = packet_ip(m)->packet_id,
		.second = clock_seconds(),
	};

	if (h->fragment_at)
		memcpy(&datagram.id,
		       rte_pktmbuf_mtod_offset(m, const uint8_t *, h->fragment_at + 4),
		       sizeof(datagram.id));
	return datagram;
}

static bool same_datagram(const struct ike_datagram *sent, const struct ike_datagram *this)
{
	return !memcmp(&sent->src, &this->src, sizeof(sent->src)) &&
	       !memcmp(&sent->dst, &this->dst, sizeof(sent->dst)) && sent->id == this->id &&
	       sent->second + 1 >= this->second;
}

/* The ports of a datagram are in its first fragment, which the kernel sends first.
 * @return whether a later one belongs to IKE */
static bool is_rest_of_ike(const struct worker *w, const struct ike_datagram *this)
{
	for (unsigned int i = 0; i < RTE_DIM(w->ike_sent); i++)
		if (same_datagram(&w->ike_sent[i], this))
			return true;
	return false;
}

/* Charon's own: what the kernel forwards may have any source port. */
static bool is_ike_sent(struct worker *w, struct rte_mbuf *m, const struct headers *h)
{
	struct cygnet_addr src = packet_src(m);
	struct ike_datagram datagram;

	if (h->proto != IPPROTO_UDP || route_lookup(packet_family(m), &src).kind != ROUTE_LOCAL)
		return false;
	datagram = datagram_of(m, h);
	if (h->later)
		return is_rest_of_ike(w, &datagram);
	if (!ike_exempt(m, h, true))
		return false;
	if (h->fragment)
		w->ike_sent[w->ike_next++ % RTE_DIM(w->ike_sent)] = datagram;
	return true;
}

/* What a neighbour that the kernel asks for says is let in through a flood (path/worker/police.h). */
static void note_asked(const struct worker *w, struct rte_mbuf *m, const struct neigh_message *said)
{
	const struct neigh target = {.addr = said->target,
				     .af = said->af,
				     .interface = packet(m)->interface};

	if (said->asks && likely(!w->trace))
		neigh_asked_note(&target);
}

static void link_frame(struct worker *w, struct rte_mbuf *m)
{
	struct neigh_message said;

	if (neigh_message_arp(m, &said))
		note_asked(w, m, &said);
	tx_ethernet(w, m, packet(m)->interface);
}

static bool is_link_control(struct worker *w, struct rte_mbuf *m, const struct headers *h)
{
	struct neigh_message said;

	if (!headers_link_control(m, h))
		return false;
	neigh_message_icmp6(m, h, &said);
	note_asked(w, m, &said);
	return true;
}

static bool passes_policies(struct worker *w, struct rte_mbuf *m)
{
	struct headers h = headers_read(m);

	return is_link_control(w, m, &h) || is_ike_sent(w, m, &h) || dhcp_sent(w, m, &h);
}

/* Plaintext of this host's: the outbound policies decide. */
static void to_policies(struct worker *w, struct rte_mbuf *m)
{
	struct cygnet_flow flow;

	policy_flow(m, &flow);
	if (flow.fragment && policy_wants_whole(m, &flow)) {
		struct headers h = headers_read(m);

		m = reassemble(w, m, &h, STAGE_OUTBOUND);
	}
	if (m)
		stage_add(&w->stages, STAGE_OUTBOUND, m);
}

/* What the kernel routes to a tunnel. IKE comes where the route to a peer leads into
 * the tunnel that is to be negotiated. */
static void from_tunnel(struct worker *w, struct rte_mbuf *m, bool ip)
{
	enum drop_reason reason;
	struct headers h;

	if (!ip) {
		drop_frame(w, m, DROP_TUNNEL_LINK);
		return;
	}
	reason = frame_in_strip(m, false);
	if (reason == DROP_NONE) {
		h = headers_read(m);
		if (headers_link_control(m, &h))
			reason = DROP_TUNNEL_LINK;
		else if (is_ike_sent(w, m, &h))
			reason = DROP_TUNNEL_LOOP;
	}
	if (reason == DROP_NONE)
		to_policies(w, m);
	else
		drop(w, m, reason);
}

static void from_kernel(struct worker *w, struct rte_mbuf *m)
{
	unsigned int interface = packet(m)->interface;
	enum drop_reason reason;
	bool ip;

	w->stats->interface[interface].from_kernel++;
	reason = frame_in_check(w, m, interface, &ip);
	if (reason != DROP_NONE) {
		drop_frame(w, m, reason);
		return;
	}
	packet(m)->from_kernel = 1;
	if (interfaces[interface].kind == INTERFACE_TUNNEL) {
		from_tunnel(w, m, ip);
		return;
	}
	if (proxy_neighbour(w, m))
		return;
	if (!ip) {
		link_frame(w, m);
		return;
	}
	reason = frame_in_strip(m, false);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
	} else if (passes_policies(w, m)) {
		frame_in_restore(m);
		tx_ethernet(w, m, interface);
	} else {
		to_policies(w, m);
	}
}

void stage_from_kernel(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		from_kernel(w, m[i]);
}
