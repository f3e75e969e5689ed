/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "base/policy_stats.h"
#include "base/sadb.h"
#include "base/settings.h"
#include "host/hop_group.h"
#include "host/interface.h"
#include "path/worker/policy.h"
#include "path/worker/trace_note.h"
#include "path/worker/tunnel.h"
#include "path/worker/without_policy.h"
#include "path/worker/worker.h"

/* By what policies know an interface. A stale route can name an interface that is no tunnel any more: its ID is 0, which no
 * policy has, so the packet is dropped. */
static void set_interface(struct cygnet_flow *flow, const struct interface *interface, bool tunnel)
{
	flow->by_if_id = tunnel;
	flow->interface = tunnel ? interface->if_id : interface->policy_id;
}

void policy_flow(struct rte_mbuf *m, struct cygnet_flow *flow)
{
	const struct interface *interface = &interfaces[packet(m)->interface];

	packet_flow(m, flow);
	set_interface(flow, interface, interface->kind == INTERFACE_TUNNEL);
}

void policy_flow_of_sa(struct rte_mbuf *m, const struct cygnet_sa *sa, struct cygnet_flow *flow)
{
	policy_flow(m, flow);
	flow->by_if_id = sa->if_id != 0;
	if (sa->if_id)
		flow->interface = sa->if_id;
}

void policy_flow_to(struct cygnet_flow *flow)
{
	struct next_hop hop;

	flow->by_if_id = 0;
	if (!cygnet_spd_binds(sadb) && !tunnels_exist())
		return;
	hop = route_lookup(flow->af, &flow->dst);
	route_choose(&hop, flow);
	if (next_hop_is_ours(&hop))
		set_interface(flow, &interfaces[hop.interface], hop.kind == ROUTE_TUNNEL);
	else
		flow->interface = 0;
}

void policy_flow_out(struct rte_mbuf *m, struct cygnet_flow *flow)
{
	const struct packet *p = packet(m);

	/* What the kernel sends leaves by the interface of its TAP, unless it was put together: it is routed again. */
	if (!p->from_kernel || (p->whole && interfaces[p->interface].kind != INTERFACE_TUNNEL))
		policy_flow_to(flow);
}

/* Why a policy has all its packets dropped, whether they come protected or not. */
static enum drop_reason refuses(const struct cygnet_policy *policy)
{
	if (cygnet_policy_held(policy))
		return DROP_POLICY_HELD;
	return policy->action == CYGNET_DISCARD ? DROP_POLICY_DISCARD : DROP_NONE;
}

enum drop_reason policy_find(struct rte_mbuf *m, const struct cygnet_flow *flow,
			     enum cygnet_dir dir, struct cygnet_policy **policy)
{
	*policy = cygnet_spd_lookup(sadb, dir, flow);
	if (*policy && (*policy)->action == CYGNET_PROTECT)
		return DROP_NONE;
	if (flow->has_ports)
		return DROP_NONE;
	if ((packet_hides_ports(flow) && cygnet_spd_uses_ports(sadb, dir, flow->af)) ||
	    (packet_hides_protocol(m) && cygnet_spd_uses_protocols(sadb, dir, flow->af)))
		return DROP_FRAGMENT;
	return DROP_NONE;
}

void policy_use(struct worker *w, struct cygnet_policy *policy, bool passed)
{
	if (unlikely(w->trace != NULL)) {
		trace_policy(w->trace, policy, passed);
		return;
	}
	if (!policy)
		return;
	policy_count(w->id, policy, passed);
	if (__atomic_load_n(&policy->use_time, __ATOMIC_RELAXED) != clock_seconds())
		__atomic_store_n(&policy->use_time, clock_seconds(), __ATOMIC_RELAXED);
}

void policy_refuse(struct worker *w, const struct cygnet_policy *policy)
{
	if (unlikely(w->trace != NULL))
		trace_policy(w->trace, policy, false);
	else
		policy_count(w->id, policy, false);
}

