/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/random.h"
#include "ip/packet.h"
#include "ip/partial.h"
#include "ip/tos.h"

/* An incomplete packet. */
struct partial {
	LIST_ENTRY(partial) same; /* entries with the same hash, or free entries */
	TAILQ_ENTRY(partial) age;
	struct partial_key key;
	uint64_t touched;	      /* TSC */
	struct rte_mbuf *head, *tail; /* by offset; packet()->next */
	unsigned int parts;
	unsigned int have, total; /* bytes of payload; total 0: no last fragment yet */
	unsigned int front, longest;
	uint8_t ecn;
	bool bad; /* all further fragments are dropped */
};

LIST_HEAD(partials, partial);

struct partial_table {
	struct partials *bucket, free;
	TAILQ_HEAD(, partial) aged; /* least recently touched first */
	struct partial *all;
	uint32_t mask;
	struct random_key key;
	unsigned int parts, most;
	uint64_t wait, *dropped;
};

struct partial_table *partial_create(unsigned int parts, uint64_t wait, uint64_t *dropped)
{
	struct partial_table *table = calloc(1, sizeof(*table));
	uint32_t buckets = rte_align32pow2(parts);

	if (!table)
		return NULL;
	table->all = calloc(parts, sizeof(*table->all));
	table->bucket = calloc(buckets, sizeof(*table->bucket));
	/* A random key, so that an attacker cannot choose fragments that collide. */
	if (!table->all || !table->bucket || random_fill(&table->key, sizeof(table->key))) {
		partial_free(table);
		return NULL;
	}
	table->mask = buckets - 1;
	table->most = parts;
	table->wait = wait;
	table->dropped = dropped;
	TAILQ_INIT(&table->aged);
	for (unsigned int i = 0; i < parts; i++)
		LIST_INSERT_HEAD(&table->free, &table->all[i], same);
	return table;
}

unsigned int partial_release(struct rte_mbuf *parts)
{
	struct rte_mbuf *next;
	unsigned int n = 0;

	for (; parts; parts = next, n++) {
		next = packet(parts)->next;
		rte_pktmbuf_free(parts);
	}
	return n;
}

static void drop_parts(struct partial_table *table, struct partial *p)
{
	*table->dropped += partial_release(p->head);
	table->parts -= p->parts;
	p->head = p->tail = NULL;
	p->parts = 0;
}

static void forget(struct partial_table *table, struct partial *p)
{
	LIST_REMOVE(p, same);
	TAILQ_REMOVE(&table->aged, p, age);
	LIST_INSERT_HEAD(&table->free, p, same);
}

static void give_up(struct partial_table *table, struct partial *p)
{
	drop_parts(table, p);
	forget(table, p);
}

void partial_free(struct partial_table *table)
{
	if (!table)
		return;
	while (table->all && table->bucket && !TAILQ_EMPTY(&table->aged))
		give_up(table, TAILQ_FIRST(&table->aged));
	free(table->bucket);
	free(table->all);
	free(table);
}

static struct partials *bucket_of(struct partial_table *table, const struct partial_key *key)
{
	return &table->bucket[random_hash(&table->key, key, sizeof(*key)) & table->mask];
}

static struct partial *find(const struct partials *bucket, const struct partial_key *key)
{
	struct partial *p;

	LIST_FOREACH(p, bucket, same)
	if (!memcmp(&p->key, key, sizeof(*key)))
		return p;
	return NULL;
}

static struct partial *begin(struct partial_table *table, struct partials *bucket,
			     const struct partial_key *key)
{
	struct partial *p;

	if (LIST_EMPTY(&table->free))
		give_up(table, TAILQ_FIRST(&table->aged));
	p = LIST_FIRST(&table->free);
	LIST_REMOVE(p, same);
	*p = (struct partial){.key = *key};
	LIST_INSERT_HEAD(bucket, p, same);
	TAILQ_INSERT_TAIL(&table->aged, p, age);
	return p;
}

/* @return the packet of a key, moved to the end of aged */
static struct partial *touch(struct partial_table *table, const struct partial_key *key,
			     uint64_t now)
{
	struct partials *bucket = bucket_of(table, key);
	struct partial *p = find(bucket, key);

	if (p && now - p->touched > table->wait) {
		give_up(table, p);
		p = NULL;
	}
	if (!p)
		p = begin(table, bucket, key);
	TAILQ_REMOVE(&table->aged, p, age);
	TAILQ_INSERT_TAIL(&table->aged, p, age);
	p->touched = now;
	return p;
}

