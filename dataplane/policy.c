/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control.h"
#include "pipeline.h"
#include "policy.h"
#include "port.h"

void policy_flow(struct rte_mbuf *m, struct cygnet_flow *flow)
{
	packet_flow(m, ports[packet(m)->port].interface, flow);
}

void policy_flow_out(struct rte_mbuf *m, struct cygnet_flow *flow)
{
	struct next_hop hop;

	if (packet(m)->from_kernel || !cygnet_spd_binds(sadb))
		return;
	hop = packet_route(m);
	flow->interface = hop.kind == ROUTE_FORWARD ? ports[hop.port].interface : 0;
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

uint64_t policy_use(struct cygnet_policy *policy)
{
	uint64_t last = __atomic_load_n(&policy->use_time, __ATOMIC_RELAXED);

	/* Of several lcores one at the most writes in a second. */
	if (last != control_now)
		last = __atomic_exchange_n(&policy->use_time, control_now, __ATOMIC_RELAXED);
	return last;
}
