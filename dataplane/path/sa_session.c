/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "path/fast/fast.h"
#include "path/sa_session.h"
#include "path/worker/audit.h"
#include "path/worker/capture.h"
#include "path/worker/owner.h"
#include "path/worker/share.h"
#include "path/worker/submit.h"
#include "path/worker/trace_note.h"
#include "path/worker/tunnel.h"

static void count_sessions(struct worker *w)
{
	w->crypto.many_sessions = sessions_are_many(w->sessions);
}

static void created(void *worker, struct session *s)
{
	share_session_created(worker, s);
	count_sessions(worker);
}

/* Flows that point to it are void. */
static void released(void *worker, const struct session *s)
{
	fast_forget_sa(worker, s->sa);
	share_session_released(worker, s);
	count_sessions(worker);
}

const struct session_events sa_session_events = {created, released};

enum sa_session sa_session_find(struct worker *w, struct rte_mbuf *m, bool out,
				struct cygnet_sa **sa, struct session **s)
{
	const struct packet *p = packet(m);
	const struct crypto_batch *batch = &w->crypto.batch;
	enum drop_reason reason;

	*sa = cygnet_sa_get(sadb, p->sa, p->generation);
	if (!*sa) {
		if (out)
			stage_add(&w->stages, STAGE_FIND_SA, m);
		else
			drop(w, m, DROP_SA_GONE);
		return SA_SESSION_NONE;
	}
	if (out && unlikely(share_strays(w, m))) {
		owner_handoff(w, m, STAGE_FIT);
		return SA_SESSION_NONE;
	}
	/* Packets of the batch without a job do not count as in flight: their sessions stay. */
	reason = unlikely(w->trace != NULL)
			 ? trace_session(w->trace, m, sa, s)
			 : session_get(w->sessions, *sa, p->sa, !batch->without_job, s);
	if (reason == DROP_NONE)
		return SA_SESSION_FOUND;
	if (reason == DROP_NO_SESSION && batch->n)
		return SA_SESSION_BUSY;
	drop(w, m, reason);
	return SA_SESSION_NONE;
}

/* An inbound packet is learned from when it is authentic. What was decided about it before a change is not. */
static void note_lesson(const struct worker *w, struct rte_mbuf *m, bool inbound)
{
	struct packet *p = packet(m);
	bool current = p->handed || p->seen == w->seen;

	p->learn = inbound;
	p->seen = inbound && !current ? 0 : w->seen;
}

/* @return false: the sessions are busy, and the packet stays the caller's */
static bool submit(struct worker *w, struct rte_mbuf *m, enum stage stage, sa_prepare prepare)
{
	struct cygnet_sa *sa;
	struct session *s;
	enum sa_session found = sa_session_find(w, m, stage == STAGE_PROTECT, &sa, &s);
	enum drop_reason reason;
	struct lesson lesson = {.typical = false};
	const uint32_t inner = rte_pktmbuf_pkt_len(m);

	if (found != SA_SESSION_FOUND)
		return found != SA_SESSION_BUSY;
	if (unlikely(w->capture != NULL) && stage == STAGE_PROTECT)
		capture_to_protect(w, m);
	if (!s->inbound)
		learn_describe(w, m, s, sa, &lesson);
	note_lesson(w, m, s->inbound);
	reason = prepare(m, sa, s, crypto_job(&w->crypto));
	if (reason != DROP_NONE) {
		send_nothing(w, s, packet(m)->seq);
		audit_drop(w, m, reason, sa, packet(m)->seq);
		return true;
	}
	if (unlikely(w->trace != NULL)) {
		w->trace->prepared = true;
		return true;
	}
	if (!s->inbound) {
		learn_accepted(w, m, s, sa, &lesson);
		tunnel_count_out(w, sa, 1, inner);
	}
	submit_packet(w, m, s, sa);
	return true;
}

void sa_submit(struct worker *w, struct rte_mbuf **m, unsigned int n, enum stage stage,
	       sa_prepare prepare)
{
	for (unsigned int i = 0; i < n; i++) {
		if (!submit(w, m[i], stage, prepare)) {
			stage_return(&w->stages, stage, m + i, n - i);
			return;
		}
	}
}
