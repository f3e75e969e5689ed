/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_cycles.h>

#include "base/sadb.h"
#include "crypto/device/pool.h"
#include "path/early.h"
#include "path/to_sa.h"
#include "path/worker/audit.h"
#include "path/worker/trace_note.h"

static bool is_same(const struct early_id *a, const struct early_id *b)
{
	return a->spi == b->spi && a->proto == b->proto && a->af == b->af &&
	       !memcmp(&a->dst, &b->dst, sizeof(a->dst));
}

static struct early_spi *find(struct early *early, const struct early_id *id)
{
	for (unsigned int i = 0; i < early->n; i++)
		if (is_same(&early->of[i].id, id))
			return &early->of[i];
	return NULL;
}

static struct early_spi *begin(struct worker *w, const struct early_id *id)
{
	struct early_spi *of;

	if (w->early.n == RTE_DIM(w->early.of))
		return NULL;
	of = &w->early.of[w->early.n++];
	*of = (struct early_spi){
		.id = *id,
		.until = w->now + EARLY_SECONDS * rte_get_tsc_hz(),
	};
	return of;
}

bool early_keep(struct worker *w, struct rte_mbuf *m, const struct early_id *id)
{
	struct early_spi *of;

	/* There are few buffers for packets that were put together. */
	if ((packet_pool_large && m->pool == packet_pool_large) ||
	    !cygnet_sad_expects(sadb, id->spi, id->proto, id->af, &id->dst))
		return false;
	if (unlikely(w->trace != NULL)) {
		trace_wait(w->trace, DROP_BAD_SPI, "its SA, whose SPI charon has allocated");
		return true;
	}
	of = find(&w->early, id);
	if (!of && w->early.packets < EARLY_PACKETS)
		of = begin(w, id);
	if (!of || of->n == EARLY_PER_SPI || w->early.packets == EARLY_PACKETS)
		return false;
	packet(m)->next = NULL;
	*(of->n ? &packet(of->tail)->next : &of->head) = m;
	of->tail = m;
	of->n++;
	w->early.packets++;
	w->stats->came_early++;
	return true;
}

/* Process the packets of an SPI, or drop them, and forget it.
 * @param sa  NULL: there is none */
static void settle(struct worker *w, struct early_spi *of, struct cygnet_sa *sa)
{
	const struct early_spi was = *of;
	struct rte_mbuf *m = was.head, *next;

	*of = w->early.of[--w->early.n];
	w->early.packets -= was.n;
	for (; m; m = next) {
		next = packet(m)->next;
		if (sa)
			to_sa_in(w, m, sa);
		else
			audit_drop_unknown(w, m, was.id.proto, was.id.spi,
					   (uint32_t)packet(m)->seq);
	}
}

static struct cygnet_sa *sa_of(const struct early_id *id)
{
	return cygnet_sad_lookup(sadb, id->spi, id->proto, id->af, &id->dst);
}

static bool is_in_vain(const struct worker *w, const struct early_spi *of)
{
	const struct early_id *id = &of->id;

	return w->now >= of->until ||
	       !cygnet_sad_expects(sadb, id->spi, id->proto, id->af, &id->dst);
}

void early_release(struct worker *w, const struct early_id *id, struct cygnet_sa *sa)
{
	struct early_spi *of = find(&w->early, id);

	if (of)
		settle(w, of, sa);
}

void early_turn(struct worker *w)
{
	for (unsigned int i = w->early.n; i--;) {
		struct early_spi *of = &w->early.of[i];
		struct cygnet_sa *sa = sa_of(&of->id);

		if (sa || is_in_vain(w, of))
			settle(w, of, sa);
		/* As many as a burst: the crypto devices have room for these. */
		if (sa)
			return;
	}
}

void early_drop(struct worker *w)
{
	for (; w->early.n; w->early.n--) {
		struct rte_mbuf *m = w->early.of[w->early.n - 1].head, *next;

		for (; m; m = next) {
			next = packet(m)->next;
			drop(w, m, DROP_BAD_SPI);
		}
	}
	w->early.packets = 0;
}
