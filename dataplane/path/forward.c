/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path/dhcp.h"
#include "path/may_forward.h"
#include "path/reassemble.h"
#include "path/stages.h"
#include "path/worker/audit.h"
#include "path/worker/policy.h"

static void forward(struct worker *w, struct rte_mbuf *m)
{
	const struct headers h = headers_read(m);
	enum drop_reason reason;
	struct cygnet_flow flow;

	if (dhcp_received(w, m, &h) == DHCP_ASIDE) {
		dhcp_aside(w, m);
		return;
	}
	reason = may_forward(m);
	if (reason == DROP_NONE) {
		policy_flow(m, &flow);
		if (flow.fragment && policy_wants_whole(m, &flow)) {
			m = reassemble(w, m, &h, STAGE_FORWARD);
			if (!m)
				return;
			policy_flow(m, &flow);
		}
		reason = policy_inbound(w->id, w->settings, m, &flow, CYGNET_FWD);
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
