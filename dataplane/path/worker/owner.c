/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/sadb.h"
#include "path/worker/handoff.h"
#include "path/worker/owner.h"
#include "path/worker/share.h"

/* A worker owns at most its part of all SAs, a quarter more, and some, before the next one goes to another worker. */
#define SPARE_PART 4u /* 1 / part */
#define SPARE \
	64u /* those of a burst: another worker may receive its first packets a moment later */

uint32_t sa_owners[CYGNET_MAX_ENTRIES];
static uint32_t owned_by[CONF_MAX_WORKERS]; /* number of values of sa_owners[]; atomic */

/* --- who owns an SA --- */

static uint32_t number_of(unsigned int worker)
{
	return __atomic_load_n(&owned_by[worker], __ATOMIC_RELAXED);
}

/* This worker, or the one with the fewest SAs. An SA that is gone counts until its slot has another one. Once every worker
 * has had as many as it has sessions for, that bound says nothing any more. */
static unsigned int choose(const struct worker *w)
{
	uint32_t sum = 0, quota;
	unsigned int least = 0;

	for (unsigned int i = 0; i < w->workers; i++) {
		sum += number_of(i);
		if (number_of(i) < number_of(least))
			least = i;
	}
	quota = sum / w->workers;
	quota += quota / SPARE_PART + SPARE;
	if (number_of(least) < w->sas_most)
		quota = RTE_MIN(quota, w->sas_most);
	return number_of(w->id) < quota ? w->id : least;
}

bool owner_set(uint32_t sa, uint32_t *was, uint32_t owned)
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

/* The CPU that an outbound SA is for, or CYGNET_CPU_ANY. */
static int cpu_of(struct rte_mbuf *m)
{
	const struct packet *p = packet(m);
	const struct cygnet_sa *sa = cygnet_sa_get(sadb, p->sa, p->generation);

	return sa && !(sa->flags & CYGNET_SA_INBOUND) ? cygnet_sa_cpu(sa) : CYGNET_CPU_ANY;
}

unsigned int owner_assign(const struct worker *w, struct rte_mbuf *m, uint32_t owned)
{
	uint32_t sa = packet(m)->sa, generation = packet(m)->generation;
	int cpu = cpu_of(m);
	unsigned int owner;

	if (w->trace)
		return w->id;
	if (cpu != CYGNET_CPU_ANY)
		owner = (unsigned int)cpu % w->workers;
	else
		owner = shows_the_way(m) ? choose(w) : sa % w->workers;
	while (!owner_set(sa, &owned, OWNED_BY(generation, owner)))
		if (owner_is_of(owned, generation))
			return owner_in(owned);
	return owner;
}

void owners_reset(uint32_t slots)
{
	memset(sa_owners, 0, slots * sizeof(sa_owners[0]));
	memset(owned_by, 0, sizeof(owned_by));
}

/* --- packets --- */

static bool is_arriving(const struct worker *w, uint32_t sa)
{
	return w->arriving && w->arriving - 1 == sa;
}

static void keep(struct worker *w, struct rte_mbuf *m)
{
	if (w->nkept == OWNER_KEEP_MOST) {
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

	if (unlikely(is_arriving(w, sa)) && (owner == w->id || w->sharing.joined)) {
		packet(m)->stage = (uint8_t)stage;
		keep(w, m);
		return;
	}
	if (owner != w->id && stage == STAGE_FIT)
		share_want(w, m);
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

void owner_take_kept(struct worker *w, owner_taken take)
{
	struct rte_mbuf *m = w->kept, *next;

	w->arriving = 0;
	for (; w->nkept; w->nkept--, m = next) {
		next = packet(m)->next;
		take(w, m);
	}
}

static void drop_kept(struct worker *w, struct rte_mbuf *m)
{
	drop(w, m, DROP_SA_GONE);
}

void owner_drop(struct worker *w)
{
	owner_take_kept(w, drop_kept);
	w->leaving = 0;
}
