/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_udp.h>

#include "base/sadb.h"
#include "base/settings.h"
#include "esp/outer.h"
#include "host/link.h"
#include "ip/headers.h"
#include "ip/ike_header.h"
#include "path/dispatch.h"
#include "path/finish.h"
#include "path/trace.h"
#include "path/worker/next_hop.h"
#include "path/worker/tx.h"

#define HEADROOM  256u
#define TAILROOM  512u /* trailer, ICV and what AH hides */
#define NATT_PORT 4500

_Static_assert(HEADROOM + TRACE_SIZE_MOST + TAILROOM <= UINT16_MAX, "there is room");

/* Wiped after each trace: the crypto job has the salt, which is part of the key. No core dump has it (main.c). */
static struct {
	struct worker worker; /* number 0 of 1, without tables, pools and devices */
	struct stats stats;
	/* The packet: an mbuf of no pool, with a reference more, so that nothing frees it. */
	struct rte_mbuf m __rte_cache_aligned;
	uint8_t private[PACKET_PRIVATE];
	uint8_t bytes[UINT16_MAX + 1];
} own;
_Static_assert(offsetof(__typeof__(own), private) - offsetof(__typeof__(own), m) ==
		       sizeof(struct rte_mbuf),
	       "where rte_mbuf_to_priv() looks");

static struct trace trace;

/* @param interface  that it leaves by, whose name is behind the text; -1: none */
static void settle(const char *verdict, int interface, const char *text)
{
	trace.verdict = verdict;
	trace.interface = interface;
	snprintf(trace.detail, sizeof(trace.detail), "%.100s%.27s", text,
		 interface < 0 ? "" : interfaces[interface].name);
}

/* --- the packet --- */

/* A datagram has an IKE header behind a non-ESP marker: at charon's ports it counts as IKE. */
static void write_l4(uint8_t *l4, const struct trace_packet *p, unsigned int len)
{
	const struct rte_udp_hdr udp = {.src_port = rte_cpu_to_be_16((uint16_t)p->sport),
					.dst_port = rte_cpu_to_be_16((uint16_t)p->dport),
					.dgram_len = rte_cpu_to_be_16((uint16_t)len)};
	uint8_t ike[IKE_MARKER + IKE_HEADER] = {[IKE_MARKER] = 1, [IKE_MARKER + 17] = 2 << 4};
	const uint32_t message = rte_cpu_to_be_32(len - (uint32_t)sizeof(udp) - IKE_MARKER);
	const uint8_t kind[] = {(uint8_t)p->sport, (uint8_t)p->dport};
	const uint32_t spi = rte_cpu_to_be_32(p->spi);

	if (p->proto == IPPROTO_ICMP || p->proto == IPPROTO_ICMPV6)
		memcpy(l4, kind, sizeof(kind));
	else
		memcpy(l4, &udp, p->proto == IPPROTO_UDP ? sizeof(udp) : 2 * sizeof(udp.src_port));
	memcpy(ike + sizeof(ike) - sizeof(message), &message, sizeof(message));
	if (p->proto == IPPROTO_UDP && len >= sizeof(udp) + sizeof(ike))
		memcpy(l4 + sizeof(udp), ike, sizeof(ike));
	if (p->spi)
		memcpy(l4 + (p->proto == IPPROTO_AH    ? 4
			     : p->proto == IPPROTO_UDP ? sizeof(udp)
						       : 0),
		       &spi, sizeof(spi));
}

/* Make the packet, with its data at the IP header, and its struct packet. */
static struct rte_mbuf *make_packet(const struct trace_packet *p, unsigned int interface)
{
	const struct outer header = {
		.v6 = p->af == AF_INET6,
		.df = p->df,
		.proto = (uint8_t)p->proto,
	};
	const struct cygnet_path path = {.src = p->src, .dst = p->dst};
	unsigned int len = outer_len(header.v6);

