/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_udp.h>

#include "base/sadb.h"
#include "base/settings.h"
#include "crypto/device/sessions.h"
#include "esp/ah.h"
#include "esp/esp.h"
#include "esp/lifetime.h"
#include "host/interface.h"
#include "ip/headers.h"
#include "path/decrypted.h"
#include "path/fit.h"
#include "path/ike.h"
#include "path/may_forward.h"
#include "path/route_action.h"
#include "path/trace.h"
#include "path/worker/next_hop.h"
#include "path/worker/policy.h"

#define HEADROOM 256u
#define TAILROOM 512u	/* trailer, ICV and what AH hides */
#define HOPS 64

_Static_assert(HEADROOM + TRACE_SIZE_MOST + TAILROOM <= UINT16_MAX, "the packet and what protects it");

/* The packet: an mbuf of no pool. */
static struct {
	struct rte_mbuf m;
	uint8_t private[PACKET_PRIVATE];
	uint8_t bytes[UINT16_MAX + 1];
} __rte_cache_aligned buffer;
_Static_assert(offsetof(__typeof__(buffer), private) == sizeof(struct rte_mbuf),
	       "where rte_mbuf_to_priv() looks");

const char *trace_verdict_name(enum trace_verdict verdict)
{
	static const char *const names[] = {
#define X(name, text) [TRACE_##name] = text,
		TRACE_VERDICTS(X)
#undef X
	};

	return names[verdict];
}

/* --- what is said --- */

__rte_format_printf(4, 5)
static void say(struct trace *t, const char *stage, const char *decision, const char *format, ...)
{
	struct trace_step *step = &t->step[t->n];
	va_list arguments;

	if (t->n == TRACE_STEPS)
		return;
	t->n++;
	step->stage = stage;
	snprintf(step->decision, sizeof(step->decision), "%s", decision);
	va_start(arguments, format);
	vsnprintf(step->detail, sizeof(step->detail), format, arguments);
	va_end(arguments);
}

__rte_format_printf(3, 4)
static void settle(struct trace *t, enum trace_verdict verdict, const char *format, ...)
{
	va_list arguments;

	t->verdict = verdict;
	va_start(arguments, format);
	vsnprintf(t->detail, sizeof(t->detail), format, arguments);
	va_end(arguments);
}

static void settle_dropped(struct trace *t, const char *stage, enum drop_reason reason)
{
	say(t, stage, "drop", "%s", drop_name[reason]);
	t->reason = reason;
	settle(t, TRACE_DROPPED, "%.100s", drop_help[reason]);
}

struct address {
	char text[INET6_ADDRSTRLEN];
};

static struct address show(uint8_t af, const struct cygnet_addr *addr)
{
	struct address shown;

	inet_ntop(af, addr, shown.text, sizeof(shown.text));
	return shown;
}

static void say_policy(struct trace *t, const char *stage, const struct cygnet_policy *policy)
{
	static const char *const actions[] = {[CYGNET_PROTECT] = "protect",
					      [CYGNET_BYPASS] = "bypass",
					      [CYGNET_DISCARD] = "discard"};

	if (policy && cygnet_policy_held(policy))
		say(t, stage, "held", "held policy with priority %u", policy->priority);
	else if (policy)
		say(t, stage, policy->action < RTE_DIM(actions) ? actions[policy->action] : "?",
		    "policy with priority %u, reqid %u", policy->priority, policy->reqid);
	else
		say(t, stage, "no policy", "no policy matches");
}

/* --- the packet --- */

static void write_l4(uint8_t *at, const struct trace_packet *p)
{
	bool icmp = p->proto == IPPROTO_ICMP || p->proto == IPPROTO_ICMPV6;
	const uint8_t ports[4] = {(uint8_t)(p->sport >> 8), (uint8_t)p->sport,
				  (uint8_t)(p->dport >> 8), (uint8_t)p->dport};
	const uint8_t kind[2] = {(uint8_t)p->sport, (uint8_t)p->dport};

	memcpy(at, icmp ? kind : ports, icmp ? sizeof(kind) : sizeof(ports));
}

