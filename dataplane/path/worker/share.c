/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_ring.h>

#include "base/clock.h"
#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "path/worker/handoff.h"
#include "path/worker/owner.h"
#include "path/worker/send_order.h"
#include "path/worker/share.h"
#include "path/worker/tx.h"

/* --- sessions --- */

void share_session_created(struct worker *w, struct session *s)
{
	s->order = w->shares && !s->inbound ? send_order_join(s->sa, s->generation) : NULL;
	s->shared = s->order;
}

void share_session_released(struct worker *w, const struct session *s)
{
	if (s->put)
		send_order_flush(w);
	if (s->shared)
		send_order_leave(w, s->order);
}

/* --- the owner's --- */

void share_count(struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	struct session *s = w->shares ? session_peek(w->sessions, p->sa, p->generation) : NULL;

	if (!s || s->shared || s->inbound || w->share.offered || p->from_kernel)
		return;
	if (s->handed_in != clock_seconds()) {
		s->handed_in = clock_seconds();
		s->handed = 0;
	}
	if (++s->handed == SHARE_FROM) {
		w->share.offered = p->sa + 1;
		w->share.offered_generation = p->generation;
	}
}

/* No packet of the session has a number and has not been put into tx: a turn begins. */
static void offer(struct worker *w, struct session *s)
{
	const struct cygnet_sa *sa = cygnet_sa_get(sadb, s->sa, s->generation);

	w->share.offered = 0;
	/* Packets in a device's queue would have the others wait, and frames by another worker's queue of the port would be
	 * overtaken by those in order. */
	if (!sa || w->leaving - 1 == s->sa || !s->route.by_batch || s->by_queue ||
	    !w->out[s->route.interface])
		return;
	/* Earlier frames are before those in order. */
	tx_flush_all(w);
	s->order = send_order_begin(s->sa, s->generation,
				    (uint32_t)__atomic_load_n(&sa->seq, __ATOMIC_RELAXED) + 1,
				    w->id);
	s->shared = s->order;
	w->stats->sas_shared += s->shared;
}

static void offer_if_idle(struct worker *w)
{
	struct session *s = session_peek(w->sessions, w->share.offered - 1,
					 w->share.offered_generation);

	if (!s || s->shared)
		w->share.offered = 0;
	else if (!s->in_flight)
		offer(w, s);
}

/* --- that of one that joins --- */

void share_want(struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);

	if (!w->shares || w->share.wanted || w->share.joined || p->from_kernel ||
	    !send_order_exists(p->sa))
		return;
	w->share.wanted = p->sa + 1;
	w->share.generation = p->generation;
}

bool share_has_joined(const struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	const struct session *s = w->shares ? session_peek(w->sessions, p->sa, p->generation)
					    : NULL;

	return s && s->shared;
}

bool share_strays(const struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);

	return w->shares && owner_is_other(w, p->sa, p->generation) && w->leaving - 1 != p->sa &&
	       !share_has_joined(w, m);
}

/* Packets that this worker has handed off are in the owner's inbox: a turn begins. */
static void begin_to_join(struct worker *w)
{
	struct share *share = &w->share;
	uint32_t sa = share->wanted - 1;

	share->wanted = 0;
	if (!sessions_have_free(w->sessions) || !owner_known(sa, &share->owner) ||
	    share->owner == w->id)
		return;
	share->joined = send_order_join(sa, share->generation);
	if (!share->joined)
		return;
	share->handed = __atomic_load_n(&workers[share->owner].inbox->prod.tail, __ATOMIC_ACQUIRE);
	share->taken = false;
	w->arriving = sa + 1;
	/* Packets of known flows would be handed off without coming by. */
	w->forget_sa = sa + 1;
}

/* Whether the owner has protected all that this worker has handed off: it has taken it out of its inbox, and begun a
 * turn, and one more, since. */
static bool has_protected(struct share *share)
{
	const struct worker *owner = &workers[share->owner];

	if (!share->taken) {
		uint32_t taken = __atomic_load_n(&owner->inbox->cons.tail, __ATOMIC_ACQUIRE);

		share->taken = (int32_t)(taken - share->handed) >= 0;
		share->turns = __atomic_load_n(&owner->stats->turns, __ATOMIC_ACQUIRE);
		return false;
	}
	return __atomic_load_n(&owner->stats->turns, __ATOMIC_ACQUIRE) - share->turns >= 2;
}

static void to_fit(struct worker *w, struct rte_mbuf *m)
{
	stage_add(&w->stages, STAGE_FIT, m);
}

static void to_owner(struct worker *w, struct rte_mbuf *m)
{
	handoff(w, m, owner_of(w, m), STAGE_FIT);
}

static void join(struct worker *w)
{
	struct share *share = &w->share;
	uint32_t slot = w->arriving - 1;
	const struct cygnet_sa *sa = cygnet_sa_get(sadb, slot, share->generation);
	struct session *s;
	bool joined;

	/* That of an SA which was in the slot before. */
	session_leave(w->sessions, slot);
	joined = sa && session_get(w->sessions, sa, slot, false, &s) == DROP_NONE && s->shared;
	if (!joined)
		session_leave(w->sessions, slot);
	/* Kept packets have learned that they are to be handed off. */
	w->forget_sa = slot + 1;
	owner_take_kept(w, joined ? to_fit : to_owner);
	send_order_leave(w, share->joined);
	share->joined = NULL;
}

void share_turn(struct worker *w)
{
	struct share *share = &w->share;

	if (!w->shares)
		return;
	if (share->offered)
		offer_if_idle(w);
	if (w->forget_sa) /* of a move: one a turn */
		return;
	if (share->wanted && !w->arriving)
		begin_to_join(w);
	else if (share->joined && has_protected(share))
		join(w);
}

void share_end(struct worker *w)
{
	if (w->share.joined)
		send_order_leave(w, w->share.joined);
	w->share = (struct share){0};
}
