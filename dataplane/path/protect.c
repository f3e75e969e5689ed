/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_cryptodev.h>
#include <rte_esp.h>
#include <rte_udp.h>

#include "base/sadb.h"
#include "crypto/device/pool.h"
#include "crypto/device/sessions.h"
#include "esp/ah.h"
#include "esp/esp.h"
#include "esp/lifetime.h"
#include "esp/mapping.h"
#include "esp/path_mtu.h"
#include "esp/sa_count.h"
#include "host/port.h"
#include "path/fast/learn.h"
#include "path/fast/shortcut.h"
#include "path/fragment.h"
#include "path/pipeline.h"
#include "path/policy.h"
#include "path/reassemble.h"
#include "path/too_big.h"
#include "path/verdict.h"

/* In transport mode only whole packets are protected (RFC 4303, 3.3.4): what may be
 * cut is cut afterwards. So is what a policy for certain ports is about, as its SA does
 * not take parts without ports (RFC 4301, 7).
 * @return 0 if a packet will fit the way out once it is protected, else how long
 * an inner packet may be, bytes */
static unsigned int too_long(struct rte_mbuf *m, const struct cygnet_sa *sa,
			     const struct session *s)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	struct next_hop hop = route_lookup(path->af, &path->dst);
	unsigned int mtu = path_mtu(sa, ports[hop.port].mtu), kept = esp_out_kept(m, s);

	/* No link may refuse so little: what is around it is cut (RFC 2473, 7.1). */
	if (packet_family(m) == AF_INET6 && rte_pktmbuf_data_len(m) <= IPV6_MIN_MTU)
		return 0;
	if (hop.kind != ROUTE_FORWARD || (s->transport && packet_may_be_cut(m)) ||
	    esp_out_size(s, path, kept, rte_pktmbuf_data_len(m)) <= mtu)
		return 0;
	if (packet(m)->whole || (packet_may_be_cut(m) && policy_asks_ports(m)))
		return 0;
	return RTE_MAX(esp_out_mtu(s, path, kept, mtu), 1u);
}

/* What is too long is cut before it is protected: a peer need not put ESP together,
 * and each part is authentic by itself (RFC 4301, 8.2). With DF its source hears how
 * long it may be. */
static void protect_parts(struct worker *w, struct rte_mbuf *m, unsigned int mtu)
{
	struct rte_mbuf *parts[FRAGMENTS_MAX];
	unsigned int n;

	if (!packet_may_be_cut(m)) {
		icmp_error(w, m, ICMP_TOO_BIG, (uint16_t)mtu);
		drop(w, m, DROP_TOO_BIG);
		return;
	}
	n = fragment_packet(w, m, mtu, parts);
	for (unsigned int i = 0; i < n; i++)
		protect(w, parts[i]);
}

/* Zeros behind the packet, whose own header says where it ends, hide how long it is
 * (RFC 4303, 2.7). The result is not longer than the way out allows. */
static bool hide_length(struct rte_mbuf *m, const struct cygnet_sa *sa, const struct session *s)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	unsigned int len = rte_pktmbuf_data_len(m), to;
	struct next_hop hop;
	char *padding;

	if (!sa->tfc || s->transport || s->ah)
		return true;
	hop = route_lookup(path->af, &path->dst);
	if (hop.kind != ROUTE_FORWARD)
		return true;
	to = RTE_MIN((unsigned int)sa->tfc, esp_out_mtu(s, path, 0, path_mtu(sa, ports[hop.port].mtu)));
	if (len >= to)
		return true;
	padding = rte_pktmbuf_append(m, (uint16_t)(to - len));
	if (padding)
		memset(padding, 0, to - len);
	return padding;
}

/* What is padded for a longer way than the one that it came by has to be in a longer buffer, if it
 * is in one of the usual. */
static struct rte_mbuf *make_room(struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	struct rte_mbuf *longer;

	if (!sa->tfc || !packet_pool_jumbo || m->pool == packet_pool_jumbo ||
	    rte_pktmbuf_data_len(m) > MTU_USUAL)
		return m;
	longer = packet_move(m, packet_pool_jumbo);
	return longer ? longer : m;
}

static enum drop_reason prepare_out(struct rte_mbuf *m, struct cygnet_sa *sa, struct session *s,
				    struct esp_job *job)
{
	unsigned int inner = rte_pktmbuf_data_len(m) - esp_out_kept(m, s);
	uint64_t seq;
	enum drop_reason reason;

