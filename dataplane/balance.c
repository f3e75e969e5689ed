/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ring.h>

#include "balance.h"
#include "base/clock.h"
#include "base/sadb.h"
#include "base/settings.h"
#include "path/worker/move.h"
#include "path/worker/owner.h"
#include "path/worker/send_order.h"

#define PERIOD_MS     200u /* over which load is measured */
#define MOVES	      16u  /* planned at a time */
#define REST_S	      10u  /* an SA that has moved stays that long */
#define FULL_PERCENT  50u  /* of an inbox: the worker is overloaded */
#define BUSY_PERCENT  95u  /* of the time: the worker is overloaded */
#define FREE_PERCENT  80u  /* of the time: the worker can do more */
#define LEAST_PERCENT 12u  /* of a worker's load: a smaller difference is not worth a move */
/* Approximate cost of a packet apart from its length, in bytes. */
#define PACKET_COST 512u

struct load {
	uint64_t sas;	    /* work for its SAs in the last period, bytes */
	unsigned int busy;  /* percent of the period */
	unsigned int inbox; /* percent, the most that was seen */
};

struct move {
	uint32_t sa;
	unsigned int to;
};

static unsigned int slots;
static struct counted {
	uint64_t before; /* work since the SA was installed, at the start of the period */
	uint64_t work;	 /* in the period */
	uint64_t moved;	 /* clock_seconds() when it was moved; 0: never */
} * slot;		 /* by SA slot */
static bool measured;	 /* slot[].before is of the start of this period */
static uint64_t began;	 /* TSC */
static uint64_t busy_before[CONF_MAX_WORKERS]; /* cycles */
static struct load load[CONF_MAX_WORKERS];
static struct move planned[MOVES];
static unsigned int nplanned, next;

int balance_init(void)
{
	struct cygnet_db_info info;

	cygnet_db_info(sadb, &info);
	slots = info.geometry.sas;
	slot = calloc(slots, sizeof(*slot));
	return slot ? 0 : -ENOMEM;
}

void balance_free(void)
{
	free(slot);
	slot = NULL;
	measured = false;
	nplanned = next = 0;
}

/* --- measure --- */

static uint64_t count_of(const struct cygnet_sa *sa)
{
	return __atomic_load_n(&sa->bytes, __ATOMIC_RELAXED) +
	       __atomic_load_n(&sa->packets, __ATOMIC_RELAXED) * PACKET_COST;
}

/* Whether an SA is for the worker that it is at. */
static bool is_bound(const struct cygnet_sa *sa)
{
	return !(sa->flags & CYGNET_SA_INBOUND) && cygnet_sa_cpu(sa) != CYGNET_CPU_ANY;
}

/* What every worker protects packets with is no worker's work. */
static uint64_t work_of(uint32_t i, const struct cygnet_sa *sa)
{
	return sa && !send_order_exists(i) ? count_of(sa) : 0;
}

static bool may_move(uint32_t i)
{
	const struct cygnet_sa *sa = cygnet_sa_at(sadb, i);

	return sa && !is_bound(sa);
}

/* The counters of an SA that is new in its slot begin at zero. */
static void count_sas(void)
{
	for (unsigned int i = 0; i < slots; i++) {
		const struct cygnet_sa *sa = cygnet_sa_at(sadb, i);
		uint64_t now = work_of(i, sa);

		slot[i].work = measured && now >= slot[i].before ? now - slot[i].before : 0;
		slot[i].before = now;
	}
}

static void sum_sas(unsigned int workers_running)
{
	unsigned int owner;

	for (unsigned int w = 0; w < workers_running; w++)
		load[w].sas = 0;
	for (unsigned int i = 0; i < slots; i++)
		if (slot[i].work && owner_known(i, &owner))
			load[owner].sas += slot[i].work;
}

static unsigned int inbox_percent(const struct worker *w)
{
	return 100 * rte_ring_count(w->inbox) / rte_ring_get_capacity(w->inbox);
}

static void look_at_inboxes(unsigned int n)
{
	for (unsigned int w = 0; w < n; w++)
		load[w].inbox = RTE_MAX(load[w].inbox, inbox_percent(&workers[w]));
}

