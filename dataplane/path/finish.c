/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_udp.h>

#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "esp/ah.h"
#include "esp/esp.h"
#include "esp/lifetime.h"
#include "esp/mapping.h"
#include "path/fast/fast.h"
#include "esp/ordinary.h"
#include "path/finish.h"
#include "path/fragment.h"
#include "path/too_big.h"
#include "path/worker/send_order.h"
#include "path/worker/tx.h"
#include "path/worker/verdict.h"

/* As esp_out_kept(), of a packet that is still protected. */
static unsigned int kept_in(const struct packet *p, const struct session *s)
{
	unsigned int udp = p->udp ? (unsigned int)sizeof(struct rte_udp_hdr) : 0;

	return s->transport ? p->esp - udp : 0;
}

static struct received_as received_as(const struct packet *p, struct cygnet_sa *sa)
{
	return (struct received_as){.sa = sa,
				    .seq = p->seq,
				    .interface = p->interface,
				    .ah = p->session->ah};
}

/* Packets that were in flight with this one may have used the SA up. */
static bool may_finish_in(const struct worker *w, const struct session *s, struct cygnet_sa *sa)
{
	const struct sa_route *route = fast_sa_route(w, s);

	return (route && route->sa == sa && is_ordinary(s, 0)) || lifetime_allows(sa);
}

static void finish_in(struct worker *w, struct rte_mbuf *m, struct cygnet_sa *sa, struct session *s)
{
	struct packet *p = packet(m);
	const struct received_as as = received_as(p, sa);
	unsigned int kept = kept_in(p, s);
	enum drop_reason reason;

	if (!may_finish_in(w, s, sa)) {
		drop(w, m, DROP_SA_EXPIRED);
		return;
	}
	if (!verdict_is_new(w, m, &as))
		return;
	if (p->learn) {
		session_used(w->sessions, s);
		learn_received(w, m, s, sa);
	}
	mapping_note(sa, s, p);
	reason = s->ah ? ah_in_finish(m, sa, s) : esp_in_finish(m, sa, s);
	if (!verdict_decrypted(w, m, &as, reason, kept))
		return;
	p->from_kernel = 0;
	p->decrypted = 1;
	p->from = PACKET_FROM_SA(s->sa);
	if (fast_serves(w)) {
		fast_decrypted_add(w, m, s, p->interface, true);
		return;
	}
	p->sa = s->sa;
	p->generation = s->generation;
	stage_add(&w->stages, STAGE_DECRYPTED, m);
}

_Static_assert(FRAGMENTS_MAX <= RTE_DIM(((struct mbuf_batch *)0)->m), "they leave by one batch");

/* A packet that is too long, of a shared SA: its parts have the place of its number. */
static void leave_in_parts(struct worker *w, struct rte_mbuf *m, struct session *s,
			   const struct sa_route *route)
{
	struct rte_mbuf *parts[FRAGMENTS_MAX];
	uint64_t seq = packet(m)->seq;
	unsigned int n = fragment_packet(w, m, route->mtu, parts), framed = 0;

	for (unsigned int i = 0; i < n; i++)
		if (tx_prepend(w, parts[i], &route->link))
			parts[framed++] = parts[i];
	if (framed)
		send_cut_in_order(w, parts, framed, route->interface, s, seq);
	else
		send_nothing(w, s, seq);
}

static void leave_by_route(struct worker *w, struct rte_mbuf *m, struct session *s,
			   const struct sa_route *route)
{
	uint64_t seq = packet(m)->seq;

	if (!s->shared)
		tx_packet_behind(w, m, route->interface, &route->link);
	else if (unlikely(rte_pktmbuf_data_len(m) > route->mtu))
		leave_in_parts(w, m, s, route);
	else if (tx_prepend(w, m, &route->link))
		send_in_order(w, m, route->interface, s, seq);
	else
		send_nothing(w, s, seq);
}

/* Whether a packet that was protected before something changed goes where its SA's packets go now. */
static bool has_its_dst(struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	const struct cygnet_addr dst = packet_dst(m);

	return path->af == packet_family(m) && !memcmp(&path->dst, &dst, sizeof(dst));
}

/* Whether the route that the SA has now is the packet's, though it may have changed since the outer header was written. Frames
 * of a shared SA leave in order so, and not by STAGE_ROUTE. @param sa  NULL: it is gone */