static void write_v4(uint8_t *at, const struct trace_packet *p)
{
	struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(p->size),
		.fragment_offset = p->df ? rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG) : 0,
		.time_to_live = HOPS,
		.next_proto_id = p->proto,
		.src_addr = p->src.v4,
		.dst_addr = p->dst.v4,
	};

	ip.hdr_checksum = ip_checksum(&ip, sizeof(ip));
	memcpy(at, &ip, sizeof(ip));
	write_l4(at + sizeof(ip), p);
}

static void write_v6(uint8_t *at, const struct trace_packet *p)
{
	struct rte_ipv6_hdr ip = {
		.vtc_flow = rte_cpu_to_be_32(6u << 28),
		.payload_len = rte_cpu_to_be_16((uint16_t)(p->size - sizeof(ip))),
		.proto = p->proto,
		.hop_limits = HOPS,
	};

	memcpy(&ip.src_addr, &p->src, sizeof(ip.src_addr));
	memcpy(&ip.dst_addr, &p->dst, sizeof(ip.dst_addr));
	memcpy(at, &ip, sizeof(ip));
	write_l4(at + sizeof(ip), p);
}

/* Make the packet, with its data at the IP header, and its struct packet. It is never freed.
 * @return NULL: its headers are refused, as the verdict says */
static struct rte_mbuf *make_packet(struct trace *t, const char *stage, const struct trace_packet *p,
				    unsigned int interface)
{
	struct rte_mbuf *m = &buffer.m;
	enum drop_reason reason;

	memset(&buffer, 0, sizeof(buffer));
	m->buf_addr = buffer.bytes;
	m->buf_len = UINT16_MAX;
	m->priv_size = PACKET_PRIVATE;
	m->refcnt = 1;
	m->nb_segs = 1;
	m->data_off = HEADROOM;
	m->data_len = p->size;
	m->pkt_len = m->data_len;
	packet_begin(m, interface, 0);
	if (p->af == AF_INET6)
		write_v6(rte_pktmbuf_mtod(m, uint8_t *), p);
	else
		write_v4(rte_pktmbuf_mtod(m, uint8_t *), p);
	reason = headers_check(m, true);
	if (reason == DROP_NONE)
		return m;
	settle_dropped(t, stage, reason);
	return NULL;
}

/* Go on with the first of its fragments. */
static void shorten(struct rte_mbuf *m, unsigned int mtu)
{
	unsigned int header = ip_header_len(packet_ip(m));
	unsigned int len = header + RTE_ALIGN_FLOOR(mtu - header, 8u);

	if (mtu <= header + 8 || len >= rte_pktmbuf_data_len(m))
		return;
	packet_narrow(m, 0, len);
	packet_ip(m)->total_length = rte_cpu_to_be_16((uint16_t)len);
	packet_ip(m)->hdr_checksum = 0;
	packet_ip(m)->hdr_checksum = ip_checksum(packet_ip(m), header);
}

/* --- the stages, in a packet's order --- */

static void to_kernel(struct trace *t, struct rte_mbuf *m, const char *why)
{
	const char *port = interfaces[packet(m)->interface].name;

	say(t, "to-kernel", "to the kernel", "%s", why);
	t->interface = packet(m)->interface;
	settle(t, TRACE_TO_KERNEL, "by the TAP of port %s", port);
}

static void to_neighbour(struct trace *t, struct rte_mbuf *m, const struct next_hop *hop, bool parts)
{
	const struct neigh neigh = packet_neigh(m, hop);
	const struct address addr = show(neigh.af, &neigh.addr);
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct rte_ether_addr known;

	t->interface = hop->interface;
	if (!(interfaces_present() >> hop->interface & 1)) {
		settle_dropped(t, "tx", DROP_PORT_REMOVED);
		return;
	}
	if (!neigh_known(&neigh, &known)) {
		say(t, "route", "wait", "the MAC address of %s is not known", addr.text);
		t->reason = DROP_NO_NEIGHBOUR;
		settle(t, TRACE_WAITS, "for the MAC address of %s, for up to three seconds", addr.text);
		return;
	}
	rte_ether_format_addr(mac, sizeof(mac), &known);
	say(t, "tx", "send", "to %s, %s", addr.text, mac);
	settle(t, TRACE_SENT, "by port %s%s", interfaces[hop->interface].name,
	       parts ? ", in fragments" : "");
}

