/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pool.h"
#include "qsbr.h"
#include "window.h"

static void *slot_at(const struct slots *s, uint32_t index)
{
	return s->base + (size_t)index * s->size;
}

#define FIELD(s, index, type, name) ((type *)(void *)((uint8_t *)slot_at(s, index) + (s)->name))

uint32_t *slot_state(const struct slots *s, uint32_t index)
{
	return FIELD(s, index, uint32_t, state);
}

uint32_t *slot_link(const struct slots *s, uint32_t index)
{
	return FIELD(s, index, uint32_t, link);
}

uint64_t *slot_epoch(const struct slots *s, uint32_t index)
{
	return FIELD(s, index, uint64_t, epoch);
}

uint32_t *slot_generation(const struct slots *s, uint32_t index)
{
	return FIELD(s, index, uint32_t, generation);
}

static void wipe_sa(struct cygnet_db *db, uint32_t index)
{
	struct cygnet_sa *sa = &db->sas[index];

	explicit_bzero(sa->cipher_key, sizeof(sa->cipher_key));
	explicit_bzero(sa->auth_key, sizeof(sa->auth_key));
}

static void release_sa(struct cygnet_db *db, uint32_t index)
{
	window_release(db, &db->sas[index]);
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
		.wipe = wipe_sa,
		.release = release_sa,
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
	};
}

uint32_t pool_take(struct cygnet_db *db, const struct slots *s)
{
	uint32_t index, *generation;

	/* Free more slots than are taken, so that the queue of retired slots shrinks. */
	pool_reclaim(db, s, 4);
	index = ref_index(s->pool->free, s->capacity);
	if (index != CYGNET_NONE) {
		/* Damaged list: a slot in use must not be given to a second SA. */
		if (*slot_state(s, index) != CYGNET_SLOT_FREE)
			return CYGNET_NONE;
		s->pool->free = *slot_link(s, index);
	} else {
		if (s->pool->fresh >= s->capacity)
			return CYGNET_NONE;
		index = s->pool->fresh++;
	}
	generation = slot_generation(s, index);
	store_relaxed(generation, *generation + 1 ? *generation + 1 : 1);
	/* A snapshot that copies any field written after this sees the new generation. */
	write_barrier();
	return index;
}

void pool_use(const struct slots *s, uint32_t index, enum cygnet_slot_state state)
{
	if (*slot_state(s, index) == CYGNET_SLOT_FREE)
		s->pool->used++;
	/* A reader that sees the new state must see all other fields. */
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

void pool_retire(struct cygnet_db *db, const struct slots *s, uint32_t index, uint16_t scope)
{
	store_release(slot_state(s, index), CYGNET_SLOT_RETIRED);
	*slot_epoch(s, index) = qsbr_start(db, scope);
	s->pool->used--;
	queue_retired(s, index);
}

void pool_give_back(const struct slots *s, uint32_t index)
{
	store_release(slot_state(s, index), CYGNET_SLOT_FREE);
	*slot_link(s, index) = s->pool->free;
	s->pool->free = index + 1;
}

static void dequeue_retired(const struct slots *s, uint32_t index)
{
	s->pool->retired_head = *slot_link(s, index);
	if (!s->pool->retired_head)
		s->pool->retired_tail = 0;
	s->pool->retired--;
}

void pool_reclaim(struct cygnet_db *db, const struct slots *s, uint32_t max)
{
	uint32_t index = ref_index(s->pool->retired_head, s->capacity);
	uint64_t over;

	if (index == CYGNET_NONE)
		return;
	over = qsbr_over(db);
	for (; max-- && index != CYGNET_NONE;
	     index = ref_index(s->pool->retired_head, s->capacity)) {
		/* A slot in another state means a damaged queue. */
		if (*slot_epoch(s, index) > over || *slot_state(s, index) != CYGNET_SLOT_RETIRED)
			return;
		dequeue_retired(s, index);
		if (s->wipe)
			s->wipe(db, index);
		if (s->release)
			s->release(db, index);
		pool_give_back(s, index);
	}
}

/* Retire larval and live slots that are in no chain: no new lookup can find them. */
static void unpublish_lost(const struct slots *s, const uint8_t *reachable)
{
	for (uint32_t i = 0; i < s->pool->fresh; i++)
		if (!reachable[i] && *slot_state(s, i) != CYGNET_SLOT_FREE)
			store_release(slot_state(s, i), CYGNET_SLOT_RETIRED);
}

void pool_rebuild(struct cygnet_db *db, const struct slots *s, const uint8_t *reachable)
{
	struct pool *pool = s->pool;
	uint64_t epoch;

	pool->free = pool->retired_head = pool->retired_tail = 0;
	pool->used = pool->retired = 0;
	pool->fresh = pool_fresh(pool, s->capacity);
	unpublish_lost(s, reachable);
	epoch = qsbr_start(db, CYGNET_SCOPE_ALL);
	for (uint32_t i = 0; i < pool->fresh; i++) {
		if (reachable[i]) {
			pool->used++;
		} else if (*slot_state(s, i) == CYGNET_SLOT_FREE) {
			/* The dead writer may have written keys here, but not published them. */
			if (s->wipe)
				s->wipe(db, i);
			pool_give_back(s, i);
		} else {
			*slot_epoch(s, i) = epoch;
			queue_retired(s, i);
		}
	}
}
