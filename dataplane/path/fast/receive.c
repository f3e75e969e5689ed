/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_esp.h>
#include <rte_prefetch.h>

#include "host/link.h"
#include "ip/ip_sum.h"
#include "path/fast/batch.h"
#include "path/fast/fast.h"
#include "path/fast/leave.h"
#include "path/fast/no_sa.h"
#include "path/fast/per_packet.h"

/* Frames of a burst that do not pass the stages. */
struct known {
	uint32_t packets, bytes;
	uint32_t dropped; /* of packets: those without a flow */
};

/* --- look up --- */

static bool whole_v4(const struct rte_ipv4_hdr *ip, unsigned int have, uint16_t *len)
{
	if (have < sizeof(*ip) || ip->version_ihl != RTE_IPV4_VHL_DEF)
		return false;
	*len = rte_be_to_cpu_16(ip->total_length);
	return *len >= sizeof(*ip) && *len <= have && ip_sum(ip, sizeof(*ip)) == 0xffff;
}

static bool whole_v6(const struct rte_ipv6_hdr *ip, unsigned int have, uint16_t *len)
{
	if (have < sizeof(*ip) || *(const uint8_t *)ip >> 4 != 6)
		return false;
	*len = (uint16_t)(sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len));
	return *len >= sizeof(*ip) && *len <= have;
}

/* An intact IP packet, in a frame to us alone. */
static bool look_at(struct rte_mbuf *m, uint64_t mac, unsigned int link, unsigned int interface,
		    struct fast_frame *c)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *ip = frame + link;
	unsigned int have = rte_pktmbuf_data_len(m) - link;
	uint64_t dst;
	rte_be16_t type;

	if (m->nb_segs > 1 || m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED ||
	    rte_pktmbuf_data_len(m) < link + sizeof(struct rte_ipv4_hdr))
		return false;
	memcpy(&dst, frame, sizeof(dst));
	memcpy(&type, ip - sizeof(type), sizeof(type));
	if ((dst ^ mac) << 16 && !macvlan_has_mac(interface, dst))
		return false;
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4)
		    ? !whole_v4((const struct rte_ipv4_hdr *)ip, have, &c->len)
		    : type != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6) ||
			      !whole_v6((const struct rte_ipv6_hdr *)ip, have, &c->len))
		return false;
	return flow_of(ip, c->len, PACKET_FROM_INTERFACE(interface), &c->key);
}

static uint8_t find_no_sa(const struct fast_burst *burst, unsigned int i)
{
	const uint8_t *frame = rte_pktmbuf_mtod(burst->m[i], const uint8_t *);

	return (uint8_t)(burst->frame[i].len ? no_sa_for(frame, burst->link, burst->frame[i].len)
					     : 0);
}

/* Prefetch what the packets of a burst need of their SAs before the first one needs it. */
static void find_flows(struct flow_table *flows, struct fast_burst *burst)
{
	struct fast_frame *c = burst->frame;
	struct session *s[BURST];
	unsigned int frames[BURST], sessions = 0;
	const struct flow *f = NULL;

	for (unsigned int i = 0; i < burst->n; i++) {
		if (!c[i].again)
			f = c[i].len ? flow_find(flows, &c[i].key, c[i].place) : NULL;
		c[i].flow = f;
		if (!f)
			c[i].no_sa = find_no_sa(burst, i);
		if (!flow_has_session(f))
			continue;
		if (sessions && s[sessions - 1] == f->session) {
			frames[sessions - 1]++;
			continue;
		}
		session_prefetch(f->session, f->kind == FLOW_UNPROTECT);
		frames[sessions] = 1;
		s[sessions++] = f->session;
	}
	/* Frames of earlier bursts have got their numbers, or have taken none. */
	for (unsigned int i = 0; i < sessions; i++) {
		session_prefetch_sa(s[i]);
		if (s[i]->shared)
			s[i]->out_block.coming = 0;
	}
	for (unsigned int i = 0; i < sessions; i++)
		if (s[i]->shared)
			s[i]->out_block.coming += frames[i];
}