	if (!lifetime_allows(sa))
		return DROP_SA_EXPIRED;
	if (!cygnet_sa_reserve_seq(sa, 1, &seq)) {
		lifetime_no_sequence(sa);
		return DROP_SEQ_EXHAUSTED;
	}
	lifetime_watch_sequence(sa, seq);
	/* All that is in one segment is protected, and nothing else: no other may leave. */
	if (!hide_length(m, sa, s) || m->nb_segs != 1)
		return DROP_NO_BUFFER;
	reason = s->ah ? ah_out_prepare(m, sa, s, seq, job)
		       : esp_out_prepare(m, sa, s, seq, job);
	if (reason == DROP_NONE)
		sa_count(sa, inner);
	return reason;
}

static enum drop_reason enter_window(struct rte_mbuf *m, struct cygnet_sa *sa, struct session *s,
				     struct esp_job *job)
{
	struct packet *p = packet(m);

	if (m->nb_segs != 1)
		return DROP_NO_BUFFER;
	p->seq = cygnet_replay_seq(sa, (uint32_t)p->seq);
	if (!verdict_may_be_new(sa, p->seq))
		return DROP_REPLAY;
	return s->ah ? ah_in_prepare(m, s, job) : esp_in_prepare(m, s, job);
}

static enum drop_reason prepare_in(struct rte_mbuf *m, struct cygnet_sa *sa, struct session *s,
				   struct esp_job *job)
{
	if (!lifetime_allows(sa))
		return DROP_SA_EXPIRED;
	if (cygnet_sa_path(sa)->encap != packet(m)->udp)
		return DROP_ESP_ENCAP;
	return enter_window(m, sa, s, job);
}

/* The SA of a packet, and its session. @return false: there is none, and the packet is gone */
static bool find(struct worker *w, struct rte_mbuf *m, struct cygnet_sa **sa, struct session **s)
{
	const struct packet *p = packet(m);
	enum drop_reason reason;

	*sa = cygnet_sa_get(sadb, p->sa, p->generation);
	if (!*sa) {
		if (p->stage == STAGE_ESP_OUT)
			plain_again(w, m);
		else
			drop(w, m, DROP_SA_GONE);
		return false;
	}
	reason = session_get(w->sessions, *sa, p->sa, s);
	/* Some may be in use only by packets that we can do now. */
	if (reason == DROP_NO_SESSION && crypt_now(w))
		reason = session_get(w->sessions, *sa, p->sa, s);
	if (reason != DROP_NONE)
		drop(w, m, reason);
	return reason == DROP_NONE;
}

/* A packet is to be whole, to fit the way out, and to have room for what hides its length.
 * @return it; NULL: it goes on otherwise */
static struct rte_mbuf *fit_out(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa,
				const struct session *s)
{
	unsigned int mtu;

	if (s->transport && packet(m)->from_kernel && headers_read(m).fragment) {
		reassemble_plain(w, m, RESUME_OUT);
		return NULL;
	}
	mtu = too_long(m, sa, s);
	if (mtu) {
		protect_parts(w, m, mtu);
		return NULL;
	}
	return make_room(m, sa);
}

void protect(struct worker *w, struct rte_mbuf *m)
{
	bool out = packet(m)->stage == STAGE_ESP_OUT, typical;
	struct cygnet_sa *sa;
	struct esp_job *job;
	struct session *s;
	struct flow flow;
	enum drop_reason reason;

	crypt_make_room(w);
	if (!find(w, m, &sa, &s))
		return;
	if (out)
		m = fit_out(w, m, sa, s);
	if (!m)
		return;
	typical = learn_describe(w, m, s, sa, &flow);
	packet(m)->epoch = w->flows.epoch;
	job = crypt_job(w);
	reason = out ? prepare_out(m, sa, s, job) : prepare_in(m, sa, s, job);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	if (typical)
		learn_sa(w, &flow, sa);
	else if (packet(m)->handed)
		learn_handed(w, m, s, sa);
	packet(m)->session = s;
	crypt_add(w, m, sa);
}

bool protect_is_ordinary(const struct session *s, unsigned int len)
{
	const struct way *way = &s->way;
	const struct cygnet_sa *sa = way->sa;

	return sa->bytes < way->bytes && sa->packets < way->packets &&
	       (s->inbound || (len <= way->longest && sa->seq < way->seq));
}

bool protect_are_ordinary(const struct session *s, unsigned int n, uint64_t bytes)
{
	const struct way *way = &s->way;
	const struct cygnet_sa *sa = way->sa;

	return protect_is_ordinary(s, 0) && way->bytes - sa->bytes > bytes &&
	       way->packets - sa->packets > n && (s->inbound || way->seq - sa->seq > n);
}

