/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_prefetch.h>
#include <rte_ring.h>

#include "path/dispatch.h"
#include "path/fast/fast.h"
#include "path/inbox.h"
#include "path/worker/fetch.h"
#include "path/worker/owner.h"
#include "path/worker/share.h"

/* Packets come out of another core's caches. */
static void fetch(struct rte_mbuf *const *m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		packet_prefetch(m[i]);
	for (unsigned int i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
		fetch_around(m[i]);
	}
}

static bool is_for_sa(struct rte_mbuf *m)
{
	return packet(m)->stage == STAGE_FIT || packet(m)->stage == STAGE_UNPROTECT;
}

/* Once a packet for an SA has to pass the stages, packets behind it do, or they would overtake it. A
 * fragment may be the last one of a packet for an SA. */
unsigned int inbox_poll(struct worker *w)
{
	struct rte_mbuf *m[BURST];
	/* Not if packets of an earlier burst wait in front of the stages for a session. */
	bool in_order = fast_serves(w) && !w->stages.waiting;
	unsigned int n;

	if (!crypto_has_room(&w->crypto))
		return 0;
	n = rte_ring_sc_dequeue_burst(w->inbox, (void **)m, BURST, NULL);
	w->taken += n;
	offload_received(&w->crypto.offload, n, BURST);
	fetch(m, n);
	for (unsigned int i = 0; i < n; i++) {
		bool for_sa = is_for_sa(m[i]);

		if (crypto_batch_is_full(&w->crypto.batch))
			dispatch(w);
		if (for_sa && stages_wait(&w->stages, STAGE_REASSEMBLE)) {
			dispatch_stages(w);
			in_order = in_order && !w->stages.waiting;
		}
		if (for_sa && owner_diverts(w, m[i]))
			continue;
		if (packet(m[i])->stage == STAGE_FIT)
			share_count(w, m[i]);
		if (for_sa && in_order && fast_handed(w, m[i]))
			continue;
		in_order = in_order && !for_sa;
		stage_add(&w->stages, (enum stage)packet(m[i])->stage, m[i]);
	}
	if (w->stages.waiting)
		dispatch_stages(w);
	return n;
}
