/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/acquire.h"
#include "ip/packet.h"
#include "path/worker/sa_wait_list.h"

static uint32_t hash_of(const struct cygnet_flow *flow)
{
	struct cygnet_addr addr[2] = {flow->src, flow->dst};

	return acquire_hash(addr, sizeof(addr)) % SA_WAIT_HEADS;
}

struct sa_wait_key sa_wait_key(const struct cygnet_policy *policy, const struct cygnet_flow *flow)
{
	struct sa_wait_key key = {
		.policy = policy,
		.generation = policy->generation,
		.reqid = __atomic_load_n(&policy->reqid, __ATOMIC_RELAXED),
		.hash = hash_of(flow),
	};

	acquire_flow(policy, flow, &key.flow);
	return key;
}

static bool has_addresses(const struct sa_wait_pair *pair, const struct cygnet_flow *flow)
{
	return pair->key.flow.af == flow->af &&
	       !memcmp(&pair->key.flow.src, &flow->src, sizeof(flow->src)) &&
	       !memcmp(&pair->key.flow.dst, &flow->dst, sizeof(flow->dst));
}

static struct sa_wait_pair *find_addresses(struct sa_wait_pair *pair,
					   const struct cygnet_flow *flow)
{
	while (pair && !has_addresses(pair, flow))
		pair = LIST_NEXT(pair, same_hash);
	return pair;
}

struct sa_wait_pair *sa_wait_first(struct sa_wait_list *list, const struct cygnet_flow *flow)
{
	return find_addresses(LIST_FIRST(&list->by_hash[hash_of(flow)]), flow);
}

struct sa_wait_pair *sa_wait_next(struct sa_wait_pair *pair)
{
	return find_addresses(LIST_NEXT(pair, same_hash), &pair->key.flow);
}

static bool is_same(const struct sa_wait_key *a, const struct sa_wait_key *b)
{
	return a->policy == b->policy && a->generation == b->generation &&
	       a->flow.proto == b->flow.proto && a->flow.sport == b->flow.sport &&
	       a->flow.dport == b->flow.dport;
}

struct sa_wait_pair *sa_wait_find(struct sa_wait_list *list, const struct sa_wait_key *key)
{
	struct sa_wait_pair *pair = LIST_FIRST(&list->by_hash[key->hash]);

	pair = find_addresses(pair, &key->flow);
	while (pair && !is_same(&pair->key, key))
		pair = sa_wait_next(pair);
	return pair;
}

static struct sa_wait_pair *unused(struct sa_wait_list *list)
{
	struct sa_wait_pair *pair = LIST_FIRST(&list->free);

	if (!pair)
		return &list->pair[list->used++];
	LIST_REMOVE(pair, same_hash);
	return pair;
}

/* All bytes of a new list are zero. Only its queues need more. */
#define QUEUE_BEGIN(queue) \
	do { \
		if (!(queue)->tqh_last) \
			TAILQ_INIT(queue); \
	} while (0)

/* pair[] has an entry for each packet, and one for the pair of sa_wait_take(), which is empty. */
static struct sa_wait_pair *add(struct sa_wait_list *list, const struct sa_wait_key *key)
{
	struct sa_wait_pair *pair = unused(list);
	uint64_t source = acquire_hash(&key->flow.src, sizeof(key->flow.src));

	*pair = (struct sa_wait_pair){.key = *key};
	pair->reqid = &list->reqid[key->reqid % SA_WAIT_REQIDS];
	pair->source = &pair->reqid->source[source % SA_WAIT_SOURCES];
	QUEUE_BEGIN(&list->lru);
	QUEUE_BEGIN(&pair->source->pairs);
	LIST_INSERT_HEAD(&list->by_hash[key->hash], pair, same_hash);
	TAILQ_INSERT_TAIL(&list->lru, pair, lru);
	TAILQ_INSERT_TAIL(&pair->source->pairs, pair, source_lru);
	return pair;
}

static void leave_pass(struct sa_wait_list *list, const struct sa_wait_pair *pair)
{
	if (list->next == pair)
		list->next = TAILQ_NEXT(pair, lru);
}

