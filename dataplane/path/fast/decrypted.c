/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_prefetch.h>

#include "base/sadb.h"
#include "path/fast/fast.h"
#include "path/fast/leave.h"
#include "path/fast/per_packet.h"
#include "path/worker/tunnel.h"

/* Fill in what the stages, and protecting the packet again, find in its struct packet. */
static void describe(const struct worker *w, struct decrypted *d)
{
	struct packet *p = packet(d->m);

	if (!d->described) {
		packet_received(w, d->m, d->interface);
		p->decrypted = 1;
		p->from = PACKET_FROM_SA(d->s->sa);
	}
	p->sa = d->s->sa;
	p->generation = d->s->generation;
}

void fast_decrypted_add(struct worker *w, struct rte_mbuf *m, const struct session *s,
			unsigned int interface, bool described)
{
	struct decrypted *d = &w->fast->decrypted[w->fast->ndecrypted++];

	d->m = m;
	d->s = s;
	d->interface = (uint8_t)interface;
	d->described = described;
	d->same_flow = false;
	d->has_flow = flow_of(rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m),
			      PACKET_FROM_SA(s->sa), &d->key);
	if (!d->has_flow)
		return;
	if (w->fast->ndecrypted > 1 && d[-1].has_flow && flow_same(&d[-1].key, &d->key)) {
		d->place = d[-1].place;
		d->same_flow = true;
		return;
	}
	d->place = flow_place(&w->fast->flows, &d->key);
	flow_prefetch(&w->fast->flows, d->place);
}

static bool is_known(struct worker *w, const struct decrypted *d, const struct flow *f)
{
	struct rte_mbuf *m = d->m;

	if (!f || flow_passes(&w->fast->flows, f))
		return false;
	if (f->from_interface == d->interface && !crypto_batch_is_full(&w->crypto.batch) &&
	    flow_may_leave(f, rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m)))
		return true;
	flow_pass(&w->fast->flows, f);
	return false;
}

/* As the stage does, so that what comes later, such as an ICMP error, is the same. */
static __rte_noinline void enter_tunnel(struct worker *w, const struct decrypted *d)
{
	const struct cygnet_sa *sa = cygnet_sa_get(sadb, d->s->sa, d->s->generation);

	if (sa && sa->if_id)
		tunnel_enter(w, d->m, sa->if_id);
}

static void leave(struct worker *w, struct decrypted *d, const struct flow *f)
{
	w->stats->decapsulated++;
	w->stats->shortcut++;
	packet_take_hop(rte_pktmbuf_mtod(d->m, uint8_t *));
	if (f->kind != FLOW_FORWARD)
		describe(w, d);
	if (unlikely(tunnels_exist()))
		enter_tunnel(w, d);
	if (f->kind == FLOW_FORWARD) {
		leave_forward(w, d->m, f);
		return;
	}
	if (f->kind == FLOW_PROTECT)
		fast_protect(w, d->m, f->session);
	else
		fast_handoff(w, d->m, f);
}

void fast_decrypted(struct worker *w)
{
	const struct flow *f = NULL;
	/* A packet without flow key passes the stages: so do those behind it. */
	bool pass = false;

	if (!w->fast || !w->fast->ndecrypted)
		return;
	flows_next_vector(&w->fast->flows);
	for (unsigned int i = 0; i < w->fast->ndecrypted; i++) {
		struct decrypted *d = &w->fast->decrypted[i];

		if (!d->same_flow)
			f = d->has_flow ? flow_find(&w->fast->flows, &d->key, d->place) : NULL;
		if (!pass && is_known(w, d, f)) {
			leave(w, d, f);
			continue;
		}
		pass |= !d->has_flow;
		describe(w, d);
		stage_add(&w->stages, STAGE_DECRYPTED, d->m);
	}
	w->fast->ndecrypted = 0;
}
