/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that came out of an SA. They are collected, so that their flows are in the cache when it is
 * their turn. */
#include <rte_prefetch.h>

#include "path/fast/short_way.h"
#include "path/fast/shortcut.h"

#define ROOM 8u		/* for what one packet may become: none goes by a queue, past others */

/* What the long way, and protecting it again, find in its struct packet. */
static void describe(const struct worker *w, struct opened *o)
{
	struct packet *p = packet(o->m);

	if (!o->bare)
		return;
	packet_received(o->m, o->port, w->flows.epoch);
	p->decrypted = 1;
	p->from = o->from;
}

static void go_long(struct worker *w, struct opened *o)
{
	describe(w, o);
	plain_in(w, o->m, o->sa);
}

void shortcut_opened(struct worker *w, struct rte_mbuf *m, struct cygnet_sa *sa, uint32_t from,
		     unsigned int port, bool bare)
{
	bool full = w->nopened == CRYPT_NOW && !crypt_now(w);
	struct opened *o = &w->opened[w->nopened];

	o->m = m;
	o->sa = sa;
	o->from = from;
	o->port = (uint8_t)port;
	o->bare = bare;
	o->again = false;
	if (full) {
		go_long(w, o);
		return;
	}
	w->nopened++;
	o->has_flow = w->flows.flow && flow_of(rte_pktmbuf_mtod(m, const uint8_t *),
					       rte_pktmbuf_data_len(m), from, &o->key);
	if (!o->has_flow)
		return;
	if (w->nopened > 1 && o[-1].has_flow && flow_same(&o[-1].key, &o->key)) {
		o->place = o[-1].place;
		o->again = true;
		return;
	}
	o->place = flow_place(&w->flows, &o->key);
	rte_prefetch0(&w->flows.flow[o->place]);
}

static bool go_on(struct worker *w, struct opened *o, const struct flow *f)
{
	struct rte_mbuf *m = o->m;

	if (!f || f->from_port != o->port ||
	    !short_way_may_leave(f, rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m)))
		return false;
	w->stats->decapsulated++;
	w->stats->shortcut++;
	packet_take_hop(rte_pktmbuf_mtod(m, uint8_t *));
	if (f->kind == FLOW_FORWARD) {
		short_way_forward(w, m, f);
		return true;
	}
	describe(w, o);
	if (f->kind == FLOW_PROTECT)
		protect_out_ordinary(w, m, f->session);
	else
		shortcut_hand(w, m, f);
	return true;
}

void shortcut_go_on(struct worker *w)
{
	const struct flow *f = NULL;
	uint64_t state = 0;
	unsigned int i;

	for (i = 0; i < w->nopened && w->now[w->filling].n + ROOM <= CRYPT_NOW; i++) {
		struct opened *o = &w->opened[i];

		/* The first here may be behind others that have gone; the long way learns. */
		if (!i || !o->again || state != flow_state(&w->flows)) {
			state = flow_state(&w->flows);
			f = o->has_flow ? flow_find(&w->flows, &o->key, o->place) : NULL;
		}
		if (!go_on(w, o, f))
			go_long(w, o);
	}
	w->nopened -= i;
	memmove(w->opened, w->opened + i, w->nopened * sizeof(w->opened[0]));
}
