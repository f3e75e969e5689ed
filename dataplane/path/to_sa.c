/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>

#include "base/sadb.h"
#include "path/fast/fast.h"
#include "path/to_sa.h"
#include "path/worker/next_hop.h"
#include "path/worker/owner.h"
#include "path/worker/share.h"
#include "path/worker/trace_note.h"

static void name(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	if (unlikely(w->trace != NULL))
		trace_sa(w->trace, sa);
	packet(m)->sa = cygnet_sa_index(sadb, sa);
	packet(m)->generation = sa->generation;
}

void to_sa(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	name(w, m, sa);
	packet(m)->fits_route = rte_pktmbuf_data_len(m) <= packet_route_limit(m);
	if (share_has_joined(w, m)) {
		stage_add(&w->stages, STAGE_FIT, m);
		return;
	}
	learn_handoff(w, m, STAGE_FIT);
	owner_handoff(w, m, STAGE_FIT);
}

void to_sa_in(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	name(w, m, sa);
	packet(m)->src = packet_src(m);
	if (sa->proto == IPPROTO_ESP)
		learn_handoff(w, m, STAGE_UNPROTECT);
	owner_handoff(w, m, STAGE_UNPROTECT);
}