static void look_at_cycles(unsigned int n, uint64_t cycles)
{
	for (unsigned int w = 0; w < n; w++) {
		uint64_t busy = __atomic_load_n(&workers[w].stats->busy_cycles, __ATOMIC_RELAXED);

		load[w].busy = (unsigned int)((busy - busy_before[w]) * 100 / cycles);
		busy_before[w] = busy;
	}
}

static bool is_overloaded(const struct load *l)
{
	return l->inbox >= FULL_PERCENT || l->busy >= BUSY_PERCENT;
}

static bool any_is_overloaded(unsigned int n)
{
	for (unsigned int w = 0; w < n; w++)
		if (is_overloaded(&load[w]))
			return true;
	return false;
}

/* --- plan --- */

static unsigned int most_loaded(unsigned int n)
{
	unsigned int most = 0;

	for (unsigned int w = 1; w < n; w++)
		if (is_overloaded(&load[w]) &&
		    (!is_overloaded(&load[most]) || load[w].sas > load[most].sas))
			most = w;
	return most;
}

static unsigned int least_loaded(unsigned int n)
{
	unsigned int least = 0;

	for (unsigned int w = 1; w < n; w++)
		if (load[w].sas < load[least].sas)
			least = w;
	return least;
}

static bool rests(uint32_t sa)
{
	return slot[sa].moved && clock_seconds() - slot[sa].moved < REST_S;
}

/* The SA of worker `from` whose move leaves the smallest difference of load.
 * @param gap  the difference now. @return CYGNET_NONE: none makes it smaller */
static uint32_t choose(unsigned int from, uint64_t gap)
{
	uint64_t best = gap - gap / 8; /* what a move leaves of it */
	uint32_t chosen = CYGNET_NONE;
	unsigned int owner;

	for (uint32_t i = 0; i < slots; i++) {
		uint64_t left = 2 * slot[i].work > gap ? 2 * slot[i].work - gap
						       : gap - 2 * slot[i].work;

		if (slot[i].work && left < best && owner_known(i, &owner) && owner == from &&
		    !rests(i) && may_move(i)) {
			best = left;
			chosen = i;
		}
	}
	return chosen;
}

/* Without a full inbox, a move helps only if the other worker has time left. */
static bool can_take(const struct load *to, const struct load *from)
{
	return to->inbox < FULL_PERCENT && (from->inbox >= FULL_PERCENT || to->busy < FREE_PERCENT);
}

/* @return false: there is no move that helps */
static bool plan_one(unsigned int n)
{
	unsigned int from = most_loaded(n), to = least_loaded(n);
	uint64_t gap = load[from].sas - RTE_MIN(load[to].sas, load[from].sas);
	uint32_t sa;

	if (gap <= load[from].sas * LEAST_PERCENT / 100 || !can_take(&load[to], &load[from]))
		return false;
	sa = choose(from, gap);
	if (sa == CYGNET_NONE)
		return false;
	planned[nplanned++] = (struct move){sa, to};
	load[from].sas -= slot[sa].work;
	load[to].sas += slot[sa].work;
	slot[sa].work = 0; /* not twice */
	slot[sa].moved = clock_seconds();
	return true;
}

static void plan(unsigned int n)
{
	nplanned = next = 0;
	sum_sas(n);
	while (nplanned < MOVES && plan_one(n))
		continue;
}

/* --- the control thread's --- */

static void end_period(unsigned int n, uint64_t now)
{
	look_at_cycles(n, now - began);
	if (any_is_overloaded(n)) {
		count_sas();
		if (measured)
			plan(n);
		measured = true;
	} else {
		measured = false;
	}
	for (unsigned int w = 0; w < n; w++)
		load[w].inbox = 0;
	began = now;
}

void balance_turn(void)
{
	unsigned int n = workers[0].workers;
	uint64_t now = rte_get_tsc_cycles();

	if (n < 2 || !(settings_now() & SETTING_BALANCE))
		return;
	look_at_inboxes(n);
	if (move_is_under_way())
		return;
	if (next < nplanned) {
		move_begin(planned[next].sa, planned[next].to);
		next++;
		/* The counters were read before the moves. */
		measured = false;
		return;
	}
	if (now - began >= PERIOD_MS * rte_get_tsc_hz() / 1000)
		end_period(n, now);
}
