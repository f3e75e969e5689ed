/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pool.h"
#include "qsbr.h"
#include "sad.h"

static void *slot_at(const struct slots *s, uint32_t index)
{
	return s->base + (size_t)index * s->size;
}

#define FIELD(s, index, type, name) ((type *)(void *)((uint8_t *)slot_at(s, index) + (s)->name))

uint32_t *slot_state(const struct slots *s, uint32_t index)
{
	return FIELD(s, index, uint32_t, state);
}

static uint32_t *slot_link(const struct slots *s, uint32_t index)
{
	return FIELD(s, index, uint32_t, link);
}

static uint64_t *slot_epoch(const struct slots *s, uint32_t index)
{
	return FIELD(s, index, uint64_t, epoch);
}

static void wipe_policy(struct cygnet_db *db, uint32_t index)
{
	(void)db;
	(void)index; /* no secrets in a policy */
}

struct slots pool_sas(struct cygnet_db *db)
{
	return (struct slots){
		.pool = &db->header->sa_pool,
		.base = (uint8_t *)db->sas,
		.capacity = db->geometry.sas,
		.size = sizeof(struct cygnet_sa),
		.state = offsetof(struct cygnet_sa, state),
		.link = offsetof(struct cygnet_sa, link),
		.generation = offsetof(struct cygnet_sa, generation),
		.epoch = offsetof(struct cygnet_sa, epoch),
		.wipe = sad_wipe,
	};
}

struct slots pool_policies(struct cygnet_db *db)
{
	return (struct slots){
		.pool = &db->header->policy_pool,
		.base = (uint8_t *)db->policies,
		.capacity = db->geometry.policies,
		.size = sizeof(struct cygnet_policy),
		.state = offsetof(struct cygnet_policy, state),
		.link = offsetof(struct cygnet_policy, link),
		.generation = offsetof(struct cygnet_policy, generation),
		.epoch = offsetof(struct cygnet_policy, epoch),
		.wipe = wipe_policy,
	};
}

uint32_t pool_take(struct cygnet_db *db, const struct slots *s)
{
	uint32_t index, *generation;

	/* A little more than comes in, so that the queue shrinks. */
	pool_reclaim(db, s, 4);
	index = ref_index(s->pool->free, s->capacity);
	if (index != CYGNET_NONE) {
		s->pool->free = *slot_link(s, index);
	} else {
		if (s->pool->fresh >= s->capacity)
			return CYGNET_NONE;
		index = s->pool->fresh++;
	}
	generation = FIELD(s, index, uint32_t, generation);
	store_release(generation, *generation + 1 ? *generation + 1 : 1);
	return index;
}

void pool_use(const struct slots *s, uint32_t index, enum cygnet_sa_state state)
{
	if (*slot_state(s, index) == CYGNET_SA_FREE)
		s->pool->used++;
	/* Everything the slot says is seen by whoever sees the state. */
	store_release(slot_state(s, index), (uint32_t)state);
}

static void queue_retired(const struct slots *s, uint32_t index)
{
	uint32_t tail = ref_index(s->pool->retired_tail, s->capacity);

	*slot_link(s, index) = 0;
	if (tail == CYGNET_NONE)
		s->pool->retired_head = index + 1;
	else
		*slot_link(s, tail) = index + 1;
	s->pool->retired_tail = index + 1;
	s->pool->retired++;
}

void pool_retire(struct cygnet_db *db, const struct slots *s, uint32_t index)
{
	store_release(slot_state(s, index), CYGNET_SA_RETIRED);
	*slot_epoch(s, index) = qsbr_start(db);
	s->pool->used--;
	queue_retired(s, index);
}

void pool_give_back(const struct slots *s, uint32_t index)
{
	store_release(slot_state(s, index), CYGNET_SA_FREE);
	*slot_link(s, index) = s->pool->free;
	s->pool->free = index + 1;
}

void pool_reclaim(struct cygnet_db *db, const struct slots *s, uint32_t max)
{
	while (max--) {
		uint32_t index = ref_index(s->pool->retired_head, s->capacity);

		if (index == CYGNET_NONE || !qsbr_passed(db, *slot_epoch(s, index)))
			return;
		s->pool->retired_head = *slot_link(s, index);
		if (!s->pool->retired_head)
			s->pool->retired_tail = 0;
		s->pool->retired--;
		s->wipe(db, index);
		pool_give_back(s, index);
	}
}

void pool_rebuild(struct cygnet_db *db, const struct slots *s, const uint8_t *reachable)
{
	struct pool *pool = s->pool;
	uint64_t epoch = qsbr_start(db);

	pool->free = pool->retired_head = pool->retired_tail = 0;
	pool->used = pool->retired = 0;
	if (pool->fresh > s->capacity)
		pool->fresh = s->capacity;
	for (uint32_t i = 0; i < pool->fresh; i++) {
		uint32_t state = *slot_state(s, i);

		if (reachable[i]) {
			pool->used++;
		} else if (state == CYGNET_SA_FREE) {
			/* It may hold what a writer was about to install. */
			s->wipe(db, i);
			pool_give_back(s, i);
		} else {
			store_release(slot_state(s, i), CYGNET_SA_RETIRED);
			*slot_epoch(s, i) = epoch;
			queue_retired(s, i);
		}
	}
}
