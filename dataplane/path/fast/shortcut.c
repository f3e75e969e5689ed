/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_cycles.h>
#include <rte_esp.h>
#include <rte_prefetch.h>

#include "base/changes.h"
#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "esp/outer.h"
#include "host/port.h"
#include "ip/ip_sum.h"
#include "path/fast/short_way.h"
#include "path/fast/shortcut.h"

#define ETHER sizeof(struct rte_ether_hdr)

/* A frame that may have a short way. */
struct candidate {
	struct flow_key key;
	uint32_t place;
	uint16_t len;	/* of the packet, bytes; 0: it has none */
	bool again;	/* the flow of the one before it */
	const struct flow *flow; /* as it was when the burst was looked up */
};

/* Those of a burst that had one. */
struct known {
	uint32_t packets, bytes;
};

void shortcut_look(struct worker *w)
{
	uint64_t databases = cygnet_db_changes(sadb), others = changes_seen();

	w->flows.now = rte_get_tsc_cycles();
	if (databases == w->databases && others == w->others)
		return;
	w->databases = databases;
	w->others = others;
	flows_forget(&w->flows);
	/* A next hop may have been found: what waits for it goes before what takes its way now. */
	pending_retry(w);
}

/* --- what each packet is asked --- */

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
static bool look_at(struct rte_mbuf *m, uint64_t mac, unsigned int port, struct candidate *c)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *ip = frame + ETHER;
	unsigned int have = rte_pktmbuf_data_len(m) - (unsigned int)ETHER;
	uint64_t dst;
	rte_be16_t type;

	if (m->nb_segs > 1 || m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED ||
	    rte_pktmbuf_data_len(m) < ETHER + sizeof(struct rte_ipv4_hdr))
		return false;
	memcpy(&dst, frame, sizeof(dst));
	memcpy(&type, frame + offsetof(struct rte_ether_hdr, ether_type), sizeof(type));
	if ((dst ^ mac) << 16)
		return false;
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4)
		    ? !whole_v4((const struct rte_ipv4_hdr *)ip, have, &c->len)
		    : type != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6) ||
			      !whole_v6((const struct rte_ipv6_hdr *)ip, have, &c->len))
		return false;
	return flow_of(ip, c->len, PACKET_FROM_PORT(port), &c->key);
}

/* --- received bursts --- */

/* Whether a packet that came from a port has nothing out of the ordinary. */
static bool may_enter(const struct flow *f, const uint8_t *ip, unsigned int len)
{
	unsigned int header = ip[0] >> 4 == 6 ? sizeof(struct rte_ipv6_hdr)
					      : sizeof(struct rte_ipv4_hdr);

	if (f->kind == FLOW_UNPROTECT)
		return protect_is_ordinary(f->session, 0);
	if (f->kind == FLOW_HAND_IN)
		return len >= header + sizeof(struct rte_esp_hdr);
	return short_way_may_leave(f, ip, len);
}

static bool has_session(const struct flow *f)
{
	return f && (f->kind == FLOW_PROTECT || f->kind == FLOW_UNPROTECT);
}

/* Whether a frame's flow is known, and nothing is out of the ordinary about it. */
static bool is_short(struct rte_mbuf *m, const struct candidate *c)
{
	const struct flow *f = c->flow;

	return f && may_enter(f, rte_pktmbuf_mtod_offset(m, const uint8_t *, ETHER), c->len);
}

/* How many frames from the first one on are ordinary packets of one flow and go into the burst of
 * an SA: what there is to know of the two is asked once for all of them. */
static unsigned int run_length(const struct worker *w, struct rte_mbuf *const *m,
			       const struct candidate *c, unsigned int n)
{
	const struct flow *f = c->flow;
	const struct session *s;
	uint64_t bytes = 0;
	unsigned int i;

	if (!has_session(f) || !crypt_row_takes(w, f->session, f->session->device))
		return 0;
	s = f->session;
	/* The first by itself: all that many SAs in turn come to, or others that do not go by burst. */
	if (!burst_is_for(&w->burst, s, 1) || !protect_are_ordinary(s, 1, c->len))
		return 0;
	for (i = 0; i < n && c[i].flow == f && burst_fits(m[i], s); i++) {
		if (f->kind == FLOW_PROTECT &&
		    (!short_way_has_hops(rte_pktmbuf_mtod_offset(m[i], const uint8_t *, ETHER)) ||
		     c[i].len > s->way.longest))
			break;
		bytes += c[i].len;
	}
	if (i <= 1)
		return i;
	return burst_is_for(&w->burst, s, i) && protect_are_ordinary(s, i, bytes) ? i : 1;
}

static void enter(struct rte_mbuf *m, const struct candidate *c, struct known *known)
{
	known->packets++;
	known->bytes += rte_pktmbuf_pkt_len(m);
	packet_narrow(m, ETHER, c->len); /* as check_ip() of receive.c leaves it */
	if (c->flow->kind != FLOW_UNPROTECT && c->flow->kind != FLOW_HAND_IN)
		packet_take_hop(rte_pktmbuf_mtod(m, uint8_t *));
}

static void go_short(struct worker *w, struct rte_mbuf *m, const struct candidate *c,
		     unsigned int port, struct known *known)
{
	const struct flow *f = c->flow;

	enter(m, c, known);
	if (f->kind == FLOW_FORWARD) {
		short_way_forward(w, m, f);
		return;
	}
	/* By itself, with all that the stages of the pipeline want to know. */
	packet_received(m, port, w->flows.epoch);
	if (!has_session(f))
		shortcut_hand(w, m, f);
	else if (f->kind == FLOW_UNPROTECT)
		protect_in_ordinary(w, m, f->session);
	else
		protect_out_ordinary(w, m, f->session);
}