static bool is_route_of(const struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa,
			const struct session *s, const struct sa_route *route)
{
	bool fits;

	if (!route || !route->resolved || route->af != packet_family(m))
		return false;
	fits = rte_pktmbuf_data_len(m) <= route->mtu;
	if (s->shared)
		return (fits || too_big_may_cut(m)) &&
		       (packet(m)->seen == w->seen || (sa && has_its_dst(m, sa)));
	/* A packet does not overtake one of its SA that is in front of STAGE_ROUTE. */
	return fits && packet(m)->seen == w->seen && !stages_wait(&w->stages, STAGE_ROUTE);
}

/* @param sa  NULL: it is gone */
static void finish_out(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa,
		       struct session *s)
{
	const struct sa_route *route = s->shared ? fast_find_route(w, s) : fast_sa_route(w, s);

	if (s->ah)
		ah_out_finish(m, s);
	else
		esp_out_finish(m, s);
	packet(m)->own = 1;
	w->stats->encapsulated++;
	if (is_route_of(w, m, sa, s, route)) {
		leave_by_route(w, m, s, route);
		return;
	}
	send_nothing(w, s, packet(m)->seq);
	if (sa && __atomic_load_n(&sa->path_mtu, __ATOMIC_RELAXED))
		too_big_route(w, m, sa);
	else
		stage_add(&w->stages, STAGE_ROUTE, m);
}

void finish_packet(struct worker *w, struct rte_mbuf *m, struct session *s, struct cygnet_sa *sa)
{
	enum rte_crypto_op_status status = (enum rte_crypto_op_status)packet(m)->status;
	const struct received_as as = received_as(packet(m), sa);

	if (status != RTE_CRYPTO_OP_STATUS_SUCCESS)
		send_nothing(w, s, as.seq);
	/* A packet that was protected before its SA was deleted may leave: after a rekey the peer
	 * keeps the old SA for such packets. */
	if (!sa && (s->inbound || status != RTE_CRYPTO_OP_STATUS_SUCCESS))
		drop(w, m, DROP_SA_GONE);
	else if (status != RTE_CRYPTO_OP_STATUS_SUCCESS)
		verdict_failed(w, m, &as, status);
	else if (s->inbound)
		finish_in(w, m, sa, s);
	else
		finish_out(w, m, sa, s);
}

/* The pointer in the SA's route holds for this turn, and saves the first cache line of the SA, which
 * tells whether it is still there. */
static struct cygnet_sa *sa_of(const struct worker *w, const struct packet *p)
{
	const struct sa_route *route = fast_sa_route(w, p->session);

	return route && p->seen && p->seen == w->seen ? route->sa
						      : cygnet_sa_get(sadb, p->sa, p->generation);
}

static void finish_jobs(struct worker *w, const struct crypto_run *run)
{
	const struct crypto_batch *b = &w->crypto.batch;

	for (unsigned int i = run->from; i < (unsigned int)run->from + run->n; i++)
		if (crypto_returned(&w->crypto, i))
			finish_packet(w, b->m[i], b->s[i], sa_of(w, packet(b->m[i])));
}

/* Whether a run is finished and counted together with the one before it, which has no jobs. */
static bool continues(const struct crypto_batch *b, const struct crypto_run *run,
		      const struct crypto_run *before)
{
	return !b->has_job[run->from] && run->device == before->device &&
	       run->s->inbound == before->s->inbound &&
	       run->s->route.link.len == before->s->route.link.len;
}

void finish_batch(struct worker *w)
{
	struct crypto_batch *b = &w->crypto.batch;

	for (unsigned int k = 0; k < b->nruns; k++) {
		const struct crypto_run *run = &b->run[k];
		unsigned int n = run->n;

		if (b->has_job[run->from]) {
			finish_jobs(w, run);
			continue;
		}
		for (; k + 1 < b->nruns && continues(b, &b->run[k + 1], run); k++)
			n += b->run[k + 1].n;
		fast_finish(w, run->from, n);
	}
	crypto_batch_clear(b);
	send_order_flush(w);
	fast_decrypted(w);
}

unsigned int finish_ready(struct worker *w)
{
	unsigned int n = 0;
	struct rte_mbuf *m;

	for (; n < CRYPTO_BATCH && (m = crypto_ready(&w->crypto)); n++) {
		const struct packet *p = packet(m);

		finish_packet(w, m, p->session, cygnet_sa_get(sadb, p->sa, p->generation));
	}
	fast_decrypted(w);
	return n;
}
