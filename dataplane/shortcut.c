/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_cycles.h>
#include <rte_esp.h>
#include <rte_prefetch.h>

#include "changes.h"
#include "control.h"
#include "esp.h"
#include "headers.h"
#include "ip_sum.h"
#include "outer.h"
#include "port.h"
#include "shortcut.h"

#define ETHER sizeof(struct rte_ether_hdr)
#define ROOM 8u		/* for what one packet may become: none goes by a queue, past others */

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
	return flow_of(ip, c->len, FLOW_FROM_PORT(port), &c->key);
}

static bool has_hops(const uint8_t *ip)
{
	return (ip[0] >> 4 == 6 ? ip[7] : ip[8]) > 1;
}

/* --- the short ways --- */

static void forward(struct worker *w, struct rte_mbuf *m, const struct flow *f)
{
	struct rte_ether_addr mac;

	memcpy(&mac, f->mac, sizeof(mac));
	w->stats->forwarded++;
	transmit_resolved(w, m, f->port, &mac);
}

/* Whether a packet of a flow that is to leave has nothing out of the ordinary. */
static bool may_leave(const struct flow *f, const uint8_t *ip, unsigned int len)
{
	if (!has_hops(ip))
		return false;
	if (f->kind == FLOW_PROTECT)
		return protect_is_ordinary(f->session, len);
	if (f->kind == FLOW_HAND_OUT)
		return true;
	return f->kind == FLOW_FORWARD && len <= ports[f->port].mtu;
}

/* To the SA's owner: shortcut_handed(). */
static void hand(struct worker *w, struct rte_mbuf *m, const struct flow *f)
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

/* Whether a packet that came from a port has nothing out of the ordinary. */
static bool may_enter(const struct flow *f, const uint8_t *ip, unsigned int len)
{
	unsigned int header = ip[0] >> 4 == 6 ? sizeof(struct rte_ipv6_hdr)
					      : sizeof(struct rte_ipv4_hdr);

	if (f->kind == FLOW_UNPROTECT)
		return protect_is_ordinary(f->session, 0);
	if (f->kind == FLOW_HAND_IN)
		return len >= header + sizeof(struct rte_esp_hdr);
	return may_leave(f, ip, len);
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
		    (!has_hops(rte_pktmbuf_mtod_offset(m[i], const uint8_t *, ETHER)) ||
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
		forward(w, m, f);
		return;
	}
	/* By itself, with all that the stages of the pipeline want to know. */
	packet_received(m, port, w->flows.epoch);
	if (!has_session(f))
		hand(w, m, f);
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

/* --- packets that others hand over --- */

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

/* An SA that is past its time goes the long way, which refuses it. Of the last second that is left
 * the clock does not say how much is over. @return TSC */
static uint64_t lives_until(const struct worker *w, const struct cygnet_sa *sa)
{
	uint64_t hard = sa->lifetime.hard_seconds, now = control_time();
	uint64_t age = 1 + (now > sa->install_time ? now - sa->install_time : 0);

	if (!hard || (hard > age && hard - age > FLOW_HOLDS_MOST))
		return UINT64_MAX;
	return w->flows.now + (hard > age ? hard - age : 0) * rte_get_tsc_hz();
}

void shortcut_learn_handed(struct worker *w, struct rte_mbuf *m, struct session *s,
			   struct cygnet_sa *sa)
{
	const struct packet *p = packet(m);

	if (!w->flows.flow || (s->inbound && (sa->proto != IPPROTO_ESP || p->udp)))
		return;
	way_find(w, s, sa);
	s->way.until = RTE_MIN(w->flows.now + w->flows.holds, lives_until(w, sa));
}

/* --- packets that came out of an SA --- */

/* What the long way, and protecting it again, find in its struct packet. */
static void describe(const struct worker *w, struct opened *o)
{
	struct packet *p = packet(o->m);

	if (!o->bare)
		return;
	packet_received(o->m, o->port, w->flows.epoch);
	p->decrypted = 1;
	p->from = o->from;
}

static void go_long(struct worker *w, struct opened *o)
{
	describe(w, o);
	plain_in(w, o->m, o->sa);
}

void shortcut_opened(struct worker *w, struct rte_mbuf *m, struct cygnet_sa *sa, uint32_t from,
		     unsigned int port, bool bare)
{
	bool full = w->nopened == CRYPT_NOW && !crypt_now(w);
	struct opened *o = &w->opened[w->nopened];

	o->m = m;
	o->sa = sa;
	o->from = from;
	o->port = (uint8_t)port;
	o->bare = bare;
	o->again = false;
	if (full) {
		go_long(w, o);
		return;
	}
	w->nopened++;
	o->has_flow = w->flows.flow && flow_of(rte_pktmbuf_mtod(m, const uint8_t *),
					       rte_pktmbuf_data_len(m), from, &o->key);
	if (!o->has_flow)
		return;
	if (w->nopened > 1 && o[-1].has_flow && flow_same(&o[-1].key, &o->key)) {
		o->place = o[-1].place;
		o->again = true;
		return;
	}
	o->place = flow_place(&w->flows, &o->key);
	rte_prefetch0(&w->flows.flow[o->place]);
}

static bool go_on(struct worker *w, struct opened *o, const struct flow *f)
{
	struct rte_mbuf *m = o->m;

	if (!f || f->from_port != o->port ||
	    !may_leave(f, rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m)))
		return false;
	w->stats->decapsulated++;
	w->stats->shortcut++;
	packet_take_hop(rte_pktmbuf_mtod(m, uint8_t *));
	if (f->kind == FLOW_FORWARD) {
		forward(w, m, f);
		return true;
	}
	describe(w, o);
	if (f->kind == FLOW_PROTECT)
		protect_out_ordinary(w, m, f->session);
	else
		hand(w, m, f);
	return true;
}