/* Plaintext from the wire may pass unless policy says that it comes protected. */
static enum drop_reason inbound_find(uint32_t settings, struct rte_mbuf *m,
				     const struct cygnet_flow *flow, enum cygnet_dir dir,
				     struct cygnet_policy **policy)
{
	enum drop_reason reason = policy_find(m, flow, dir, policy);

	if (reason != DROP_NONE) {
		*policy = NULL;
		return reason;
	}
	/* Without a forward policy the outbound policy decides about forwarded packets: plaintext to
	 * a tunnel has only that one. */
	if (!*policy)
		return (settings & SETTING_DROP_NO_POLICY) && dir == CYGNET_IN ? DROP_NO_POLICY
									       : DROP_NONE;
	reason = refuses(*policy);
	if (reason == DROP_NONE && (*policy)->action == CYGNET_PROTECT)
		return DROP_POLICY_PLAINTEXT;
	return reason;
}

enum drop_reason policy_inbound(struct worker *w, struct rte_mbuf *m,
				const struct cygnet_flow *flow, enum cygnet_dir dir)
{
	struct cygnet_policy *policy;
	enum drop_reason reason = inbound_find(w->settings, m, flow, dir, &policy);

	policy_use(w, policy, reason == DROP_NONE);
	return reason;
}

enum drop_reason policy_outbound_find(uint32_t settings, struct rte_mbuf *m,
				      struct cygnet_flow *flow, struct cygnet_policy **policy)
{
	enum drop_reason reason;

	policy_flow(m, flow);
	policy_flow_out(m, flow);
	reason = policy_find(m, flow, CYGNET_OUT, policy);
	if (reason != DROP_NONE ||
	    (packet(m)->must_protect && (!*policy || (*policy)->action != CYGNET_PROTECT))) {
		*policy = NULL;
		return reason != DROP_NONE ? reason : DROP_ICMP_UNPROTECTED;
	}
	if (flow->by_if_id && (!*policy || (*policy)->action == CYGNET_BYPASS)) {
		*policy = NULL;
		return DROP_TUNNEL_POLICY;
	}
	if (!*policy)
		return without_policy(settings, m);
	return refuses(*policy);
}

/* @param later  the selectors of a part without ports */
static bool decides_about_whole(const struct cygnet_flow *later, enum cygnet_dir dir)
{
	const struct cygnet_policy *policy;

	if (later->af == AF_INET6 ? !cygnet_spd_uses_protocols(sadb, dir, AF_INET6)
				  : !cygnet_spd_uses_ports(sadb, dir, AF_INET))
		return false;
	policy = cygnet_spd_lookup(sadb, dir, later);
	return !policy || policy->action != CYGNET_PROTECT;
}

bool policy_wants_whole(struct rte_mbuf *m, const struct cygnet_flow *flow)
{
	struct cygnet_flow later = *flow;

	later.sport = later.dport = 0;
	later.has_ports = 0;
	/* Later fragments of IPv6 do not show the protocol, either. */
	if (flow->af == AF_INET && !packet_hides_ports(&later))
		return false;
	if (!packet(m)->from_kernel && decides_about_whole(&later, CYGNET_FWD))
		return true;
	policy_flow_out(m, &later);
	return decides_about_whole(&later, CYGNET_OUT);
}

bool policy_asks_ports(struct rte_mbuf *m)
{
	const struct cygnet_policy *policy;
	struct cygnet_flow flow;

	policy_flow(m, &flow);
	policy_flow_out(m, &flow);
	policy = cygnet_spd_lookup(sadb, CYGNET_OUT, &flow);
	return policy && (policy->sel.sport_lo != 0 || policy->sel.sport_hi != UINT16_MAX ||
			  policy->sel.dport_lo != 0 || policy->sel.dport_hi != UINT16_MAX);
}