static void route(struct trace *t, struct rte_mbuf *m)
{
	struct next_hop hop = packet_route(m);
	enum route_action action = route_decide(m, &hop);

	if (hop.kind == ROUTE_FORWARD)
		say(t, "route", "forward", "%u bytes by port %s with MTU %u", rte_pktmbuf_pkt_len(m),
		    interfaces[hop.interface].name, next_hop_mtu(&hop));
	switch (action) {
	case ROUTE_SEND:
	case ROUTE_FRAGMENT:
		to_neighbour(t, m, &hop, action == ROUTE_FRAGMENT);
		break;
	case ROUTE_TOO_BIG:
		settle_dropped(t, "route", DROP_TOO_BIG);
		break;
	case ROUTE_TO_KERNEL:
		to_kernel(t, m, hop.kind == ROUTE_LOCAL ? "the destination is this host"
							: "the route is by an interface that is no port");
		break;
	case ROUTE_UNUSABLE:
		settle_dropped(t, "route", DROP_ROUTE_UNUSABLE);
		break;
	case ROUTE_UNREACHABLE:
		settle_dropped(t, "route", DROP_NO_ROUTE);
		break;
	}
}

/* @return whether the packet, or a fragment of it, fits the SA's path */
static bool fit(struct trace *t, struct rte_mbuf *m, const struct cygnet_sa *sa,
		const struct session *s)
{
	unsigned int longest = fit_longest(m, sa, s);

	if (!longest)
		return true;
	if (packet_may_be_cut(m)) {
		say(t, "fit", "fragment", "%u bytes are too long for the SA's path, or the route: at most %u",
		    rte_pktmbuf_pkt_len(m), longest);
		shorten(m, longest);
		return true;
	}
	say(t, "fit", "too long", "%u bytes are too long for the SA's path, or the route: at most %u",
	    rte_pktmbuf_pkt_len(m), longest);
	settle_dropped(t, "fit", DROP_TOO_BIG);
	return false;
}

/* Make the protected packet as the stage does, but for the encryption. */
static enum drop_reason wrap(struct rte_mbuf *m, const struct cygnet_sa *sa, struct session *s)
{
	struct esp_job job;
	uint64_t seq = __atomic_load_n(&sa->seq, __ATOMIC_RELAXED) + 1;
	enum drop_reason reason;

	if (lifetime_is_over(sa))
		return DROP_SA_EXPIRED;
	if (lifetime_sequence_is_over(sa))
		return DROP_SEQ_EXHAUSTED;
	reason = s->ah ? ah_out_prepare(m, sa, s, seq, &job) : esp_out_prepare(m, sa, s, seq, &job);
	/* The job has parts of the key. */
	explicit_bzero(&job, sizeof(job));
	if (reason != DROP_NONE)
		return reason;
	if (s->ah)
		ah_out_finish(m, s);
	else
		esp_out_finish(m, s);
	packet(m)->own = 1;
	return DROP_NONE;
}

static void protect_by(struct trace *t, struct rte_mbuf *m, const struct cygnet_sa *sa,
		       struct session *s)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	const struct address dst = show(path->af, &path->dst);
	enum drop_reason reason;

	say(t, "outbound", "SA", "%s SPI 0x%08x to %s", sa->proto == IPPROTO_AH ? "AH" : "ESP",
	    rte_be_to_cpu_32(sa->spi), dst.text);
	if (!session_describe(s, sa)) {
		settle_dropped(t, "fit", DROP_UNSUPPORTED);
		return;
	}
	if (!fit(t, m, sa, s))
		return;
	reason = wrap(m, sa, s);
	if (reason != DROP_NONE) {
		settle_dropped(t, "protect", reason);
		return;
	}
	say(t, "protect", "protect", "%u bytes with all headers", rte_pktmbuf_pkt_len(m));
	route(t, m);
}

static void protect(struct trace *t, struct rte_mbuf *m, const struct cygnet_policy *policy)
{
	const struct cygnet_sa *sa = cygnet_policy_sa(sadb, policy);
	struct session s;

	if (!sa) {
		say(t, "outbound", "wait", "the policy has no SA");
		t->reason = DROP_NO_SA_IN_TIME;
		settle(t, TRACE_WAITS, "for an SA, which charon is asked for");
		return;
	}
	protect_by(t, m, sa, &s);
	explicit_bzero(&s, sizeof(s)); /* the salt */
}

