/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <rte_ether.h>

#include "control.h"
#include "pipeline.h"
#include "policy.h"
#include "port.h"

/* Charon is asked for an SA at most once a second and policy. */
static void acquire(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
		    uint64_t last_use)
{
	struct cygnet_event event = {
		.type = CYGNET_EVENT_ACQUIRE,
		.reqid = policy->reqid,
		.flow = *flow,
	};

	if (last_use != control_now)
		control_event(&event);
}

/* To the SA's worker, with the right to leave. */
static void protect_out(struct worker *w, struct rte_mbuf *m, struct cygnet_policy *policy,
			const struct cygnet_flow *flow, uint64_t last_use)
{
	struct cygnet_sa *sa = cygnet_policy_sa(sadb, policy);
	struct packet *p = packet(m);

	if (!sa) {
		acquire(policy, flow, last_use);
		drop(w, m, DROP_NO_SA);
		return;
	}
	p->stage = STAGE_ESP_OUT;
	p->sa = cygnet_sa_index(sadb, sa);
	p->generation = sa->generation;
	hand_over(w, m, sa_owner(w, p->sa));
}

/* In plaintext, as policy allows. What the kernel framed goes out as it is. */
static void forward(struct worker *w, struct rte_mbuf *m)
{
	if (packet(m)->from_kernel) {
		rte_pktmbuf_prepend(m, sizeof(struct rte_ether_hdr));
		transmit_frame(w, m);
		return;
	}
	w->stats->forwarded++;
	transmit_routed(w, m);
}

void plain_out(struct worker *w, struct rte_mbuf *m)
{
	struct cygnet_policy *policy;
	enum drop_reason reason;
	struct cygnet_flow flow;
	uint64_t last_use;

	if (!packet(m)->from_kernel && !packet_decrement_ttl(packet_ip(m))) {
		icmp_error(w, m, ICMP_TIME_EXCEEDED, ICMP_EXC_TTL, 0);
		drop(w, m, DROP_TTL);
		return;
	}
	reason = policy_find(m, CYGNET_OUT, &flow, &policy);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	if (packet(m)->must_protect && (!policy || policy->action != CYGNET_PROTECT)) {
		drop(w, m, DROP_ICMP_UNPROTECTED);
		return;
	}
	if (!policy) {
		if (w->drop_no_policy && !packet(m)->decrypted && !packet(m)->answer)
			drop(w, m, DROP_NO_POLICY);
		else
			forward(w, m);
		return;
	}
	last_use = policy_use(policy);
	if (policy->action == CYGNET_PROTECT)
		protect_out(w, m, policy, &flow, last_use);
	else if (policy->action == CYGNET_DISCARD)
		drop(w, m, DROP_POLICY_DISCARD);
	else
		forward(w, m);
}

void plain_again(struct worker *w, struct rte_mbuf *m)
{
	struct cygnet_policy *policy;
	struct cygnet_flow flow;

	packet_flow(m, ports[packet(m)->port].ifindex, &flow);
	policy = cygnet_spd_lookup(sadb, CYGNET_OUT, &flow);
	if (!policy || policy->action != CYGNET_PROTECT)
		drop(w, m, DROP_SA_GONE);
	else
		protect_out(w, m, policy, &flow, control_now);
}

/* Addresses that the kernel would not forward from or to (RFC 1812, 5.3.7). */
static bool is_martian(const struct rte_ipv4_hdr *ip)
{
	uint8_t src = *(const uint8_t *)&ip->src_addr, dst = *(const uint8_t *)&ip->dst_addr;

	return src == 0 || src == 127 || src >= 224 || dst == 0 || dst == 127 || dst >= 240 ||
	       route_lookup(ip->src_addr).kind == ROUTE_LOCAL;
}

enum drop_reason plain_may_forward(struct rte_mbuf *m)
{
	if (!__atomic_load_n(&ports[packet(m)->port].forwards, __ATOMIC_RELAXED))
		return DROP_FORWARDING;
	return is_martian(packet_ip(m)) ? DROP_MARTIAN : DROP_NONE;
}

/* RFC 4301, 5.2: what came through an SA is what that SA's policy is about. */
void plain_in(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	struct cygnet_policy *policy;
	enum drop_reason reason;
	struct cygnet_flow flow;
	bool local = route_lookup(packet_ip(m)->dst_addr).kind == ROUTE_LOCAL;

	if (policy_find(m, local ? CYGNET_IN : CYGNET_FWD, &flow, &policy) != DROP_NONE ||
	    !policy || policy->action != CYGNET_PROTECT || policy->reqid != sa->reqid ||
	    policy->mode != sa->mode) {
		drop(w, m, DROP_POLICY_INBOUND);
		return;
	}
	reason = local ? DROP_NONE : plain_may_forward(m);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	policy_use(policy);
	w->stats->decapsulated++;
	if (local)
		transmit_packet_to_kernel(w, m);
	else
		plain_out(w, m);
}
