/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_ring.h>

#include "path/worker/handoff.h"
#include "path/worker/move.h"
#include "path/worker/owner.h"
#include "path/worker/send_order.h"
#include "path/worker/tx.h"

enum step { STEP_NONE, STEP_KEEP, STEP_SWITCH, STEP_FINISH, STEP_ARRIVE, STEP_TAKE };

/* The move under way. Each thread takes its step and then stores the next one, which gives the other
 * fields to the thread whose step that is. Whose it is, is in the same word: a worker that has read the step of a
 * move that is over must not compare it with the workers of the next one. */
static struct {
	uint32_t step; /* enum step, and STEP_OF() the workers of the move; atomic */
	uint32_t sa;
	uint32_t owned;			  /* its value in sa_owners[] before */
	unsigned int from, to;		  /* workers */
	uint64_t turns[CONF_MAX_WORKERS]; /* in FINISH: of each worker at SWITCH */
	bool all_seen; /* in FINISH: every worker sends the SA's packets to its new owner */
	uint64_t taken; /* value of worker.taken at which all packets that were in the inbox have been taken:
				 * of the worker whose step it is */
} move;

#define STEP_OF(step, from, to) ((uint32_t)(step) | (uint32_t)(from) << 8 | (uint32_t)(to) << 16)
_Static_assert(CONF_MAX_WORKERS <= 256, "a worker's number is a byte of move.step");

static enum step current(void)
{
	return (enum step)(__atomic_load_n(&move.step, __ATOMIC_ACQUIRE) & 0xff);
}

static void go_on(enum step next)
{
	__atomic_store_n(&move.step, STEP_OF(next, move.from, move.to), __ATOMIC_RELEASE);
}

/* --- steps --- */

static void begin_to_keep(struct worker *w)
{
	if (w->arriving) /* one that it joins */
		return;
	w->arriving = move.sa + 1;
	go_on(STEP_SWITCH);
}

static void name_new_owner(struct worker *w)
{
	/* Another SA may have come into the slot. One that is shared stays: those who join ask its owner (share.c). */
	if (send_order_exists(move.sa) ||
	    !owner_set(move.sa, &move.owned, OWNED_BY(move.owned >> 8, move.to))) {
		go_on(STEP_ARRIVE);
		return;
	}
	w->leaving = move.sa + 1;
	/* Known flows would keep their packets on this worker. */
	w->forget_sa = move.sa + 1;
	move.all_seen = false;
	/* A worker that begins a turn after this sees the new owner. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < w->workers; i++)
		move.turns[i] = __atomic_load_n(&workers[i].stats->turns, __ATOMIC_ACQUIRE);
	go_on(STEP_FINISH);
}

/* A worker's second turn from now begins after the end of one that began after SWITCH: it has sent what it
 * had for the old owner, and knows the new one. A turn may have read the owner before others see that it
 * began: hence one turn more. */
static bool have_all_seen(const struct worker *w)
{
	for (unsigned int i = 0; i < w->workers; i++)
		if (__atomic_load_n(&workers[i].stats->turns, __ATOMIC_ACQUIRE) - move.turns[i] < 3)
			return false;
	return true;
}

/* Whether packets of the SA are in front of a stage, at a crypto device, or on their way back. */
static bool has_packets(struct worker *w)
{
	uint32_t owned = __atomic_load_n(&sa_owners[move.sa], __ATOMIC_RELAXED);
	bool reused = (owned ^ move.owned) & ~(uint32_t)UINT8_MAX; /* the session is another SA's */

	return w->crypto.batch.n || stages_have_sa(&w->stages, move.sa) ||
	       !(reused || session_leave(w->sessions, move.sa));
}

static void note_inbox(const struct worker *w)
{
	move.taken = w->taken + rte_ring_count(w->inbox);
}

static void finish_packets(struct worker *w)
{
	if (!move.all_seen) {
		move.all_seen = have_all_seen(w);
		note_inbox(w);
	}
	if (!move.all_seen || w->taken < move.taken || has_packets(w))
		return;
	/* Frames of it may have waited for a worker that sends by the same queues. */
	tx_flush_all(w);
	w->leaving = 0;
	w->stats->sas_moved++;
	go_on(STEP_ARRIVE);
}

static void arrive(struct worker *w)
{
	note_inbox(w);
	go_on(STEP_TAKE);
}

static void to_stage(struct worker *w, struct rte_mbuf *m)
{
	stage_add(&w->stages, (enum stage)packet(m)->stage, m);
}

static void take_kept(struct worker *w)
{
	if (w->taken < move.taken)
		return;
	/* Flows that this worker has handed off so far are its own now. */
	w->forget_sa = move.sa + 1;
	owner_take_kept(w, to_stage);
	go_on(STEP_NONE);
}

void move_turn(struct worker *w)
{
	uint32_t now = __atomic_load_n(&move.step, __ATOMIC_ACQUIRE);
	enum step step = (enum step)(now & 0xff);
	bool from = (now >> 8 & 0xff) == w->id, to = (now >> 16 & 0xff) == w->id;

	if (likely(step == STEP_NONE))
		return;
	if (step == STEP_KEEP && to)
		begin_to_keep(w);
	else if (step == STEP_SWITCH && from)
		name_new_owner(w);
	else if (step == STEP_FINISH && from)
		finish_packets(w);
	else if (step == STEP_ARRIVE && to)
		arrive(w);
	else if (step == STEP_TAKE && to)
		take_kept(w);
}

/* --- the control thread's --- */

bool move_is_under_way(void)
{
	return current() != STEP_NONE;
}

bool move_begin(uint32_t sa, unsigned int to)
{
	uint32_t owned = __atomic_load_n(&sa_owners[sa], __ATOMIC_RELAXED);

	if (move_is_under_way() || !owned || owner_in(owned) == to)
		return false;
	move.sa = sa;
	move.owned = owned;
	move.from = owner_in(owned);
	move.to = to;
	go_on(STEP_KEEP);
	return true;
}

void move_cancel(void)
{
	uint32_t moved = OWNED_BY(move.owned >> 8, move.to);

	/* The old owner may still have packets at a device. */
	if (current() == STEP_FINISH)
		owner_set(move.sa, &moved, move.owned);
	go_on(STEP_NONE);
}