void fast_lookup(struct worker *w, struct fast_burst *burst, struct rte_mbuf *const *m,
		 unsigned int n, unsigned int interface)
{
	uint64_t mac = __atomic_load_n(&interfaces[interface].mac, __ATOMIC_RELAXED);
	struct fast_frame *c = burst->frame;
	uint32_t place = 0;

	flows_next_vector(&w->fast->flows);
	burst->m = m;
	burst->n = n;
	burst->next = 0;
	burst->without_flow = false;
	burst->interface = interface;
	burst->link = link_header_len(interface);
	burst->direct = crypto_is_direct(&w->crypto);
	burst->state = flow_state(&w->fast->flows);
	for (unsigned int i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
	for (unsigned int i = 0; i < n; i++) {
		c[i].again = false;
		if (!look_at(m[i], mac, burst->link, interface, &c[i])) {
			c[i].len = 0;
			continue;
		}
		if (i && c[i - 1].len && flow_same(&c[i - 1].key, &c[i].key)) {
			c[i].again = true;
			c[i].place = place;
			continue;
		}
		c[i].place = place = flow_place(&w->fast->flows, &c[i].key);
		flow_prefetch(&w->fast->flows, place);
	}
	find_flows(&w->fast->flows, burst);
}

/* --- take --- */

/* Whether a packet that came from a port may go on without passing the stages. */
static bool may_enter(const struct flow *f, const uint8_t *ip, unsigned int len)
{
	unsigned int header = ip[0] >> 4 == 6 ? sizeof(struct rte_ipv6_hdr)
					      : sizeof(struct rte_ipv4_hdr);

	if (f->kind == FLOW_UNPROTECT)
		return is_ordinary(f->session, 0);
	if (f->kind == FLOW_HANDOFF_IN)
		return len >= header + sizeof(struct rte_esp_hdr);
	return flow_may_leave(f, ip, len);
}

static bool is_known(struct worker *w, struct rte_mbuf *m, unsigned int link,
		     const struct fast_frame *c)
{
	const struct flow *f = c->flow;

	if (!f || flow_passes(&w->fast->flows, f))
		return false;
	if (may_enter(f, rte_pktmbuf_mtod_offset(m, const uint8_t *, link), c->len))
		return true;
	flow_pass(&w->fast->flows, f);
	return false;
}

/* Stages may have run since the burst was looked up, and have learned or forgotten flows.
 * @return whether they have: frames behind this one have to be looked up again, too */
static bool look_again(struct worker *w, const struct fast_burst *burst, struct fast_frame *c)
{
	if (burst->state == flow_state(&w->fast->flows))
		return false;
	if (c->len)
		c->flow = flow_find(&w->fast->flows, &c->key, c->place);
	c->no_sa = 0;
	return true;
}

/* Whether a frame's SA is that of the first frame of a run. */
static bool goes_along(const struct flow_table *flows, const struct flow *f,
		       const struct flow *first)
{
	return f == first ||
	       (flow_has_session(f) && f->session == first->session && !flow_passes(flows, f));
}

/* How many frames from the first one on are ordinary packets for one SA and go into the crypto
 * batch together: what there is to know of the SA is asked once for all of them.
 * @param most  frames whose flow is current */
static unsigned int run_length(const struct worker *w, const struct fast_burst *burst,
			       unsigned int most)
{
	const struct fast_frame *c = &burst->frame[burst->next];
	struct rte_mbuf *const *m = burst->m + burst->next;
	const struct flow *f = c->flow;
	const struct session *s;
	uint64_t bytes = 0;
	unsigned int i;

	if (!burst->direct || !flow_has_session(f) || flow_passes(&w->fast->flows, f))
		return 0;
	s = f->session;
	/* The first packet alone: with interleaved SAs the run has length one. */
	if (!fast_batch_takes(&w->crypto, s, 1) || !are_ordinary(s, 1, c->len))
		return 0;
	for (i = 0;
	     i < most && goes_along(&w->fast->flows, c[i].flow, f) && fast_batch_fits(m[i], s);
	     i++) {
		if (f->kind == FLOW_PROTECT &&
		    (!has_hops(rte_pktmbuf_mtod_offset(m[i], const uint8_t *, burst->link)) ||
		     c[i].len > s->route.longest || c[i].len > c[i].flow->longest))
			break;
		bytes += c[i].len;
	}
	if (i <= 1)
		return i;
	return fast_batch_takes(&w->crypto, s, i) && are_ordinary(s, i, bytes) ? i : 1;
}

/* As the stages leave a checked packet: without link-layer header and padding, the hop taken. */
static void enter(struct rte_mbuf *m, const struct fast_frame *c, unsigned int link,
		  struct known *known)
{
	known->packets++;
	known->bytes += rte_pktmbuf_pkt_len(m);
	packet_narrow(m, link, c->len);
	if (c->flow->kind != FLOW_UNPROTECT && c->flow->kind != FLOW_HANDOFF_IN)
		packet_take_hop(rte_pktmbuf_mtod(m, uint8_t *));
}

static void drop_one(struct worker *w, struct rte_mbuf *m, const struct fast_frame *c,
		     const struct fast_burst *burst, struct known *known)
{
	known->packets++;
	known->dropped++;
	known->bytes += rte_pktmbuf_pkt_len(m);
	no_sa_drop(w, m, burst->link, c->len, c->no_sa, burst->interface);
}

static void take_one(struct worker *w, struct rte_mbuf *m, const struct fast_frame *c,
		     const struct fast_burst *burst, struct known *known)
{
	const struct flow *f = c->flow;

	enter(m, c, burst->link, known);
	if (f->kind == FLOW_FORWARD) {
		leave_forward(w, m, f);
		return;
	}
	packet_received(w, m, burst->interface);
	if (!flow_has_session(f))
		fast_handoff(w, m, f);
	else if (f->kind == FLOW_UNPROTECT)
		fast_unprotect(w, m, f->session);
	else
		fast_protect(w, m, f->session);
}

/* @return frames taken */
static unsigned int take_some(struct worker *w, struct fast_burst *burst, struct known *known)
{
	struct fast_frame *c = &burst->frame[burst->next];
	struct rte_mbuf *const *m = burst->m + burst->next;
	unsigned int run;

	run = run_length(w, burst, look_again(w, burst, c) ? 1 : burst->n - burst->next);
	if (run) {
		for (unsigned int i = 0; i < run; i++)
			enter(m[i], &c[i], burst->link, known);
		fast_batch_add(w, m, run, c->flow->session, burst->interface);
		return run;
	}
	if (is_known(w, *m, burst->link, c))
		take_one(w, *m, c, burst, known);
	else if (!c->flow && c->no_sa)
		drop_one(w, *m, c, burst, known);
	else
		frame_received(w, STAGE_FROM_WIRE, *m, burst->interface);
	burst->without_flow |= !c->len;
	return 1;
}

/* A frame without a flow key may belong to the flow of the next frame: it passes the stages first. */
static bool stages_first(struct fast_burst *burst)
{
	if (!burst->without_flow || !burst->frame[burst->next].len)
		return false;
	burst->without_flow = false;
	return true;
}

bool fast_receive(struct worker *w, struct fast_burst *burst)
{
	struct known known = {0};

	while (burst->next < burst->n && !crypto_batch_is_full(&w->crypto.batch) &&
	       !stages_first(burst))
		burst->next += take_some(w, burst, &known);
	w->stats->interface[burst->interface].rx_packets += known.packets;
	w->stats->interface[burst->interface].rx_bytes += known.bytes;
	w->stats->shortcut += known.packets - known.dropped;
	return burst->next == burst->n;
}
