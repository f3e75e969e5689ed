/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "esp/ah.h"
#include "esp/esp.h"
#include "esp/lifetime.h"
#include "path/fast/learn.h"
#include "path/fast/unprotect.h"
#include "path/sa_session.h"
#include "path/stages.h"

static enum drop_reason prepare_in(struct rte_mbuf *m, struct cygnet_sa *sa, struct session *s,
				   struct esp_job *job)
{
	if (!lifetime_allows(sa))
		return DROP_SA_EXPIRED;
	if (cygnet_sa_path(sa)->encap != packet(m)->udp)
		return DROP_ESP_ENCAP;
	return unprotect_prepare(m, sa, s, job);
}

/* @return false: the sessions are busy, and the packet stays the caller's */
static bool unprotect(struct worker *w, struct rte_mbuf *m)
{
	struct cygnet_sa *sa;
	struct session *s;
	enum sa_session found = sa_session_find(w, m, false, &sa, &s);
	enum drop_reason reason;
	struct flow flow;
	bool typical;

	if (found != SA_SESSION_FOUND)
		return found != SA_SESSION_BUSY;
	typical = learn_describe(w, m, s, sa, &flow);
	packet(m)->epoch = w->flows.epoch;
	reason = prepare_in(m, sa, s, crypto_job(&w->crypto));
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return true;
	}
	learn_accepted(w, m, s, sa, typical ? &flow : NULL);
	crypto_submit(&w->crypto, m, s, sa);
	return true;
}

void stage_unprotect(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (!unprotect(w, m[i])) {
			stage_return(&w->stages, STAGE_UNPROTECT, m + i, n - i);
			return;
		}
	}
}
