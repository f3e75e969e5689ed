/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>

#include "base/sadb.h"
#include "ip/headers.h"
#include "path/may_forward.h"
#include "path/stages.h"
#include "path/worker/audit.h"
#include "path/worker/capture.h"
#include "path/worker/next_hop.h"
#include "path/worker/policy.h"
#include "path/worker/tunnel.h"

/* Whether a packet is link control (headers_link_control()), behind any extension headers: the kernel would
 * take it for one from the port's own link. */
static bool is_of_the_link(const struct cygnet_flow *flow)
{
	return flow->af == AF_INET6 && flow->proto == IPPROTO_ICMPV6 &&
	       headers_icmp6_of_the_link(flow->sport);
}

/* Peers can share a reqid, but not each other's inner addresses. As in Linux, the policy's source counts,
 * unless it is any, and only in tunnel mode: NAT changes addresses in transport mode. */
static bool is_from_its_peer(const struct cygnet_policy *policy, const struct cygnet_sa *sa)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);

	return sa->mode == CYGNET_TRANSPORT || cygnet_addr_is_zero(&policy->src) ||
	       (policy->af == path->af && !memcmp(&policy->src, &path->src, sizeof(path->src)));
}

/* A packet that came out of an SA has to be one that the SA's policy is about (RFC 4301, 5.2).
 * @param policy  receives the policy that decides, or NULL */
static enum drop_reason check(struct rte_mbuf *m, const struct cygnet_sa *sa, bool local,
			      struct cygnet_policy **policy)
{
	struct cygnet_flow flow;

	policy_flow_of_sa(m, sa, &flow);
	if (policy_find(m, &flow, local ? CYGNET_IN : CYGNET_FWD, policy) != DROP_NONE || !*policy)
		return DROP_POLICY_INBOUND;
	if (cygnet_policy_held(*policy))
		return DROP_POLICY_HELD;
	if ((*policy)->action != CYGNET_PROTECT || (*policy)->reqid != sa->reqid ||
	    (*policy)->mode != sa->mode || (*policy)->proto != sa->proto ||
	    !is_from_its_peer(*policy, sa) || (local && is_of_the_link(&flow)))
		return DROP_POLICY_INBOUND;
	return local ? DROP_NONE : may_forward(m);
}

/* A packet out of an SA with an interface ID has come in by the tunnel with that ID.
 * @return DROP_NONE or why not */
static enum drop_reason come_in(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	if (!sa->if_id)
		return DROP_NONE;
	if (!tunnel_enter(w, m, sa->if_id))
		return DROP_TUNNEL_MISSING;
	return __atomic_load_n(&interfaces[packet(m)->interface].up, __ATOMIC_RELAXED)
		       ? DROP_NONE
		       : DROP_TAP_DOWN;
}

static void decrypted(struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	const struct cygnet_sa *sa = cygnet_sa_get(sadb, p->sa, p->generation);
	bool local = packet_route(m).kind == ROUTE_LOCAL;
	struct cygnet_policy *policy = NULL;
	enum drop_reason reason = sa ? come_in(w, m, sa) : DROP_SA_GONE;

	if (unlikely(w->capture != NULL))
		capture_decrypted(w, m);
	if (reason == DROP_NONE)
		reason = check(m, sa, local, &policy);

	if (reason != DROP_NONE) {
		if ((reason == DROP_POLICY_INBOUND || reason == DROP_POLICY_HELD) && policy)
			policy_refuse(w, policy);
		audit_drop(w, m, reason, sa, 0);
		return;
	}
	policy_use(w, policy, true);
	w->stats->decapsulated++;
	stage_add(&w->stages, local ? STAGE_TO_KERNEL : STAGE_OUTBOUND, m);
}

void stage_decrypted(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		decrypted(w, m[i]);
}