void protect_out_ordinary(struct worker *w, struct rte_mbuf *m, struct session *s)
{
	unsigned int inner = rte_pktmbuf_data_len(m);
	struct cygnet_sa *sa = s->way.sa;
	struct packet *p = packet(m);
	struct esp_job *job = crypt_job(w);
	uint64_t seq;
	enum drop_reason reason;

	p->stage = STAGE_ESP_OUT;
	p->epoch = w->flows.epoch;
	p->session = s;
	p->sa = s->sa;
	p->generation = s->generation;
	reason = cygnet_sa_reserve_seq(sa, 1, &seq) ? esp_out_tunnel(m, s, seq, job)
						    : DROP_SEQ_EXHAUSTED;
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	sa_count(sa, inner);
	crypt_add(w, m, sa);
}

void protect_in_ordinary(struct worker *w, struct rte_mbuf *m, struct session *s)
{
	struct packet *p = packet(m);
	struct esp_job *job = crypt_job(w);
	struct rte_esp_hdr esp;
	enum drop_reason reason;

	esp_in_identify(m, s);
	if (rte_pktmbuf_data_len(m) < p->esp + sizeof(esp)) {
		drop(w, m, DROP_ESP_TRUNCATED);
		return;
	}
	memcpy(&esp, rte_pktmbuf_mtod_offset(m, const uint8_t *, p->esp), sizeof(esp));
	p->seq = rte_be_to_cpu_32(esp.seq);
	reason = enter_window(m, s->way.sa, s, job);
	if (reason != DROP_NONE)
		drop(w, m, reason);
	else
		crypt_add(w, m, s->way.sa);
}

/* As esp_out_kept(), of a packet that is still protected. */
static unsigned int kept_in(const struct packet *p, const struct session *s)
{
	unsigned int udp = p->udp ? (unsigned int)sizeof(struct rte_udp_hdr) : 0;

	return s->transport ? p->esp - udp : 0;
}

/* Those that were in flight with it may have used the SA up. */
static bool may_finish_in(const struct worker *w, const struct session *s, struct cygnet_sa *sa)
{
	return (s->way.epoch == w->flows.epoch && s->way.sa == sa && protect_is_ordinary(s, 0)) ||
	       lifetime_allows(sa);
}

static void finish_in(struct worker *w, struct rte_mbuf *m, struct cygnet_sa *sa,
		      struct session *s)
{
	struct packet *p = packet(m);
	unsigned int kept = kept_in(p, s);
	enum drop_reason reason;

	if (!may_finish_in(w, s, sa)) {
		drop(w, m, DROP_SA_EXPIRED);
		return;
	}
	if (!verdict_is_new(w, m, sa, p->seq))
		return;
	mapping_note(sa, s, p);
	reason = s->ah ? ah_in_finish(m, sa, s) : esp_in_finish(m, sa, s);
	if (!verdict_opened(w, m, sa, reason, kept))
		return;
	p->from_kernel = 0;
	p->decrypted = 1;
	p->from = PACKET_FROM_SA(s->sa);
	shortcut_opened(w, m, sa, p->from, p->port, false);
}

/* @param sa  NULL: it is gone */
static void finish_out(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa,
		       const struct session *s)
{
	const struct way *way = &s->way;

	if (s->ah)
		ah_out_finish(m, s);
	else
		esp_out_finish(m, s);
	packet(m)->own = 1;
	w->stats->encapsulated++;
	/* The way may be another one than when the outer header was written. */
	if (packet(m)->epoch == w->flows.epoch && way->epoch == w->flows.epoch && way->resolved &&
	    way->af == packet_family(m) && rte_pktmbuf_data_len(m) <= way->mtu)
		transmit_framed(w, m, way->port, way->eth);
	else if (sa && __atomic_load_n(&sa->path_mtu, __ATOMIC_RELAXED))
		too_big_transmit(w, m, sa);
	else
		transmit_routed(w, m);
}

void protect_finish(struct worker *w, struct rte_mbuf *m, struct session *s,
		    struct cygnet_sa *sa)
{
	enum rte_crypto_op_status status = (enum rte_crypto_op_status)packet(m)->status;

	/* What was protected while the SA was there may leave: when an SA has been
	 * rekeyed the peer keeps the old one for such packets. */
	if (!sa && (s->inbound || status != RTE_CRYPTO_OP_STATUS_SUCCESS))
		drop(w, m, DROP_SA_GONE);
	else if (status != RTE_CRYPTO_OP_STATUS_SUCCESS)
		verdict_failed(w, m, sa, status);
	else if (s->inbound)
		finish_in(w, m, sa, s);
	else
		finish_out(w, m, sa, s);
}
