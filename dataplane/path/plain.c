/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_ether.h>

#include "base/clock.h"
#include "base/sadb.h"
#include "host/port.h"
#include "ip/headers.h"
#include "path/fast/learn.h"
#include "path/pipeline.h"
#include "path/policy.h"

void plain_protect(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	struct packet *p = packet(m);

	p->stage = STAGE_ESP_OUT;
	p->sa = cygnet_sa_index(sadb, sa);
	p->generation = sa->generation;
	learn_hand(w, m);
	hand_over(w, m, sa_owner(w, p->sa));
}

static void protect_out(struct worker *w, struct rte_mbuf *m, struct cygnet_policy *policy,
			const struct cygnet_flow *flow, uint64_t last_use)
{
	struct cygnet_sa *sa = cygnet_policy_sa(sadb, policy);

	if (!sa) {
		hold_add(w, m, policy, flow, last_use != clock_seconds());
		return;
	}
	/* Those that waited for it go first. */
	if (w->hold.n)
		hold_retry(w);
	plain_protect(w, m, sa);
}

/* In plaintext, as policy allows. What the kernel framed goes out as it is, if it is. */
static void forward(struct worker *w, struct rte_mbuf *m)
{
	if (packet(m)->from_kernel && !packet(m)->whole) {
		rte_pktmbuf_prepend(m, sizeof(struct rte_ether_hdr));
		transmit_frame(w, m);
		return;
	}
	w->stats->forwarded++;
	learn_forward(w, m);
	transmit_routed(w, m);
}

/* Whether a packet that was decrypted would go back in plaintext to the network that it came
 * from: the tunnel that was to carry it on is not there, or the route to the LAN is not. */
static bool goes_back(struct rte_mbuf *m)
{
	struct next_hop hop;

	if (!packet(m)->decrypted)
		return false;
	hop = packet_route(m);
	return hop.kind == ROUTE_FORWARD && hop.port == packet(m)->port;
}

/* What no outbound policy is about. The plaintext of a tunnel has its inbound policy. */
static enum drop_reason without_policy(const struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	bool back = goes_back(m);

	if (w->drop_no_policy && (back || (!p->decrypted && !p->answer)))
		return DROP_NO_POLICY;
	return back && !w->pass_hairpin ? DROP_HAIRPIN : DROP_NONE;
}

void plain_out(struct worker *w, struct rte_mbuf *m, struct cygnet_flow *flow)
{
	struct cygnet_policy *policy;
	enum drop_reason reason;
	uint64_t last_use;

	if (!packet(m)->from_kernel && !packet_take_hop(rte_pktmbuf_mtod(m, uint8_t *))) {
		icmp_error(w, m, ICMP_HOPS, 0);
		drop(w, m, DROP_TTL);
		return;
	}
	policy_flow_out(m, flow);
	reason = policy_find(m, flow, CYGNET_OUT, &policy);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	if (packet(m)->must_protect && (!policy || policy->action != CYGNET_PROTECT)) {
		drop(w, m, DROP_ICMP_UNPROTECTED);
		return;
	}
	if (!policy) {
		reason = without_policy(w, m);
		if (reason != DROP_NONE)
			drop(w, m, reason);
		else
			forward(w, m);
		return;
	}
	last_use = policy_use(policy);
	if (policy->action == CYGNET_PROTECT)
		protect_out(w, m, policy, flow, last_use);
	else if (policy->action == CYGNET_DISCARD)
		drop(w, m, DROP_POLICY_DISCARD);
	else
		forward(w, m);
}

void plain_again(struct worker *w, struct rte_mbuf *m)
{
	struct cygnet_policy *policy;
	struct cygnet_flow flow;

	policy_flow(m, &flow);
	policy_flow_out(m, &flow);
	policy = cygnet_spd_lookup(sadb, CYGNET_OUT, &flow);
	if (!policy || policy->action != CYGNET_PROTECT)
		drop(w, m, DROP_SA_GONE);
	else
		protect_out(w, m, policy, &flow, clock_seconds());
}

/* Addresses that the kernel would not forward from or to (RFC 1812, 5.3.7). */
static bool is_martian(const struct rte_ipv4_hdr *ip)
{
	uint8_t src = *(const uint8_t *)&ip->src_addr, dst = *(const uint8_t *)&ip->dst_addr;

	return src == 0 || src == 127 || src >= 224 || dst == 0 || dst == 127 || dst >= 240 ||
	       route_lookup(AF_INET, &ip->src_addr).kind == ROUTE_LOCAL;
}

/* IPv6's unspecified, loopback and IPv4-mapped addresses (RFC 4291, 2.5). */
static bool is_of_no_link(const uint8_t addr[16])
{
	static const uint8_t zero[15], mapped[12] = {[10] = 0xff, [11] = 0xff};

	return (!memcmp(addr, zero, sizeof(zero)) && addr[15] <= 1) ||
	       !memcmp(addr, mapped, sizeof(mapped));
}

/* Groups, what is link-local and our own addresses are local to the FIB. */
static bool is_martian6(const struct rte_ipv6_hdr *ip)
{
	return is_of_no_link(ip->src_addr) || is_of_no_link(ip->dst_addr) ||
	       route_lookup(AF_INET6, ip->src_addr).kind == ROUTE_LOCAL;
}

enum drop_reason plain_may_forward(struct rte_mbuf *m)
{
	bool v6 = packet_family(m) == AF_INET6;

	if (!__atomic_load_n(v6 ? &ports_forward6 : &ports[packet(m)->port].forwards,
			     __ATOMIC_RELAXED))
		return DROP_FORWARDING;
	return (v6 ? is_martian6(packet_ip6(m)) : is_martian(packet_ip(m))) ? DROP_MARTIAN
									     : DROP_NONE;
}

/* What finds neighbours and routers or joins groups (headers_link_control()), behind whatever
 * extension headers: the kernel would believe that it came from the link of the port. */
static bool is_of_the_link(const struct cygnet_flow *flow)
{
	return flow->af == AF_INET6 && flow->proto == IPPROTO_ICMPV6 &&
	       headers_icmp6_of_the_link(flow->sport);
}

/* RFC 4301, 5.2: what came through an SA is what that SA's policy is about. */
void plain_in(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	struct cygnet_policy *policy;
	enum drop_reason reason;
	struct cygnet_flow flow;
	bool local = packet_route(m).kind == ROUTE_LOCAL;

	policy_flow(m, &flow);
	if (policy_find(m, &flow, local ? CYGNET_IN : CYGNET_FWD, &policy) != DROP_NONE ||
	    !policy || policy->action != CYGNET_PROTECT || policy->reqid != sa->reqid ||
	    policy->mode != sa->mode || policy->proto != sa->proto ||
	    (local && is_of_the_link(&flow))) {
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
		plain_out(w, m, &flow);
}
