/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "path/sa_session.h"

enum sa_session sa_session_find(struct worker *w, struct rte_mbuf *m, bool out,
				struct cygnet_sa **sa, struct session **s)
{
	const struct packet *p = packet(m);
	const struct crypto_batch *batch = &w->crypto.batch;
	enum drop_reason reason;

	*sa = cygnet_sa_get(sadb, p->sa, p->generation);
	if (!*sa) {
		if (out)
			stage_add(&w->stages, STAGE_SA_GONE, m);
		else
			drop(w, m, DROP_SA_GONE);
		return SA_SESSION_NONE;
	}
	/* Packets of known flows in the batch do not count as in flight: their sessions stay. */
	reason = session_get(w->sessions, *sa, p->sa, !batch->known, s);
	if (reason == DROP_NONE)
		return SA_SESSION_FOUND;
	if (reason == DROP_NO_SESSION && batch->n)
		return SA_SESSION_BUSY;
	drop(w, m, reason);
	return SA_SESSION_NONE;
}
