/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_prefetch.h>
#include <rte_spinlock.h>

#include "base/sadb.h"
#include "esp/out_use.h"
#include "path/worker/send_order.h"
#include "path/worker/tx.h"

/* In the place of a number: no frame comes with it. */
#define NOTHING ((struct rte_mbuf *)1)
/* Bit of a frame in a place: the first one of a packet that was cut, linked by packet()->next. */
#define CUT 4u

#define CHANGING UINT32_MAX /* send_order.users: it is made or ended */
/* Batches that a worker sends before it works on its own packets again. */
#define MOST_BATCHES 2u

struct send_order {
	uint32_t sa, generation;
	unsigned int sender;  /* worker */
	uint32_t users;	      /* 0: the order is free; atomic */
	struct rte_mbuf **at; /* by number: window of them; atomic */
	/* The holder of the lock alone changes `next`. */
	rte_spinlock_t sending __rte_cache_aligned;
	uint32_t next; /* the lowest number that has not left; atomic */
};

uint64_t send_wait;
static uint32_t window; /* numbers overflow in a multiple of it */
static struct send_order *orders;
static uint32_t norders;
static struct rte_mbuf **places; /* of all orders */
static uint16_t *by_slot;	 /* of the SAD: index in orders[] + 1; 0: none; atomic */
static uint32_t slots;

int send_orders_init(uint32_t n, struct send_bounds bounds)
{
	RTE_VERIFY(rte_is_power_of_2(bounds.window) && SEND_PLACES / bounds.window < UINT16_MAX);
	slots = n;
	send_wait = rte_get_tsc_hz() / 1000000 * bounds.wait_us;
	window = bounds.window;
	norders = SEND_PLACES / window;
	by_slot = calloc(n, sizeof(*by_slot));
	orders = aligned_alloc(RTE_CACHE_LINE_SIZE, norders * sizeof(*orders));
	/* Its pages are there once an SA has an order. */
	places = aligned_alloc(RTE_CACHE_LINE_SIZE, SEND_PLACES * sizeof(struct rte_mbuf *));
	if (!by_slot || !orders || !places) {
		send_orders_free();
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < norders; i++)
		orders[i] = (struct send_order){.at = places + (size_t)i * window};
	return 0;
}

void send_orders_free(void)
{
	free(places);
	free(orders);
	free(by_slot);
	places = NULL;
	orders = NULL;
	by_slot = NULL;
	norders = 0;
	slots = 0;
}

/* --- places --- */

/* What the place of a number has while it is missing, so that nothing else can be put there: its number came too late, or the
 * place is still that of an earlier one. */
static struct rte_mbuf *free_for(uint32_t number)
{
	return (struct rte_mbuf *)((uintptr_t)number << 2 | 2);
}

static bool is_missing(const struct rte_mbuf *m)
{
	return (uintptr_t)m & 2;
}

static bool is_cut(const struct rte_mbuf *m)
{
	return !is_missing(m) && (uintptr_t)m & CUT;
}

/* The frame in a place, or NULL. */
static struct rte_mbuf *first_frame(struct rte_mbuf *m)
{
	return is_missing(m) || m == NOTHING ? NULL
					     : (struct rte_mbuf *)((uintptr_t)m & ~(uintptr_t)CUT);
}

/* The frame behind one of a packet that was cut. */
static struct rte_mbuf *next_frame(const struct rte_mbuf *in_place, struct rte_mbuf *m)
{
	return is_cut(in_place) ? packet(m)->next : NULL;
}

static struct rte_mbuf **place(struct send_order *o, uint32_t number)
{
	return &o->at[number & (window - 1)];
}

/* --- users --- */

