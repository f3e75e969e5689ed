/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sadb.h"
#include "base/settings.h"
#include "host/interface.h"
#include "host/local_addr.h"
#include "host/side.h"
#include "path/worker/policy.h"
#include "path/worker/without_policy.h"

static uint8_t side_of(const struct next_hop *hop)
{
	if (hop->kind == ROUTE_KERNEL)
		return __atomic_load_n(&sides_kernel, __ATOMIC_RELAXED);
	/* A packet without a route leaves by no interface. */
	return hop->kind == ROUTE_FORWARD
		       ? __atomic_load_n(&interfaces[hop->interface].side, __ATOMIC_RELAXED)
		       : (uint8_t)SIDE_INSIDE;
}

/* A gateway with one port has no other one to leave by. Its forward policy says where a packet goes if all
 * destinations of the policy are in the port's own network: no route that is missing leads to them. Wider policies,
 * which let a hub's spokes reach each other, do not say it. A peer whose virtual address lies in that network is
 * reached in plaintext while it has no tunnel, as from a gateway with two ports and in Linux. */
static bool policy_is_for_the_link(struct rte_mbuf *m, const struct next_hop *hop)
{
	struct cygnet_policy *policy;
	struct cygnet_flow flow;

	if (__atomic_load_n(&interfaces_count, __ATOMIC_RELAXED) != 1 ||
	    hop->kind != ROUTE_FORWARD || hop->no_neighbour || !cygnet_addr_is_zero(&hop->gateway))
		return false;
	policy_flow(m, &flow);
	return policy_find(m, &flow, CYGNET_FWD, &policy) == DROP_NONE && policy &&
	       policy->action == CYGNET_PROTECT && !cygnet_policy_held(policy) &&
	       local_addr_attaches(flow.af, hop->interface, &policy->sel.dst_lo,
				   &policy->sel.dst_hi);
}

/* With no_policy = drop sides are not assumed, not those of the kernel's interfaces either. */
static bool takes_decrypted(uint32_t settings, uint8_t side)
{
	return side == SIDE_INSIDE ||
	       (side == SIDE_UNKNOWN && !(settings & SETTING_DROP_NO_POLICY));
}

/* The inbound policy has let a decrypted packet pass, but in most cases does not say by which interface it leaves. It
 * would leave by a wrong one while the tunnel that is to carry it on, or the route to the LAN, is missing. */
static enum drop_reason decrypted_to(uint32_t settings, struct rte_mbuf *m,
				     const struct next_hop *hop)
{
	bool back = hop->kind == ROUTE_FORWARD && hop->interface == packet(m)->frame_interface;
	uint8_t side = side_of(hop);

	if (!back && takes_decrypted(settings, side))
		return DROP_NONE;
	if (settings & SETTING_DROP_NO_POLICY)
		return DROP_NO_POLICY;
	if (settings & SETTING_PASS_HAIRPIN)
		return DROP_NONE;
	if (back && (side == SIDE_UNKNOWN || side == SIDE_UNSAID) && policy_is_for_the_link(m, hop))
		return DROP_NONE;
	return back ? DROP_HAIRPIN : DROP_OUTSIDE;
}

enum drop_reason without_policy_to(uint32_t settings, struct rte_mbuf *m,
				   const struct next_hop *hop)
{
	/* The route has changed to a tunnel since the policies were asked. */
	if (hop->kind == ROUTE_TUNNEL)
		return DROP_TUNNEL_POLICY;
	if (packet(m)->decrypted)
		return decrypted_to(settings, m, hop);
	if (packet(m)->answer || (settings & SETTING_PASS_NO_POLICY))
		return DROP_NONE;
	if (settings & SETTING_DROP_NO_POLICY)
		return DROP_NO_POLICY;
	return side_of(hop) == SIDE_OUTSIDE ? DROP_OUTSIDE : DROP_NONE;
}

/* A packet from the kernel leaves by the port of its TAP, unless it was reassembled. */
static struct next_hop hop_of(struct rte_mbuf *m)
{
	const struct packet *p = packet(m);

	if (p->from_kernel && !p->whole)
		return (struct next_hop){.kind = ROUTE_FORWARD, .interface = p->interface};
	return packet_route(m);
}

enum drop_reason without_policy(uint32_t settings, struct rte_mbuf *m)
{
	const struct next_hop hop = hop_of(m);

	return without_policy_to(settings, m, &hop);
}
