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
	s->order = w->may_share && !s->inbound ? send_order_join(s->sa, s->generation) : NULL;
	s->shared = s->order;
}

void share_session_released(struct worker *w, const struct session *s)
{
	if (s->noted)
		send_order_flush(w);
	if (s->shared)
		send_order_leave(w, s->order);
}

/* --- the owner's --- */

void share_count(struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	struct session *s = w->may_share ? session_peek(w->sessions, p->sa, p->generation) : NULL;

	if (!s || s->shared || s->inbound || w->sharing.offered || p->from_kernel)
		return;
	if (s->handed_in != clock_seconds()) {
		s->handed_in = clock_seconds();
		s->handed = 0;
	}
	if (++s->handed == SHARE_FROM) {
		w->sharing.offered = p->sa + 1;
		w->sharing.offered_generation = p->generation;
	}
}

/* The number of the SA's first packet that has not been put into tx: those in a device's queue are in order. */
static uint32_t next_to_leave(const struct session *s, const struct cygnet_sa *sa)
{
	return (uint32_t)(s->head ? packet(s->head)->seq
				  : __atomic_load_n(&sa->seq, __ATOMIC_RELAXED) + 1);
}

/* Frames by another worker's queue of the port would be overtaken by those in order. */
static bool may_offer(const struct worker *w, const struct session *s)
{
	return s && !s->shared && w->leaving - 1 != s->sa && s->route.longest &&
	       s->route.resolved && w->out[s->route.interface];
}

/* Between turns each packet that has a number is in a device's queue, or has been put into tx. */
static void offer(struct worker *w)
{
	struct session *s = session_peek(w->sessions, w->sharing.offered - 1,
					 w->sharing.offered_generation);
	const struct cygnet_sa *sa = s ? cygnet_sa_get(sadb, s->sa, s->generation) : NULL;

	w->sharing.offered = 0;
	if (!sa || !may_offer(w, s))
		return;
	/* Earlier frames are before those in order. */
	tx_flush_all(w);
	s->order = send_order_begin(s->sa, s->generation, next_to_leave(s, sa), w->id);
	s->shared = s->order;
	w->stats->sas_shared += s->shared;
}

/* --- that of one that joins --- */

void share_want(struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);

	if (!w->may_share || w->sharing.wanted || w->sharing.joined || p->from_kernel ||
	    !send_order_exists(p->sa))
		return;
	w->sharing.wanted = p->sa + 1;
	w->sharing.generation = p->generation;
}

bool share_has_joined(const struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	const struct session *s = w->may_share ? session_peek(w->sessions, p->sa, p->generation)
					       : NULL;

	return s && s->shared;
}

bool share_strays(const struct worker *w, struct rte_mbuf *m)
{
	const struct packet *p = packet(m);

	/* While the SA moves here, its old owner still takes numbers. */
	bool elsewhere = owner_is_other(w, p->sa, p->generation) || w->arriving - 1 == p->sa;

	return w->may_share && elsewhere && w->leaving - 1 != p->sa && !share_has_joined(w, m);
}

/* Packets that this worker has handed off are in the owner's inbox: a turn begins. */
static void begin_to_join(struct worker *w)
{
	struct sharing *sharing = &w->sharing;
	uint32_t sa = sharing->wanted - 1;

	sharing->wanted = 0;
	if (!sessions_have_free(w->sessions) || !owner_known(sa, &sharing->owner) ||
	    sharing->owner == w->id)
		return;
	sharing->joined = send_order_join(sa, sharing->generation);
	if (!sharing->joined)
		return;
	sharing->handed = __atomic_load_n(&workers[sharing->owner].inbox->prod.tail,
					  __ATOMIC_ACQUIRE);
	sharing->taken = false;
	w->arriving = sa + 1;
	/* Packets of known flows would be handed off without coming by. */
	w->forget_sa = sa + 1;
}

/* Whether the owner has protected all that this worker has handed off: it has taken it out of its inbox, and begun a
 * turn, and one more, since. */
static bool has_protected(struct sharing *sharing)
{
	const struct worker *owner = &workers[sharing->owner];

	if (!sharing->taken) {
		uint32_t taken = __atomic_load_n(&owner->inbox->cons.tail, __ATOMIC_ACQUIRE);

		sharing->taken = (int32_t)(taken - sharing->handed) >= 0;
		sharing->turns = __atomic_load_n(&owner->stats->turns, __ATOMIC_ACQUIRE);
		return false;
	}
	return __atomic_load_n(&owner->stats->turns, __ATOMIC_ACQUIRE) - sharing->turns >= 2;
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
	struct sharing *sharing = &w->sharing;
	uint32_t slot = w->arriving - 1;
	const struct cygnet_sa *sa = cygnet_sa_get(sadb, slot, sharing->generation);
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
	send_order_leave(w, sharing->joined);
	sharing->joined = NULL;
}

void share_turn(struct worker *w)
{
	struct sharing *sharing = &w->sharing;

	if (!w->may_share)
		return;
	if (sharing->offered)
		offer(w);
	if (w->forget_sa) /* of a move: one a turn */
		return;
	if (sharing->wanted && !w->arriving)
		begin_to_join(w);
	else if (sharing->joined && has_protected(sharing))
		join(w);
}

void share_end(struct worker *w)
{
	if (w->sharing.joined)
		send_order_leave(w, w->sharing.joined);
	w->sharing = (struct sharing){0};
}
