/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/selector_text.h"
#include "crypto/device/sessions.h"
#include "path/worker/next_hop.h"
#include "path/worker/trace_note.h"
#include "path/worker/worker.h"

void trace_note(struct trace *t, const char *decision, const char *format, ...)
{
	struct trace_step *step = &t->step[t->n];
	va_list arguments;

	if (t->n == TRACE_STEPS)
		return;
	t->n++;
	step->stage = t->stage;
	snprintf(step->decision, sizeof(step->decision), "%s", decision);
	va_start(arguments, format);
	vsnprintf(step->detail, sizeof(step->detail), format, arguments);
	va_end(arguments);
}

void trace_wait(struct trace *t, enum drop_reason reason, const char *what)
{
	trace_note(t, "wait", "for %s", what);
	t->verdict = "waits";
	t->reason = reason;
	snprintf(t->detail, sizeof(t->detail), "for %s", what);
}

void trace_wait_neighbour(struct trace *t, const struct neigh *neigh)
{
	char addr[INET6_ADDRSTRLEN], what[INET6_ADDRSTRLEN + 64];

	snprintf(what, sizeof(what), "the MAC address of %s, for up to three seconds",
		 inet_ntop(neigh->af, &neigh->addr, addr, sizeof(addr)));
	trace_wait(t, DROP_NO_NEIGHBOUR, what);
}

void trace_policy(struct trace *t, const struct cygnet_policy *policy, bool passed)
{
	if (policy)
		trace_note(t,
			   cygnet_policy_held(policy) ? "held" : policy_action_text(policy->action),
			   "policy with priority %u, reqid %u", policy->priority, policy->reqid);
	else if (passed)
		trace_note(t, "no policy", "no policy matches");
}

void trace_icmp(struct trace *t, enum icmp_why why, unsigned int mtu)
{
	if (why == ICMP_TOO_BIG)
		trace_note(t, "ICMP error", "%u bytes at most", mtu);
	else
		trace_note(t, "ICMP error", "%s",
			   why == ICMP_HOPS ? "time exceeded" : "unreachable");
}

void trace_sa(struct trace *t, const struct cygnet_sa *sa)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	char text[INET6_ADDRSTRLEN];

	trace_note(t, "SA", "%s SPI 0x%08x to %s", sa->proto == IPPROTO_AH ? "AH" : "ESP",
		   rte_be_to_cpu_32(sa->spi), inet_ntop(path->af, &path->dst, text, sizeof(text)));
}

void trace_route(struct trace *t, struct rte_mbuf *m, const struct next_hop *hop)
{
	struct neigh neigh = packet_neigh(m, hop);
	char text[INET6_ADDRSTRLEN];

	if (hop->kind == ROUTE_FORWARD)
		trace_note(t, "forward", "%u bytes by port %s with MTU %u, to %s",
			   rte_pktmbuf_pkt_len(m), interfaces[hop->interface].name,
			   next_hop_mtu(hop), inet_ntop(neigh.af, &neigh.addr, text, sizeof(text)));
}

/* A trace needs no keys: they are not copied out of the shared file. */
static void copy_without_keys(struct cygnet_sa *to, const struct cygnet_sa *from)
{
	const size_t keys = offsetof(struct cygnet_sa, cipher_key),
		     behind = offsetof(struct cygnet_sa, seq);

	_Static_assert(offsetof(struct cygnet_sa, cipher_key) <
				       offsetof(struct cygnet_sa, auth_key) &&
			       offsetof(struct cygnet_sa, auth_key) <
				       offsetof(struct cygnet_sa, seq),
		       "keys are in between");
	memcpy(to, from, keys);
	memset((char *)to + keys, 0, behind - keys);
	memcpy((char *)to + behind, (const char *)from + behind, sizeof(*to) - behind);
}

/* Limits that are reached count as reported, so that charon is told nothing. */
enum drop_reason trace_session(struct trace *t, struct rte_mbuf *m, struct cygnet_sa **sa,
			       struct session **s)
{
	if (!session_describe(&t->session, *sa))
		return DROP_UNSUPPORTED;
	t->session.sa = packet(m)->sa;
	packet(m)->session = &t->session;
	copy_without_keys(&t->sa, *sa);
	t->sa.expired = CYGNET_EXPIRE_SOFT | CYGNET_EXPIRE_HARD;
	*sa = &t->sa;
	*s = &t->session;
	return DROP_NONE;
}

unsigned int trace_fragment(struct worker *w, struct rte_mbuf *m, unsigned int mtu,
			    struct rte_mbuf **parts)
{
	bool v6 = packet_family(m) == AF_INET6;
	unsigned int header = v6 ? (unsigned int)sizeof(struct rte_ipv6_hdr)
				 : ip_header_len(packet_ip(m));
	unsigned int len = header + RTE_ALIGN_FLOOR(mtu - RTE_MIN(mtu, header), 8u);

	if (len <= header) {
		drop(w, m, DROP_TOO_BIG);
		return 0;
	}
	trace_note(w->trace, "fragment", "%u bytes, in fragments of %u at most",
		   rte_pktmbuf_pkt_len(m), mtu);
	packet_narrow(m, 0, RTE_MIN(len, rte_pktmbuf_pkt_len(m)));
	if (v6) {
		packet_ip6(m)->payload_len = rte_cpu_to_be_16(
			(uint16_t)(rte_pktmbuf_data_len(m) - header));
	} else {
		packet_ip(m)->total_length = rte_cpu_to_be_16(rte_pktmbuf_data_len(m));
		packet_ip(m)->fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG);
		packet_ip(m)->hdr_checksum = 0;
		packet_ip(m)->hdr_checksum = ip_checksum(packet_ip(m), header);
	}
	parts[0] = m;
	return 1;
}
