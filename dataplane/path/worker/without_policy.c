/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/settings.h"
#include "host/interface.h"
#include "path/worker/without_policy.h"

static uint8_t side_of(const struct next_hop *hop)
{
	if (hop->kind == ROUTE_KERNEL)
		return __atomic_load_n(&interfaces_kernel_side, __ATOMIC_RELAXED);
	/* A packet without a route leaves by no interface. */
	return hop->kind == ROUTE_FORWARD
		       ? __atomic_load_n(&interfaces[hop->interface].side, __ATOMIC_RELAXED)
		       : (uint8_t)SIDE_INSIDE;
}

/* The inbound policy has let a decrypted packet pass, but does not say by which interface it leaves. It would
 * leave by a wrong one while the tunnel that is to carry it on, or the route to the LAN, is missing. */
static enum drop_reason decrypted_to(uint32_t settings, const struct packet *p,
				     const struct next_hop *hop)
{
	bool back = hop->kind == ROUTE_FORWARD && hop->interface == p->interface;
	uint8_t side = side_of(hop);

	if (!back && side != SIDE_OUTSIDE && side != SIDE_UNSAID)
		return DROP_NONE;
	if (settings & SETTING_DROP_NO_POLICY)
		return DROP_NO_POLICY;
	if (settings & SETTING_PASS_HAIRPIN)
		return DROP_NONE;
	return back ? DROP_HAIRPIN : DROP_OUTSIDE;
}

enum drop_reason without_policy_to(uint32_t settings, const struct packet *p, const struct next_hop *hop)
{
	if (p->decrypted)
		return decrypted_to(settings, p, hop);
	if (p->answer || (settings & SETTING_PASS_NO_POLICY))
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

	return without_policy_to(settings, packet(m), &hop);
}
