/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <rte_ring.h>

#include "base/sadb.h"
#include "path/worker/handoff.h"
#include "path/worker/owner.h"

enum step { STEP_NONE, STEP_KEEP, STEP_SWITCH, STEP_FINISH, STEP_ARRIVE, STEP_TAKE };

/* A worker may own that many more SAs than its share before the next one goes to another worker: a quarter and some. */
#define SPARE_SHARE 4u /* 1 / share */
#define SPARE \
	64u /* those of a burst: another worker may receive its first packets a moment later */

uint32_t sa_owners[CYGNET_MAX_ENTRIES];
static uint32_t owned_by[CONF_MAX_WORKERS]; /* number of values of sa_owners[]; atomic */

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

/* --- who owns an SA --- */

static uint32_t number_of(unsigned int worker)
{
	return __atomic_load_n(&owned_by[worker], __ATOMIC_RELAXED);
}

/* This worker, or the one with the fewest SAs. An SA that is gone counts until its slot has another one. Once every worker
 * has had as many as it has sessions for, that bound says nothing any more. */
static unsigned int choose(const struct worker *w)
{
	uint32_t sum = 0, share;
	unsigned int least = 0;

	for (unsigned int i = 0; i < w->workers; i++) {
		sum += number_of(i);
		if (number_of(i) < number_of(least))
			least = i;
	}
	share = sum / w->workers;
	share += share / SPARE_SHARE + SPARE;
	if (number_of(least) < w->sas_most)
		share = RTE_MIN(share, w->sas_most);
	return number_of(w->id) < share ? w->id : least;
}

/* @param was  of sa_owners[]; receives what it is if another thread has changed it */
static bool set_owner(uint32_t sa, uint32_t *was, uint32_t owned)
{
	uint32_t before = *was;

	if (!__atomic_compare_exchange_n(&sa_owners[sa], was, owned, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return false;
	if (before)
		__atomic_fetch_sub(&owned_by[owner_in(before)], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&owned_by[owner_in(owned)], 1, __ATOMIC_RELAXED);
	return true;
}

bool owner_hears_peer(struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	const struct cygnet_sa *sa = cygnet_sa_get(sadb, p->sa, p->generation);
	const struct cygnet_path *path = sa ? cygnet_sa_path(sa) : NULL;

	return path && path->af == packet_family(m) && !memcmp(&path->src, &p->src, sizeof(p->src));
}

/* Whether later packets of the SA come in as this one did. */
static bool shows_the_way(struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	const struct cygnet_sa *sa = cygnet_sa_get(sadb, p->sa, p->generation);

	if (p->from_kernel || p->handed || p->whole)
		return false;
	return !sa || !(sa->flags & CYGNET_SA_INBOUND) || owner_hears_peer(m);
}

unsigned int owner_assign(const struct worker *w, struct rte_mbuf *m, uint32_t owned)
{
	uint32_t sa = packet(m)->sa, generation = packet(m)->generation;
	unsigned int owner;

	if (w->trace)
		return w->id;
	owner = shows_the_way(m) ? choose(w) : sa % w->workers;
	while (!set_owner(sa, &owned, OWNED_BY(generation, owner)))
		if (owner_is_of(owned, generation))
			return owner_in(owned);
	return owner;
}

void owners_reset(uint32_t slots)
{
	memset(sa_owners, 0, slots * sizeof(sa_owners[0]));
	memset(owned_by, 0, sizeof(owned_by));
	move.step = STEP_NONE;
}

/* --- packets --- */

static bool is_arriving(const struct worker *w, uint32_t sa)
{
	return w->arriving && w->arriving - 1 == sa;
}

static void keep(struct worker *w, struct rte_mbuf *m)
{
	if (w->nkept == MOVE_KEEP_MOST) {
		drop(w, m, DROP_HANDOFF_FULL);
		return;
	}
	packet(m)->next = NULL;
	*(w->nkept++ ? &packet(w->last_kept)->next : &w->kept) = m;
	w->last_kept = m;
}

void owner_handoff(struct worker *w, struct rte_mbuf *m, enum stage stage)
{
	uint32_t sa = packet(m)->sa;
	unsigned int owner = owner_of(w, m);

	if (unlikely(is_arriving(w, sa)) && owner == w->id) {
		packet(m)->stage = (uint8_t)stage;
		keep(w, m);
		return;
	}
	handoff(w, m, owner, stage);
}

bool owner_diverts(struct worker *w, struct rte_mbuf *m)
{
	uint32_t sa = packet(m)->sa;
	unsigned int owner = owner_of(w, m);

	if (likely(owner == w->id)) {
		if (likely(!is_arriving(w, sa)))
			return false;
		keep(w, m);
		return true;
	}
	/* The old owner works on packets that reach it until it has finished. */
	if (w->leaving && w->leaving - 1 == sa)
		return false;
	handoff(w, m, owner, (enum stage)packet(m)->stage);
	return true;
}

/* --- steps --- */

static void begin_to_keep(struct worker *w)
{
	w->arriving = move.sa + 1;
	go_on(STEP_SWITCH);
}

static void name_new_owner(struct worker *w)
{
	/* Another SA may have come into the slot. */
	if (!set_owner(move.sa, &move.owned, OWNED_BY(move.owned >> 8, move.to))) {
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
	w->leaving = 0;
	w->stats->sas_moved++;
	go_on(STEP_ARRIVE);
}

static void arrive(struct worker *w)
{
	note_inbox(w);
	go_on(STEP_TAKE);
}

static void take_kept(struct worker *w)
{
	struct rte_mbuf *m = w->kept, *next;

	if (w->taken < move.taken)
		return;
	w->arriving = 0;
	/* Flows that this worker has handed off so far are its own now. */
	w->forget_sa = move.sa + 1;
	for (; w->nkept; w->nkept--, m = next) {
		next = packet(m)->next;
		stage_add(&w->stages, (enum stage)packet(m)->stage, m);
	}
	go_on(STEP_NONE);
}

void owner_turn(struct worker *w)
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

void owner_drop(struct worker *w)
{
	struct rte_mbuf *m = w->kept, *next;

	for (; w->nkept; w->nkept--, m = next) {
		next = packet(m)->next;
		drop(w, m, DROP_SA_GONE);
	}
	w->arriving = w->leaving = 0;
}

/* --- the control thread's --- */

bool owner_moving(void)
{
	return current() != STEP_NONE;
}

bool owner_move(uint32_t sa, unsigned int to)
{
	uint32_t owned = __atomic_load_n(&sa_owners[sa], __ATOMIC_RELAXED);

	if (owner_moving() || !owned || owner_in(owned) == to)
		return false;
	move.sa = sa;
	move.owned = owned;
	move.from = owner_in(owned);
	move.to = to;
	go_on(STEP_KEEP);
	return true;
}

void owner_cancel(void)
{
	uint32_t moved = OWNED_BY(move.owned >> 8, move.to);

	/* The old owner may still have packets at a device. */
	if (current() == STEP_FINISH)
		set_owner(move.sa, &moved, move.owned);
	go_on(STEP_NONE);
}
