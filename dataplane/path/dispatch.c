/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_cycles.h>

#include "path/dispatch.h"
#include "path/finish.h"
#include "path/stages.h"
#include "path/worker/tx.h"

_Static_assert(STAGE_COUNTED <= STATS_MAX_STAGES, "each stage has counters");

void stage_tx(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		tx_frame(w, m[i], packet(m[i])->interface);
}

void stage_tap(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		tap_frame(w, m[i]);
}

static void (*const stage[STAGE_COUNT])(struct worker *w, struct rte_mbuf **m, unsigned int n) = {
	[STAGE_FROM_WIRE] = stage_from_wire,
	[STAGE_FROM_KERNEL] = stage_from_kernel,
	[STAGE_REASSEMBLE] = stage_reassemble,
	[STAGE_LOCAL] = stage_local,
	[STAGE_FORWARD] = stage_forward,
	[STAGE_DECRYPTED] = stage_decrypted,
	[STAGE_OUTBOUND] = stage_outbound,
	[STAGE_FIND_SA] = stage_find_sa,
	[STAGE_FIT] = stage_fit,
	[STAGE_PROTECT] = stage_protect,
	[STAGE_UNPROTECT] = stage_unprotect,
	[STAGE_ROUTE] = stage_route,
	[STAGE_TO_KERNEL] = stage_to_kernel,
	[STAGE_TX] = stage_tx,
	[STAGE_TAP] = stage_tap,
};

/* Stages that ask for a session, and fill the crypto batch. */
#define BATCH_STAGES (1u << STAGE_FIT | 1u << STAGE_PROTECT | 1u << STAGE_UNPROTECT)

uint64_t dispatch_began(const struct worker *w)
{
	return unlikely(w->count_stages) ? rte_rdtsc() : 0;
}

void dispatch_count(struct worker *w, unsigned int number, unsigned int packets, uint64_t began)
{
	struct stats_stage *s = &w->stats->stage[number];

	if (likely(!began))
		return;
	s->packets += packets;
	s->vectors++;
	s->cycles += rte_rdtsc() - began;
}

static void run_stage(struct worker *w, enum stage number, unsigned int most)
{
	struct rte_mbuf *m[STAGE_VECTOR];
	unsigned int n = stage_take(&w->stages, number, m, most);
	uint64_t began = dispatch_began(w);

	for (unsigned int i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
	w->stages.running = number + 1;
	stage[number](w, m, n);
	w->stages.running = 0;
	dispatch_count(w, number, n, began);
}

bool dispatch_stage(struct worker *w)
{
	struct stages *s = &w->stages;
	unsigned int room = s->blocked ? 0 : CRYPTO_BATCH - w->crypto.batch.n, first;
	uint32_t can_run = room ? s->waiting : s->waiting & ~BATCH_STAGES;

	if (!can_run)
		return false;
	first = (unsigned int)__builtin_ctz(can_run);
	run_stage(w, (enum stage)first, BATCH_STAGES >> first & 1 ? room : STAGE_VECTOR);
	return true;
}

void dispatch_stages(struct worker *w)
{
	while (w->stages.waiting && dispatch_stage(w))
		;
}

static void run_crypto(struct worker *w)
{
	unsigned int n = w->crypto.batch.n;
	uint64_t began = dispatch_began(w);

	crypto_run(&w->crypto);
	dispatch_count(w, STAGE_CRYPTO, n, began);
	began = dispatch_began(w);
	finish_batch(w);
	dispatch_count(w, STAGE_FINISH, n, began);
	w->stages.blocked = false;
}

static void run_ready(struct worker *w)
{
	uint64_t began = dispatch_began(w);
	unsigned int n = finish_ready(w);

	dispatch_count(w, STAGE_FINISH, n, began);
}

void dispatch(struct worker *w)
{
	for (;;) {
		dispatch_stages(w);
		if (w->crypto.batch.n)
			run_crypto(w);
		else if (w->crypto.ready)
			run_ready(w);
		else
			return;
	}
}