	memset(own.bytes, 0, sizeof(own.bytes));
	own.m = (struct rte_mbuf){
		.buf_addr = own.bytes,
		.buf_len = UINT16_MAX,
		.priv_size = PACKET_PRIVATE,
		.refcnt = 2,
		.nb_segs = 1,
		.data_off = HEADROOM,
		.data_len = (uint16_t)p->size,
		.pkt_len = p->size,
	};
	packet_begin(&own.m, interface, 0);
	outer_write(own.bytes + HEADROOM, &header, &path, p->size);
	write_l4(own.bytes + HEADROOM + len, p, p->size - len);
	return &own.m;
}

/* Put the packet in front of the first stage, in the frame in which it comes. One from the kernel has
 * no destination, which only the kernel knows. */
static void enter(const struct trace_packet *p, unsigned int interface, enum stage stage)
{
	struct rte_mbuf *m = make_packet(p, interface);
	struct rte_ether_hdr *eth = (void *)rte_pktmbuf_prepend(m, sizeof(*eth));
	const struct rte_ether_addr own_mac = interface_mac(&interfaces[interface]);

	eth->ether_type = p->af == AF_INET6 ? rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6)
					    : rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	*(stage == STAGE_FROM_KERNEL ? &eth->src_addr : &eth->dst_addr) = own_mac;
	if (stage != STAGE_FROM_KERNEL)
		link_tag(m, interface);
	stage_add(&own.worker.stages, stage, m);
}

/* --- between stages --- */

static void look_at_tx(const struct rte_mbuf *frame)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(frame, const struct rte_ether_hdr *);
	bool framed = rte_is_zero_ether_addr(&eth->dst_addr);
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	trace.stage = stage_name[STAGE_TX];
	rte_ether_format_addr(mac, sizeof(mac), &eth->dst_addr);
	trace_note(&trace, "send", "to %s", framed ? "the neighbour that the kernel says" : mac);
	settle("sent", frame->port, "by port ");
}

/* See whether the packet is at a sink of the worker: a queue of frames, or a drop's counter. */
static void look_at_sinks(struct worker *w)
{
	for (unsigned int i = 0; i < CONF_MAX_INTERFACES; i++)
		if (w->tap[i].n)
			settle("to-kernel", (int)i, "by the TAP of port ");
	for (unsigned int d = 0; d < CONF_MAX_DEVICES; d++)
		if (w->tx[d].n)
			look_at_tx(w->tx[d].m[0]);
	for (unsigned int reason = 0; reason < DROP_REASON_COUNT; reason++) {
		if (!own.stats.drop[reason])
			continue;
		trace_note(&trace, "drop", "%s", drop_name[reason]);
		trace.reason = (enum drop_reason)reason;
		settle("dropped", -1, drop_help[reason]);
	}
}

/* The packet is out of its SA: go on with the one in it. */
static void decrypted(struct worker *w, const struct trace_packet *inner)
{
	const struct packet outer = *packet(&own.m);
	struct rte_mbuf *m = make_packet(inner, outer.interface);
	enum drop_reason reason = headers_check(m, true);

	trace.stage = stage_name[STAGE_FINISH];
	packet(m)->sa = outer.sa;
	packet(m)->generation = outer.generation;
	packet(m)->decrypted = 1;
	packet(m)->from = PACKET_FROM_SA(outer.sa);
	if (reason != DROP_NONE)
		drop(w, m, reason);
	else
		stage_add(&w->stages, STAGE_DECRYPTED, m);
}

static void after_crypto(struct worker *w, const struct trace_flow *flow)
{
	trace.prepared = false;
	if (!trace.session.inbound) {
		finish_packet(w, &own.m, &trace.session, &trace.sa);
		trace_note(&trace, "protect", "%u bytes with all headers",
			   rte_pktmbuf_pkt_len(&own.m));
		return;
	}
	trace_note(&trace, "decrypt", "if its sequence number is new and its ICV right");
	if (flow->has_inner)
		decrypted(w, &flow->inner);
	else
		settle("decrypted", -1, "say inner for what the policies decide then");
}

