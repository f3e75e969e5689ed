/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sadb.h"
#include "path/fast/fast.h"
#include "path/frame_in.h"
#include "path/icmp_error.h"
#include "path/sa_wait.h"
#include "path/stages.h"
#include "path/worker/policy.h"
#include "path/worker/tx.h"

/* In plaintext, as policy allows. What the kernel framed goes out as it is, if it is. */
static void leave_plain(struct worker *w, struct rte_mbuf *m, bool unmatched)
{
	if (packet(m)->from_kernel && !packet(m)->whole) {
		frame_in_restore(m);
		tx_ethernet(w, m, packet(m)->interface);
		return;
	}
	w->stats->forwarded++;
	packet(m)->unmatched = unmatched;
	learn_forward(w, m);
	stage_add(&w->stages, STAGE_ROUTE, m);
}

/* Whether a policy sends a packet back to the peer whose SA it came out of: where both sides protect all addresses, it goes to
 * and fro until its hops are used up, as in Linux. */
static bool goes_back(const struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	const struct cygnet_sa *sa = p->from & PACKET_SA_BIT
					     ? cygnet_sa_get(sadb, p->sa, p->generation)
					     : NULL;
	struct cygnet_policy *policy;
	struct cygnet_flow flow;

	if (!sa || policy_outbound_find(w->settings, m, &flow, &policy) != DROP_NONE || !policy)
		return false;
	return policy->action == CYGNET_PROTECT && policy->af == cygnet_sa_path(sa)->af &&
	       !memcmp(&policy->dst, &cygnet_sa_path(sa)->src, sizeof(policy->dst));
}

static void outbound(struct worker *w, struct rte_mbuf *m)
{
	struct cygnet_policy *policy;
	enum drop_reason reason;
	struct cygnet_flow flow;

	if (!packet(m)->from_kernel && !packet_take_hop(rte_pktmbuf_mtod(m, uint8_t *))) {
		icmp_error(w, m, ICMP_HOPS, 0);
		drop(w, m, goes_back(w, m) ? DROP_TUNNEL_AGAIN : DROP_TTL);
		return;
	}
	reason = policy_outbound_find(w->settings, m, &flow, &policy);
	policy_use(w, policy, reason == DROP_NONE);
	/* As Linux does, whose interface has no link then. */
	if (reason == DROP_TUNNEL_POLICY)
		icmp_error(w, m, ICMP_NO_ROUTE, 0);
	if (reason != DROP_NONE)
		drop(w, m, reason);
	else if (policy && policy->action == CYGNET_PROTECT)
		sa_wait_or_protect(w, m, policy, &flow);
	else
		leave_plain(w, m, !policy);
}

void stage_outbound(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		outbound(w, m[i]);
}

/* A rekeyed policy has another SA, or a policy came while plaintext waited. The packet never leaves in plaintext. */
static void find_sa(struct worker *w, struct rte_mbuf *m)
{
	struct cygnet_policy *policy;
	struct cygnet_flow flow;

	policy_flow(m, &flow);
	policy_flow_out(m, &flow);
	policy = cygnet_spd_lookup(sadb, CYGNET_OUT, &flow);
	if (!policy || policy->action != CYGNET_PROTECT)
		drop(w, m, DROP_SA_GONE);
	else
		sa_wait_or_protect(w, m, policy, &flow);
}

void stage_find_sa(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		find_sa(w, m[i]);
}
