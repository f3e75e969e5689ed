/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file submit.h
 * A packet on its way from a stage, or a known flow, to crypto.
 */
#ifndef CYGNETD_SUBMIT_H
#define CYGNETD_SUBMIT_H

#include "path/worker/send_order.h"

/** crypto_submit(), which drops a packet that no device takes: then no frame comes with its number. Takes it over. */
static inline void submit_packet(struct worker *w, struct rte_mbuf *m, struct session *s,
				 const struct cygnet_sa *sa)
{
	enum drop_reason reason = crypto_submit(&w->crypto, m, s, sa);

	if (likely(reason == DROP_NONE))
		return;
	send_nothing(w, s, packet(m)->seq);
	drop(w, m, reason);
}

#endif