static unsigned int end_of(struct rte_mbuf *m)
{
	return packet(m)->part_at + rte_pktmbuf_data_len(m);
}

/* The last fragment that begins before offset; NULL: none. Fragments usually arrive in order. */
static struct rte_mbuf *before(const struct partial *p, unsigned int offset)
{
	struct rte_mbuf *last = NULL;

	if (p->tail && packet(p->tail)->part_at < offset)
		return p->tail;
	for (struct rte_mbuf *m = p->head; m && packet(m)->part_at < offset; m = packet(m)->next)
		last = m;
	return last;
}

/* Whether all fragments agree on the end of the packet. */
static bool end_is_one(const struct partial *p, unsigned int end, bool more)
{
	if (p->total)
		return more ? end < p->total : end == p->total;
	return more || !p->tail || end_of(p->tail) < end;
}

/* Whether a fragment is an exact duplicate. */
static bool is_again(const struct rte_mbuf *m, const struct rte_mbuf *there)
{
	return rte_pktmbuf_data_len(m) == rte_pktmbuf_data_len(there) &&
	       !memcmp(rte_pktmbuf_mtod(m, const void *), rte_pktmbuf_mtod(there, const void *),
		       rte_pktmbuf_data_len(m));
}

enum verdict { TAKEN, AGAIN, CONTRADICTS };

static enum verdict insert(struct partial *p, struct rte_mbuf *m, bool more)
{
	unsigned int offset = packet(m)->part_at, end = end_of(m);
	struct rte_mbuf *prev = before(p, offset), *next = prev ? packet(prev)->next : p->head;

	if (!end_is_one(p, end, more))
		return CONTRADICTS;
	if (next && packet(next)->part_at == offset && is_again(m, next))
		return AGAIN;
	if ((prev && end_of(prev) > offset) || (next && packet(next)->part_at < end))
		return CONTRADICTS;
	if (!more)
		p->total = end;
	p->have += rte_pktmbuf_data_len(m);
	p->parts++;
	packet(m)->next = next;
	*(prev ? &packet(prev)->next : &p->head) = m;
	if (!next)
		p->tail = m;
	return TAKEN;
}

/* @return TAKEN; else the caller still owns the fragment, whose data is its payload */
static enum verdict take(struct partial_table *table, struct partial *p, struct rte_mbuf *m,
			 const struct partial_part *part)
{
	unsigned int len = rte_pktmbuf_data_len(m);
	uint8_t ecn = (uint8_t)(1u << (tos_get(m) & TOS_ECN));
	enum verdict verdict;

	rte_pktmbuf_adj(m, (uint16_t)part->front);
	packet(m)->part_at = (uint16_t)part->offset;
	if (p->bad || p->parts == PARTIAL_PARTS_MAX)
		return CONTRADICTS;
	verdict = insert(p, m, part->more);
	if (verdict != TAKEN)
		return verdict;
	if (!part->offset)
		p->front = part->front;
	p->longest = RTE_MAX(p->longest, len);
	p->ecn |= ecn;
	table->parts++;
	return TAKEN;
}

bool partial_add(struct partial_table *table, const struct partial_key *key, struct rte_mbuf *m,
		 const struct partial_part *part, uint64_t now, struct partial_whole *whole)
{
	struct partial *p = touch(table, key, now);
	enum verdict verdict = take(table, p, m, part);

	if (verdict != TAKEN) {
		rte_pktmbuf_free(m);
		++*table->dropped;
	}
	if (verdict == CONTRADICTS) {
		/* Drop later fragments of the packet as well. */
		drop_parts(table, p);
		p->bad = true;
	}
	while (table->parts > table->most)
		give_up(table, TAILQ_FIRST(&table->aged));
	if (verdict != TAKEN || p->have != p->total)
		return false;
	*whole = (struct partial_whole){p->head, p->front, p->total, p->longest, p->ecn};
	table->parts -= p->parts;
	forget(table, p);
	return true;
}

void partial_expire(struct partial_table *table, uint64_t now)
{
	struct partial *p;

	while ((p = TAILQ_FIRST(&table->aged)) && now - p->touched > table->wait)
		give_up(table, p);
}