/* What was known of a flow, unless that has been made void or learned meanwhile. */
static void look_again(const struct worker *w, struct candidate *c, uint64_t state)
{
	if (state != flow_state(&w->flows) && c->len)
		c->flow = flow_find(&w->flows, &c->key, c->place);
}

/* Frames in their turn. What the long way has learned, or made void, counts.
 * @param state  of the flows, when they were looked up
 * @return how many */
static unsigned int receive_some(struct worker *w, struct rte_mbuf **m, struct candidate *c,
				 unsigned int n, uint64_t state, unsigned int port,
				 struct known *known)
{
	unsigned int run;

	look_again(w, c, state);
	run = run_length(w, m, c, state == flow_state(&w->flows) ? n : 1);
	if (run) {
		for (unsigned int i = 0; i < run; i++)
			enter(m[i], &c[i], known);
		burst_add(w, m, run, c->flow->session);
		return run;
	}
	/* What that brings to its end may take sessions away, and count against limits. */
	burst_go(w);
	crypt_make_room(w);
	look_again(w, c, state);
	if (is_short(*m, c))
		go_short(w, *m, c, port, known);
	else
		receive_frame(w, *m, port);
	return 1;
}

/* What the packets of a burst will need is fetched for all, before the first one needs it. */
static void look_up(struct worker *w, struct candidate *c, unsigned int n)
{
	const struct flow *last = NULL;

	for (unsigned int i = 0; i < n; i++) {
		if (!c[i].len)
			continue;
		if (c[i].again) {
			c[i].flow = c[i - 1].flow;
			continue;
		}
		c[i].flow = flow_find(&w->flows, &c[i].key, c[i].place);
		if (!has_session(c[i].flow) || c[i].flow == last)
			continue;
		last = c[i].flow;
		session_prefetch(last->session, last->kind == FLOW_UNPROTECT);
	}
	last = NULL;
	for (unsigned int i = 0; i < n; i++) {
		if (!has_session(c[i].flow) || c[i].flow == last)
			continue;
		last = c[i].flow;
		session_prefetch_sa(last->session);
	}
}

void shortcut_receive(struct worker *w, struct rte_mbuf **m, unsigned int n, unsigned int port)
{
	uint64_t mac = __atomic_load_n(&ports[port].mac, __ATOMIC_RELAXED), state;
	struct candidate c[BURST];
	struct known known = {0};

	/* They came after what had changed by then, however long ago this turn began. */
	if (n)
		shortcut_look(w);
	state = flow_state(&w->flows);
	burst_begin(w, port);
	for (unsigned int i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
	for (unsigned int i = 0; i < n; i++) {
		c[i].flow = NULL;
		c[i].again = false;
		if (!w->flows.flow || !look_at(m[i], mac, port, &c[i])) {
			c[i].len = 0;
			continue;
		}
		if (i && c[i - 1].len && flow_same(&c[i - 1].key, &c[i].key)) {
			c[i].again = true;
			c[i].place = c[i - 1].place;
			continue;
		}
		c[i].place = flow_place(&w->flows, &c[i].key);
		rte_prefetch0(&w->flows.flow[c[i].place]);
	}
	look_up(w, c, n);
	for (unsigned int i = 0; i < n;)
		i += receive_some(w, m + i, c + i, n - i, state, port, &known);
	burst_go(w);
	w->stats->port[port].rx_packets += known.packets;
	w->stats->port[port].rx_bytes += known.bytes;
	w->stats->shortcut += known.packets;
}

/* --- from one worker to another --- */

void shortcut_hand(struct worker *w, struct rte_mbuf *m, const struct flow *f)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	struct packet *p = packet(m);
	struct rte_esp_hdr esp;

	p->sa = f->sa;
	p->generation = f->generation;
	p->stage = STAGE_ESP_OUT;
	if (f->kind == FLOW_HAND_IN) {
		p->stage = STAGE_ESP_IN;
		p->src = packet_src(m);
		p->esp = ip[0] >> 4 == 6 ? sizeof(struct rte_ipv6_hdr)
					 : sizeof(struct rte_ipv4_hdr);
		memcpy(&esp, ip + p->esp, sizeof(esp));
		p->seq = rte_be_to_cpu_32(esp.seq);
	}
	hand_over(w, m, sa_owner(w, p->sa));
}

/* They have gone their way there: what is left is what all of an SA have in common. */
static bool is_plain_esp(struct rte_mbuf *m, const struct session *s)
{
	const struct packet *p = packet(m);

	return s->inbound ? p->stage == STAGE_ESP_IN && !s->ah && !p->udp &&
				    p->esp == outer_len(packet_family(m) == AF_INET6)
			  : p->stage == STAGE_ESP_OUT && !p->whole;
}

bool shortcut_handed(struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	struct session *s;

	if ((p->stage != STAGE_ESP_OUT && p->stage != STAGE_ESP_IN) || m->nb_segs > 1)
		return false;
	crypt_make_room(w);
	s = session_peek(w->sessions, p->sa, p->generation);
	if (!s || s->way.epoch != w->flows.epoch || s->way.until <= w->flows.now ||
	    !is_plain_esp(m, s) ||
	    !protect_is_ordinary(s, s->inbound ? 0 : rte_pktmbuf_data_len(m)))
		return false;
	w->stats->shortcut++;
	if (s->inbound)
		protect_in_ordinary(w, m, s);
	else
		protect_out_ordinary(w, m, s);
	return true;
}
