/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypto/device/pool.h"
#include "esp/ah.h"
#include "esp/esp.h"
#include "esp/lifetime.h"
#include "esp/path_mtu.h"
#include "esp/sa_count.h"
#include "host/interface.h"
#include "host/route.h"
#include "path/fast/learn.h"
#include "path/sa_session.h"
#include "path/stages.h"

/* Zeros behind a packet hide its length, which its own header says (RFC 4303, 2.7). The result is not
 * longer than the path MTU allows. */
static bool hide_length(struct rte_mbuf *m, const struct cygnet_sa *sa, const struct session *s)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	unsigned int len = rte_pktmbuf_data_len(m), mtu, to;
	struct next_hop hop;
	char *padding;

	if (!sa->tfc || s->transport || s->ah)
		return true;
	hop = route_lookup(path->af, &path->dst);
	if (hop.kind != ROUTE_FORWARD)
		return true;
	mtu = path_mtu(sa, interfaces[hop.interface].mtu);
	to = RTE_MIN((unsigned int)sa->tfc, esp_out_mtu(s, path, 0, mtu));
	if (len >= to)
		return true;
	padding = rte_pktmbuf_append(m, (uint16_t)(to - len));
	if (padding)
		memset(padding, 0, to - len);
	return padding;
}

/* A packet that is padded beyond the usual length has to be in a longer buffer. */
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
	/* Only what is in the first segment would be protected. */
	if (!hide_length(m, sa, s) || m->nb_segs != 1)
		return DROP_NO_BUFFER;
	reason = s->ah ? ah_out_prepare(m, sa, s, seq, job)
		       : esp_out_prepare(m, sa, s, seq, job);
	if (reason == DROP_NONE)
		sa_count(sa, inner);
	return reason;
}

/* @return false: the sessions are busy, and the packet stays the caller's */
static bool protect(struct worker *w, struct rte_mbuf *m)
{
	struct cygnet_sa *sa;
	struct session *s;
	enum sa_session found = sa_session_find(w, m, true, &sa, &s);
	enum drop_reason reason;
	struct flow flow;
	bool typical;

	if (found != SA_SESSION_FOUND)
		return found != SA_SESSION_BUSY;
	m = make_room(m, sa);
	typical = learn_describe(w, m, s, sa, &flow);
	packet(m)->epoch = w->flows.epoch;
	reason = prepare_out(m, sa, s, crypto_job(&w->crypto));
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return true;
	}
	learn_accepted(w, m, s, sa, typical ? &flow : NULL);
	crypto_submit(&w->crypto, m, s, sa);
	return true;
}

void stage_protect(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (!protect(w, m[i])) {
			stage_return(&w->stages, STAGE_PROTECT, m + i, n - i);
			return;
		}
	}
}
