/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "esp/ah.h"
#include "esp/esp.h"
#include "esp/lifetime.h"
#include "esp/path_mtu.h"
#include "esp/out_use.h"
#include "path/sa_session.h"
#include "path/stages.h"
#include "path/worker/next_hop.h"

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
	hop = sa_next_hop(sa);
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

static enum drop_reason prepare_out(struct rte_mbuf *m, struct cygnet_sa *sa, struct session *s,
				    struct esp_job *job)
{
	unsigned int inner = rte_pktmbuf_data_len(m) - esp_out_kept(m, s);
	uint64_t seq;
	enum drop_reason reason;

	packet(m)->seq = 0;
	if (!lifetime_allows(sa))
		return DROP_SA_EXPIRED;
	if (!out_reserve(s, sa, 1, 0, &seq)) {
		lifetime_no_sequence(sa);
		return DROP_SEQ_EXHAUSTED;
	}
	packet(m)->seq = seq;
	lifetime_watch_sequence(sa, seq);
	/* Only what is in the first segment would be protected. */
	if (!hide_length(m, sa, s) || m->nb_segs != 1)
		return DROP_NO_BUFFER;
	reason = s->ah ? ah_out_prepare(m, sa, s, seq, job) : esp_out_prepare(m, sa, s, seq, job);
	if (reason == DROP_NONE)
		out_count(s, sa, 1, inner);
	return reason;
}

void stage_protect(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	sa_submit(w, m, n, STAGE_PROTECT, prepare_out);
}