void shortcut_go_on(struct worker *w)
{
	const struct flow *f = NULL;
	uint64_t state = 0;
	unsigned int i;

	for (i = 0; i < w->nopened && w->now[w->filling].n + ROOM <= CRYPT_NOW; i++) {
		struct opened *o = &w->opened[i];

		/* The first here may be behind others that have gone; the long way learns. */
		if (!i || !o->again || state != flow_state(&w->flows)) {
			state = flow_state(&w->flows);
			f = o->has_flow ? flow_find(&w->flows, &o->key, o->place) : NULL;
		}
		if (!go_on(w, o, f))
			go_long(w, o);
	}
	w->nopened -= i;
	memmove(w->opened, w->opened + i, w->nopened * sizeof(w->opened[0]));
}

/* --- the last packet that went the long way --- */

/* Whether all that was decided about a packet was decided in this epoch, by this worker, and
 * for any packet like it. */
static bool is_typical(const struct worker *w, struct rte_mbuf *m, struct flow_key *key)
{
	const struct packet *p = packet(m);

	return w->flows.flow && p->epoch == w->flows.epoch && !p->from_kernel && !p->answer &&
	       !p->must_protect && m->nb_segs == 1 &&
	       flow_of(rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m),
		       p->from, key);
}

bool shortcut_describe(const struct worker *w, struct rte_mbuf *m, struct session *s,
		       const struct cygnet_sa *sa, struct flow *what)
{
	/* The SPI tells such a flow from others: AH's is not looked at, nor one in UDP. */
	if (s->inbound && (sa->proto != IPPROTO_ESP || packet(m)->udp))
		return false;
	*what = (struct flow){
		.kind = s->inbound ? FLOW_UNPROTECT : FLOW_PROTECT,
		.from_port = packet(m)->port,
		.session = s,
	};
	return is_typical(w, m, &what->key);
}

void shortcut_learn_sa(struct worker *w, const struct flow *what, struct cygnet_sa *sa)
{
	struct session *s = what->session;
	uint64_t until = lives_until(w, sa);

	way_find(w, s, sa);
	if ((s->inbound || s->way.longest) && until > w->flows.now)
		flow_learn(&w->flows, what, until);
}

void shortcut_learn_hand(struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	struct flow what = {
		.kind = p->stage == STAGE_ESP_IN ? FLOW_HAND_IN : FLOW_HAND_OUT,
		.from_port = p->port,
		.sa = p->sa,
		.generation = p->generation,
	};

	if (sa_owner(w, p->sa) != w->id && !p->udp && is_typical(w, m, &what.key))
		flow_learn(&w->flows, &what, UINT64_MAX);
}

void shortcut_learn_forward(struct worker *w, struct rte_mbuf *m)
{
	struct flow what = {.kind = FLOW_FORWARD, .from_port = packet(m)->port};
	struct rte_ether_addr mac;
	struct next_hop hop;
	struct neigh neigh;

	if (!is_typical(w, m, &what.key))
		return;
	hop = packet_route(m);
	neigh = packet_neigh(m, &hop);
	if (hop.kind != ROUTE_FORWARD || !pending_resolve(w, &neigh, &mac))
		return;
	what.port = hop.port;
	memcpy(what.mac, &mac, sizeof(what.mac));
	flow_learn(&w->flows, &what, UINT64_MAX);
}