static void pass_stages(struct worker *w, const struct trace_flow *flow)
{
	while (w->stages.waiting) {
		unsigned int before = trace.n;

		trace.stage = stage_name[__builtin_ctz(w->stages.waiting)];
		dispatch_stage(w);
		/* An SA that has been moved to another worker: go on here. */
		for (unsigned int to = 0; to < CONF_MAX_WORKERS; to++)
			for (; w->handoff[to].n; w->handoff[to].n--)
				stage_add(&w->stages, (enum stage)packet(&own.m)->stage, &own.m);
		if (trace.prepared)
			after_crypto(w, flow);
		look_at_sinks(w);
		if (trace.n == before && w->stages.waiting)
			trace_note(&trace, "pass", "to %s",
				   stage_name[__builtin_ctz(w->stages.waiting)]);
	}
}

/* --- where it comes in --- */

/* The interface of the route to an address. @return -1: there is none
 * @param kernel  by which the kernel sends; otherwise by which a frame comes in, which is no tunnel */
static int interface_to(uint8_t af, const struct cygnet_addr *addr, bool kernel)
{
	const struct next_hop hop = route_lookup(af, addr);
	const struct hop_share *share;
	struct hop_share single;
	unsigned int n = hop_group_members(&hop, &single, &share);

	for (unsigned int i = 0; i < n; i++)
		if (share[i].hop.kind == ROUTE_FORWARD ||
		    (kernel && share[i].hop.kind == ROUTE_TUNNEL))
			return share[i].hop.interface;
	return -1;
}

/* Of ESP and AH the source, unless it is given, is the SA's peer. Without an SA any port will do. */
static void begin(const struct trace_flow *flow)
{
	struct trace_packet p = flow->packet;
	const struct cygnet_sa *sa = cygnet_sad_lookup(sadb, rte_cpu_to_be_32(p.spi),
						       (uint8_t)p.proto, p.af, &p.dst);
	const struct cygnet_path *path = p.spi && sa ? cygnet_sa_path(sa) : NULL;
	bool kernel = flow->from_kernel;
	int interface = flow->interface;

	if (!p.src_af && path)
		p.src = path->src;
	if (p.src_af && interface < 0 && route_lookup(p.af, &p.src).kind == ROUTE_LOCAL)
		kernel = true;
	if (kernel || interface < 0)
		interface = interface_to(p.af, kernel ? &p.dst : &p.src, kernel);
	if (!p.src_af && !path)
		interface = route_lookup(p.af, &p.dst).kind == ROUTE_LOCAL ? RTE_MAX(interface, 0)
									   : -1;
	if (flow->encap) {
		p.proto = IPPROTO_UDP;
		p.dport = path && path->encap ? rte_be_to_cpu_16(path->dport) : NATT_PORT;
	}
	if (interface < 0)
		settle("unknown", -1,
		       kernel ? "the kernel of this host does not send it by a port"
			      : "no port leads to its source: say src, or in PORT");
	else
		enter(&p, (unsigned int)interface, kernel ? STAGE_FROM_KERNEL : STAGE_FROM_WIRE);
}

const struct trace *trace_run(const struct trace_flow *flow)
{
	struct worker *w = &own.worker;

	trace = (struct trace){.reason = DROP_NONE};
	settle("unknown", -1, "cygnetd does not serve the databases");
	if (cygnet_reader_online(sadb, SADB_READER_TRACE))
		return &trace;
	settle("unknown", -1, "a stage has kept it");
	w->workers = 1;
	tx_init(w);
	w->settings = settings_now() & ~SETTING_AUDIT;
	w->stats = &own.stats;
	w->trace = &trace;
	begin(flow);
	pass_stages(w, flow);
	cygnet_reader_offline(sadb, SADB_READER_TRACE);
	explicit_bzero(&own, sizeof(own));
	explicit_bzero(&trace.sa, sizeof(trace.sa));
	explicit_bzero(&trace.session, sizeof(trace.session)); /* the salt */
	return &trace;
}
