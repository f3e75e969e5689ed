/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sadb.h"
#include "path/fast/learn.h"
#include "path/to_sa.h"
#include "path/worker/next_hop.h"
#include "path/worker/owner.h"

void to_sa(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	struct packet *p = packet(m);

	p->sa = cygnet_sa_index(sadb, sa);
	p->generation = sa->generation;
	p->fits_route = rte_pktmbuf_data_len(m) <= packet_route_limit(m);
	learn_handoff(w, m, FLOW_HANDOFF_OUT);
	owner_handoff(w, m, STAGE_FIT);
}