static void outbound(struct trace *t, struct rte_mbuf *m)
{
	struct cygnet_policy *policy;
	struct cygnet_flow flow;
	enum drop_reason reason = policy_outbound_find(settings_now(), m, &flow, &policy);

	if (reason == DROP_NONE || policy)
		say_policy(t, "outbound", policy);
	if (reason != DROP_NONE) {
		settle_dropped(t, "outbound", reason);
	} else if (policy && policy->action == CYGNET_PROTECT) {
		protect(t, m, policy);
	} else if (packet(m)->from_kernel) {
		t->interface = packet(m)->interface;
		settle(t, TRACE_SENT, "by port %s, to the neighbour that the kernel says",
		       interfaces[t->interface].name);
	} else {
		route(t, m);
	}
}

static void forward(struct trace *t, struct rte_mbuf *m)
{
	struct cygnet_policy *policy = NULL;
	enum drop_reason reason = may_forward(m);
	struct cygnet_flow flow;

	if (reason == DROP_NONE) {
		policy_flow(m, &flow);
		reason = policy_inbound_find(settings_now(), m, &flow, CYGNET_FWD, &policy);
		if (reason == DROP_NONE || policy)
			say_policy(t, "forward", policy);
	}
	if (reason != DROP_NONE)
		settle_dropped(t, "forward", reason);
	else
		outbound(t, m);
}

/* A trace's packet has no content: at charon's ports it counts as IKE. */
static bool is_ike(struct rte_mbuf *m, uint16_t port)
{
	return headers_read(m).proto == IPPROTO_UDP && ike_exempt_port(m, rte_cpu_to_be_16(port));
}

static void local(struct trace *t, struct rte_mbuf *m, const struct trace_packet *p)
{
	struct cygnet_policy *policy;
	enum drop_reason reason;
	struct cygnet_flow flow;

	if (p->proto == IPPROTO_ESP || p->proto == IPPROTO_AH) {
		settle(t, TRACE_UNKNOWN, "ESP or AH to this host: say its spi");
		return;
	}
	if (is_ike(m, p->dport)) {
		to_kernel(t, m, "IKE is exempt from policies");
		return;
	}
	policy_flow(m, &flow);
	reason = policy_inbound_find(settings_now(), m, &flow, CYGNET_IN, &policy);
	if (reason == DROP_NONE || policy)
		say_policy(t, "local", policy);
	if (reason != DROP_NONE)
		settle_dropped(t, "local", reason);
	else
		to_kernel(t, m, "the destination is this host");
}

/* The interface that the packet comes from if the trace names none: the one of the route to its source.
 * @return -1: there is none */
static int interface_to(uint8_t af, const struct cygnet_addr *addr)
{
	struct next_hop hop = route_lookup(af, addr);

	return hop.kind == ROUTE_FORWARD ? hop.interface : -1;
}

static void from_kernel(struct trace *t, const struct trace_packet *p)
{
	int interface = interface_to(p->af, &p->dst);
	struct rte_mbuf *m;

	if (interface < 0) {
		settle(t, TRACE_UNKNOWN, "the kernel of this host does not send it by a port");
		return;
	}
	m = make_packet(t, "from-kernel", p, (unsigned int)interface);
	if (!m)
		return;
	packet(m)->from_kernel = 1;
	say(t, "from-kernel", "from this host", "by the TAP of port %s", interfaces[interface].name);
	/* A packet that the kernel forwards may have such a source port, too. */
	if (is_ike(m, p->sport) && route_lookup(p->af, &p->src).kind == ROUTE_LOCAL) {
		t->interface = interface;
		settle(t, TRACE_SENT, "by port %s: IKE is exempt from policies",
		       interfaces[interface].name);
		return;
	}
	outbound(t, m);
}

static void from_wire(struct trace *t, const struct trace_flow *flow, int interface)
{
	struct rte_mbuf *m;

	if (interface < 0) {
		settle(t, TRACE_UNKNOWN, "no port leads to its source: say in PORT");
		return;
	}
	m = make_packet(t, "from-wire", &flow->packet, (unsigned int)interface);
	if (!m)
		return;
	if (packet_route(m).kind == ROUTE_LOCAL) {
		say(t, "from-wire", "for this host", "from port %s", interfaces[interface].name);
		local(t, m, &flow->packet);
	} else {
		say(t, "from-wire", "to be forwarded", "from port %s", interfaces[interface].name);
		forward(t, m);
	}
}