void sa_wait_release(struct sa_wait_list *list, struct sa_wait_pair *pair)
{
	if (pair->n)
		return;
	leave_pass(list, pair);
	TAILQ_REMOVE(&pair->source->pairs, pair, source_lru);
	TAILQ_REMOVE(&list->lru, pair, lru);
	LIST_REMOVE(pair, same_hash);
	LIST_INSERT_HEAD(&list->free, pair, same_hash);
}

void sa_wait_acquired(struct sa_wait_list *list, struct sa_wait_pair *pair)
{
	leave_pass(list, pair);
	TAILQ_REMOVE(&list->lru, pair, lru);
	TAILQ_INSERT_TAIL(&list->lru, pair, lru);
	TAILQ_REMOVE(&pair->source->pairs, pair, source_lru);
	TAILQ_INSERT_TAIL(&pair->source->pairs, pair, source_lru);
}

static void count(struct sa_wait_list *list, struct sa_wait_pair *pair, int packets)
{
	list->n += (unsigned int)packets;
	pair->n += (unsigned int)packets;
	pair->reqid->packets += (unsigned int)packets;
	pair->source->packets += (unsigned int)packets;
}

struct rte_mbuf *sa_wait_take(struct sa_wait_list *list, struct sa_wait_pair *pair)
{
	struct rte_mbuf *m = pair->head;

	pair->head = pair->tail = NULL;
	count(list, pair, -(int)pair->n);
	return m;
}

static void drop_oldest(struct sa_wait_list *list, struct stats *counters,
			struct sa_wait_pair *pair)
{
	struct rte_mbuf *m = pair->head;

	pair->head = packet(m)->next;
	count(list, pair, -1);
	packet_drop(counters, m, DROP_NO_SA);
}

/* @return the oldest pair with these addresses if they have as many packets as they may; else NULL */
static struct sa_wait_pair *oldest_of_full(struct sa_wait_list *list,
					   const struct cygnet_flow *flow)
{
	struct sa_wait_pair *oldest = NULL;
	unsigned int n = 0;

	/* A bucket has the newest pair first. */
	for (struct sa_wait_pair *pair = sa_wait_first(list, flow); pair;
	     pair = sa_wait_next(pair)) {
		n += pair->n;
		oldest = pair;
	}
	return n < SA_WAIT_PER_ADDRESSES ? NULL : oldest;
}

static struct sa_wait_pair *pair_to_evict(struct sa_wait_list *list)
{
	struct sa_wait_reqid *reqid = &list->reqid[0];
	struct sa_wait_source *source;

	for (unsigned int i = 1; i < SA_WAIT_REQIDS; i++)
		if (list->reqid[i].packets > reqid->packets)
			reqid = &list->reqid[i];
	source = &reqid->source[0];
	for (unsigned int i = 1; i < SA_WAIT_SOURCES; i++)
		if (reqid->source[i].packets > source->packets)
			source = &reqid->source[i];
	return TAILQ_FIRST(&source->pairs);
}

static void evict_if_full(struct sa_wait_list *list, struct stats *counters,
			  const struct sa_wait_key *key)
{
	struct sa_wait_pair *pair = sa_wait_find(list, key);

	if (pair && pair->n == SA_WAIT_PER_PAIR) {
		drop_oldest(list, counters, pair);
		return;
	}
	pair = oldest_of_full(list, &key->flow);
	if (!pair && list->n == SA_WAIT_PACKETS)
		pair = pair_to_evict(list);
	if (pair) {
		drop_oldest(list, counters, pair);
		sa_wait_release(list, pair);
	}
}

struct sa_wait_pair *sa_wait_enqueue(struct sa_wait_list *list, struct stats *counters,
				     struct rte_mbuf *m, const struct sa_wait_key *key)
{
	struct sa_wait_pair *pair;

	evict_if_full(list, counters, key);
	/* evict_if_full() may have released the pair. */
	pair = sa_wait_find(list, key);
	if (!pair)
		pair = add(list, key);
	packet(m)->next = NULL;
	*(pair->n ? &packet(pair->tail)->next : &pair->head) = m;
	pair->tail = m;
	count(list, pair, 1);
	return pair;
}