static struct send_order *take_free(void)
{
	static uint32_t hint;
	uint32_t from = __atomic_load_n(&hint, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < norders; i++) {
		struct send_order *o = &orders[(from + i) % norders];
		uint32_t none = 0;

		if (!__atomic_compare_exchange_n(&o->users, &none, CHANGING, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&hint, from + i + 1, __ATOMIC_RELAXED);
		return o;
	}
	return NULL;
}

struct send_order *send_order_begin(uint32_t sa, uint32_t generation, uint32_t next,
				    unsigned int sender)
{
	struct send_order *o = sa < slots ? take_free() : NULL;

	if (!o)
		return NULL;
	o->sa = sa;
	o->generation = generation;
	o->sender = sender;
	o->next = next;
	rte_spinlock_init(&o->sending);
	for (uint32_t i = 0; i < window; i++)
		*place(o, next + i) = free_for(next + i);
	__atomic_store_n(&o->users, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&by_slot[sa], (uint16_t)(o - orders + 1), __ATOMIC_RELEASE);
	return o;
}

static void free_frames(struct send_order *o)
{
	struct rte_mbuf *m, *next;

	for (uint32_t i = 0; i < window; i++) {
		for (m = first_frame(o->at[i]); m; m = next) {
			next = next_frame(o->at[i], m);
			rte_pktmbuf_free(m);
		}
	}
}

static void end(struct send_order *o)
{
	uint16_t own = (uint16_t)(o - orders + 1);

	/* A later SA in the slot may have another one. */
	__atomic_compare_exchange_n(&by_slot[o->sa], &own, 0, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	/* The users have put all numbers, and the last one has left nothing ready: there are frames only if workers end
	 * in the middle. */
	free_frames(o);
	__atomic_store_n(&o->users, 0, __ATOMIC_RELEASE);
}

static void drop_user(struct send_order *o)
{
	uint32_t users = __atomic_load_n(&o->users, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(&o->users, &users, users == 1 ? CHANGING : users - 1,
					    false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		continue;
	if (users == 1)
		end(o);
}

struct send_order *send_order_join(uint32_t sa, uint32_t generation)
{
	uint16_t which = sa < slots ? __atomic_load_n(&by_slot[sa], __ATOMIC_ACQUIRE) : 0;
	struct send_order *o = which ? &orders[which - 1] : NULL;
	/* The last user has stored its numbers before it leaves. */
	uint32_t users = o ? __atomic_load_n(&o->users, __ATOMIC_ACQUIRE) : 0;

	do {
		if (!users || users == CHANGING)
			return NULL;
	} while (!__atomic_compare_exchange_n(&o->users, &users, users + 1, false, __ATOMIC_ACQUIRE,
					      __ATOMIC_ACQUIRE));
	if (o->sa == sa && o->generation == generation)
		return o;
	drop_user(o);
	return NULL;
}

bool send_order_exists(uint32_t sa)
{
	return sa < slots && __atomic_load_n(&by_slot[sa], __ATOMIC_RELAXED);
}

/* --- sending --- */

static uint32_t next_of(const struct send_order *o)
{
	return __atomic_load_n(&o->next, __ATOMIC_ACQUIRE);
}

static bool has_come(struct send_order *o, uint32_t number)
{
	return !is_missing(__atomic_load_n(place(o, number), __ATOMIC_RELAXED));
}

static bool is_ready(struct send_order *o)
{
	return has_come(o, next_of(o));
}

static void add(struct mbuf_batch *batch, struct rte_mbuf *in_place)
{
	struct rte_mbuf *m;

	for (m = first_frame(in_place); m; m = next_frame(in_place, m)) {
		rte_prefetch0(m);
		batch->m[batch->n++] = m;
	}
}

/* Whether the frames of a packet that was cut go into what is left of a batch. */
static bool fits(const struct mbuf_batch *batch, struct rte_mbuf *in_place)
{
	unsigned int n = batch->n;

	for (struct rte_mbuf *m = first_frame(in_place); m; m = next_frame(in_place, m))
		n++;
	return n <= RTE_DIM(batch->m);
}

/* @return what comes with a number at this moment; NULL: nothing, and the number is given up */
static struct rte_mbuf *give_up(struct worker *w, struct send_order *o, uint32_t number)
{
	struct rte_mbuf *m = free_for(number);

	if (!__atomic_compare_exchange_n(place(o, number), &m, free_for(number + window), false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return m;
	w->stats->order_gaps++;
	return NULL;
}

/* Take the frames from the next one on, up to the first that is missing at or behind `to`. The lock is held.
 * @return false: the batch is full before that */
static bool collect(struct worker *w, struct send_order *o, uint32_t to, struct mbuf_batch *batch)
{
	uint32_t next = o->next;
	bool all = false;

	for (; batch->n < RTE_DIM(batch->m); next++) {
		struct rte_mbuf **at = place(o, next), *m = __atomic_load_n(at, __ATOMIC_ACQUIRE);

		all = is_missing(m) && (int32_t)(to - next) <= 0;
		if (all)
			break;
		if (is_missing(m) && !(m = give_up(w, o, next)))
			continue;
		if (unlikely(is_cut(m)) && !fits(batch, m))
			break;
		/* Nobody changes a place with a frame. */
		__atomic_store_n(at, free_for(next + window), __ATOMIC_RELEASE);
		add(batch, m);
	}
	__atomic_store_n(&o->next, next, __ATOMIC_RELEASE);
	return all;
}

/* Both locks are held. @return as collect() */
static bool send_batch(struct worker *w, struct send_order *o, uint32_t to)
{
	struct mbuf_batch batch;
	bool all;

	batch.n = 0;
	all = collect(w, o, to, &batch);
	tx_send_by(w, &batch, o->sender);
	return all;
}

/* Have everything below a number leave, and give up what is missing of it. */
static void advance(struct worker *w, struct send_order *o, uint32_t to)
{
	rte_spinlock_lock(&o->sending);
	tx_lock(o->sender);
	while (!send_batch(w, o, to))
		continue;
	tx_unlock(o->sender);
	rte_spinlock_unlock(&o->sending);
}

/* Send what is ready, if no other worker sends by the same queues. @return false: one does */
static bool try_to_send(struct worker *w, struct send_order *o)
{
	bool tried = false;

	if (!rte_spinlock_trylock(&o->sending))
		return false;
	if (tx_trylock(o->sender)) {
		send_batch(w, o, o->next);
		tx_unlock(o->sender);
		tried = true;
	}
	rte_spinlock_unlock(&o->sending);
	return tried;
}

/* What is put while another worker sends is found by one of the two: the one looks again after it has unlocked, the other
 * one has put before it sees the lock. Otherwise the one that has put it looks again in its next turn. */
static void drain(struct worker *w, struct send_order *o, unsigned int most)
{
	while (most-- && is_ready(o) && try_to_send(w, o))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* --- frames that wait --- */

static void remove_waiting(struct worker *w, unsigned int i)
{
	w->waiting[i] = w->waiting[--w->nwaiting];
}

static void note_waiting(struct worker *w, struct send_order *o, uint32_t until)
{
	uint32_t next = next_of(o);

	if ((int32_t)(next - until) > 0)
		return;
	for (unsigned int i = 0; i < w->nwaiting; i++) {
		if (w->waiting[i].order == o) {
			if ((int32_t)(until - w->waiting[i].until) > 0)
				w->waiting[i].until = until;
			return;
		}
	}
	if (w->nwaiting == RTE_DIM(w->waiting)) {
		advance(w, o, until + 1);
		return;
	}
	w->waiting[w->nwaiting++] = (struct frames_waiting){o, next, until, until, w->now};
}

/* Numbers that no packet has got, and what is left to count. */
static void settle(struct worker *w, struct session *s)
{
	uint64_t first;
	uint32_t rest = out_rest(s, &first);

	for (uint32_t i = 0; i < rest; i++)
		send_nothing(w, s, first + i);
	out_flush(s, cygnet_sa_get(sadb, s->sa, s->generation));
}

static void flush_session(struct worker *w, struct session *s)
{
	settle(w, s);
	drain(w, s->order, MOST_BATCHES);
	if (s->put)
		note_waiting(w, s->order, s->put_last);
	s->put = s->noted = false;
}

void send_order_flush(struct worker *w)
{
	for (unsigned int i = 0; i < w->nnoted; i++)
		flush_session(w, w->noted[i]);
	w->nnoted = 0;
}

/* @return false: nothing waits any more */
static bool look_at(struct worker *w, struct frames_waiting *f)
{
	uint32_t next;

	drain(w, f->order, MOST_BATCHES);
	next = next_of(f->order);
	if ((int32_t)(next - f->until) > 0)
		return false;
	if (next != f->next) {
		f->next = next;
		f->behind = f->until;
		f->since = w->now;
	} else if (w->now - f->since >= send_wait) {
		advance(w, f->order, f->behind + 1);
	}
	return true;
}

void send_order_turn(struct worker *w)
{
	for (unsigned int i = w->nwaiting; i--;)
		if (!look_at(w, &w->waiting[i]))
			remove_waiting(w, i);
}

void send_order_leave(struct worker *w, struct send_order *o)
{
	for (unsigned int i = w->nwaiting; i--;) {
		if (w->waiting[i].order != o)
			continue;
		advance(w, o, w->waiting[i].until + 1);
		remove_waiting(w, i);
	}
	drop_user(o);
}

/* --- frames that come --- */

/* The number has been given up. */
static void send_late(struct worker *w, const struct send_order *o, struct rte_mbuf *m)
{
	struct mbuf_batch batch;

	batch.n = 0;
	add(&batch, m);
	tx_lock(o->sender);
	tx_send_by(w, &batch, o->sender);
	tx_unlock(o->sender);
}

/* @return false: the number has been given up */
static bool put_in_place(struct send_order *o, uint32_t number, struct rte_mbuf *m)
{
	struct rte_mbuf *before = free_for(number);

	return __atomic_compare_exchange_n(place(o, number), &before, m, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

void send_order_note(struct worker *w, struct session *s)
{
	if (s->noted)
		return;
	if (w->nnoted == RTE_DIM(w->noted))
		send_order_flush(w);
	s->noted = true;
	w->noted[w->nnoted++] = s;
}

static void put(struct worker *w, struct session *s, uint32_t number, struct rte_mbuf *m)
{
	struct send_order *o = s->order;

	send_order_note(w, s);
	if (m != NOTHING) {
		s->put_last = number;
		s->put = true;
	}
	if (unlikely((int32_t)(number - next_of(o)) >= (int32_t)window))
		advance(w, o, number - window + 1);
	if (unlikely(!put_in_place(o, number, m)))
		send_late(w, o, m);
}

void send_in_order(struct worker *w, struct rte_mbuf *m, unsigned int interface, struct session *s,
		   uint64_t seq)
{
	m->port = (uint16_t)interface;
	put(w, s, (uint32_t)seq, m);
}

void send_cut_in_order(struct worker *w, struct rte_mbuf **parts, unsigned int n,
		       unsigned int interface, struct session *s, uint64_t seq)
{
	for (unsigned int i = 0; i < n; i++) {
		parts[i]->port = (uint16_t)interface;
		packet(parts[i])->next = i + 1 < n ? parts[i + 1] : NULL;
	}
	put(w, s, (uint32_t)seq, (struct rte_mbuf *)((uintptr_t)parts[0] | CUT));
}

void send_nothing(struct worker *w, struct session *s, uint64_t seq)
{
	if (s->shared && seq)
		put(w, s, (uint32_t)seq, NOTHING);
}