static void decrypted(struct trace *t, const struct trace_flow *flow, const struct cygnet_sa *sa,
		      unsigned int interface)
{
	struct rte_mbuf *m = make_packet(t, "finish", &flow->inner, interface);
	struct cygnet_policy *policy = NULL;
	enum drop_reason reason;
	bool here;

	if (!m)
		return;
	here = packet_route(m).kind == ROUTE_LOCAL;
	packet(m)->decrypted = 1;
	packet(m)->from = PACKET_FROM_SA(cygnet_sa_index(sadb, sa));
	reason = decrypted_check(m, sa, here, &policy);
	say_policy(t, "decrypted", policy);
	if (reason != DROP_NONE)
		settle_dropped(t, "decrypted", reason);
	else if (here)
		to_kernel(t, m, "the destination is this host");
	else
		outbound(t, m);
}

static enum drop_reason check_sa(const struct cygnet_sa *sa, bool encap)
{
	bool served;
	struct session s;

	if (lifetime_is_over(sa))
		return DROP_SA_EXPIRED;
	if ((cygnet_sa_path(sa)->encap != 0) != encap)
		return DROP_ESP_ENCAP;
	served = session_describe(&s, sa);
	explicit_bzero(&s, sizeof(s)); /* the salt */
	return served ? DROP_NONE : DROP_UNSUPPORTED;
}

static void unprotect(struct trace *t, const struct trace_flow *flow, const struct cygnet_sa *sa)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	int interface = flow->interface < 0 ? interface_to(path->af, &path->src) : flow->interface;
	enum drop_reason reason = check_sa(sa, flow->encap);

	if (reason != DROP_NONE) {
		settle_dropped(t, "unprotect", reason);
		return;
	}
	say(t, "unprotect", "decrypt", "if its sequence number is new and its ICV right");
	if (flow->has_inner && interface < 0)
		settle(t, TRACE_UNKNOWN, "no port leads to the peer: say in PORT");
	else if (flow->has_inner)
		decrypted(t, flow, sa, (unsigned int)interface);
	else
		settle(t, TRACE_DECRYPTED, "say inner for what the policies decide then");
}

static void from_peer(struct trace *t, const struct trace_flow *flow)
{
	const struct trace_packet *p = &flow->packet;
	const struct cygnet_sa *sa;

	if (route_lookup(p->af, &p->dst).kind != ROUTE_LOCAL) {
		say(t, "from-wire", "to be forwarded", "the destination is not this host");
		settle(t, TRACE_UNKNOWN, "it is not for an SA of this host: ask without spi");
		return;
	}
	say(t, "from-wire", "for this host", "%s", p->proto == IPPROTO_AH ? "AH" : "ESP");
	sa = cygnet_sad_lookup(sadb, flow->spi, p->proto, p->af, &p->dst);
	if (!sa) {
		settle_dropped(t, "local", DROP_BAD_SPI);
		return;
	}
	say(t, "local", "SA", "%s, reqid %u", sa->mode == CYGNET_TRANSPORT ? "transport" : "tunnel",
	    sa->reqid);
	unprotect(t, flow, sa);
}

void trace_run(const struct trace_flow *flow, struct trace *t)
{
	const struct trace_packet *p = &flow->packet;

	*t = (struct trace){.interface = -1, .reason = DROP_NONE, .verdict = TRACE_UNKNOWN};
	if (cygnet_reader_online(sadb, SADB_READER_TRACE)) {
		settle(t, TRACE_UNKNOWN, "cygnetd does not serve the databases");
		return;
	}
	if (flow->spi)
		from_peer(t, flow);
	else if (flow->from_kernel || (flow->interface < 0 &&
				       route_lookup(p->af, &p->src).kind == ROUTE_LOCAL))
		from_kernel(t, p);
	else
		from_wire(t, flow, flow->interface < 0 ? interface_to(p->af, &p->src)
						       : flow->interface);
	cygnet_reader_offline(sadb, SADB_READER_TRACE);
	memset(&buffer, 0, sizeof(buffer));
}
