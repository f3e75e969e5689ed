/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path/dhcp.h"
#include "path/may_forward.h"
#include "path/reassemble.h"
#include "path/stages.h"
#include "path/worker/audit.h"
#include "path/worker/policy.h"

/* An answer to this host's DHCP client, for an address that it does not have yet.
 * @return false: it is none, and stays the caller's */
static bool take_dhcp_answer(struct worker *w, struct rte_mbuf *m, const struct cygnet_flow *flow)
{
	struct headers h;

	if (!dhcp_is_to_client(flow))
		return false;
	h = headers_read(m);
	if (dhcp_received(w, m, &h) != DHCP_ASIDE)
		return false;
	dhcp_aside(w, m);
	return true;
}

static void forward(struct worker *w, struct rte_mbuf *m)
{
	enum drop_reason reason = may_forward(m);
	struct cygnet_flow flow;
	struct headers h;

	policy_flow(m, &flow);
	if (take_dhcp_answer(w, m, &flow))
		return;
	if (reason == DROP_NONE) {
		if (flow.fragment && policy_wants_whole(m, &flow)) {
			h = headers_read(m);
			m = reassemble(w, m, &h, STAGE_FORWARD);
			if (!m)
				return;
			policy_flow(m, &flow);
		}
		reason = policy_inbound(w, m, &flow, CYGNET_FWD);
	}
	if (reason != DROP_NONE)
		audit_drop(w, m, reason, NULL, 0);
	else
		stage_add(&w->stages, STAGE_OUTBOUND, m);
}

void stage_forward(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		forward(w, m[i]);
}
