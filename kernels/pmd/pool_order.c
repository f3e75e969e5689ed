/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bit for each mbuf says whether it is free. An allocation first subtracts the number of mbufs from
 * the count of free ones, so that it is sure to find as many, and then clears bits in order, from where the
 * last allocation ended. Any core may allocate and free at any time.
 */
#include <errno.h>

#include <rte_common.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "log.h"
#include "pool_order.h"

#define WORD_BITS 64u
#define ROUNDS	  64u

struct order {
	uint32_t words, rows;
	const u8 *start; /* of the first buffer */
	size_t twin;	 /* distance to the second buffers; 0: none */
	uint32_t pitch;
	void **mbuf;			    /* of each row */
	uint32_t free __rte_cache_aligned;  /* mbufs; atomic */
	uint32_t next;			    /* the row to look at first; atomic, a hint */
	bool twice, foreign;		    /* atomic: the log has a line about such a free */
	uint64_t bit[] __rte_cache_aligned; /* atomic */
};

static int alloc_order(struct rte_mempool *mp)
{
	(void)mp;
	return -ENOTSUP; /* ocl_pool_order() makes it */
}

static void free_order(struct rte_mempool *mp)
{
	struct order *o = mp->pool_data;

	rte_free(o->mbuf);
	rte_free(o);
}

/* @return the mbuf's row; o->rows if its buffer is not the pool's */
static uint32_t row_of(const struct order *o, const struct rte_mbuf *m)
{
	size_t offset = (size_t)((const u8 *)m->buf_addr - o->start);

	if (o->twin && offset >= o->twin)
		offset -= o->twin;
	return offset < (size_t)o->rows * o->pitch ? (uint32_t)(offset / o->pitch) : o->rows;
}

/* Set bits of a word. @return how many of them were not set */
static uint32_t set(struct order *o, uint32_t word, uint64_t bits)
{
	if (bits)
		bits &= ~__atomic_fetch_or(&o->bit[word], bits, __ATOMIC_RELEASE);
	return (uint32_t)__builtin_popcountll(bits);
}

static void say_once(bool *logged, const struct rte_mempool *mp, const char *what)
{
	if (!__atomic_exchange_n(logged, true, __ATOMIC_RELAXED))
		OCL_LOG(ERR, "pool %s: %s", mp->name, what);
}

/* Bits of one word are set at once. The count grows by the bits that were not set, so it never exceeds them. */
static int give_back(struct rte_mempool *mp, void *const *obj, unsigned int n)
{
	struct order *o = mp->pool_data;
	uint32_t word = 0, good = 0, fresh = 0;
	uint64_t bits = 0;

	for (unsigned int i = 0; i < n; i++) {
		uint32_t row = row_of(o, obj[i]);

		if (unlikely(row == o->rows)) {
			say_once(&o->foreign, mp,
				 "an mbuf was freed with a buffer that is not the pool's: lost");
			continue;
		}
		if (row / WORD_BITS != word) {
			fresh += set(o, word, bits);
			word = row / WORD_BITS;
			bits = 0;
		}
		bits |= UINT64_C(1) << row % WORD_BITS;
		good++;
	}
	fresh += set(o, word, bits);
	__atomic_fetch_add(&o->free, fresh, __ATOMIC_RELEASE);
	if (unlikely(fresh != good))
		say_once(&o->twice, mp, "an mbuf was freed twice");
	return 0;
}

/* @return whether n mbufs are free; then they are the caller's */
static bool reserve(struct order *o, uint32_t n)
{
	uint32_t available = __atomic_load_n(&o->free, __ATOMIC_RELAXED);

	do {
		if (available < n)
			return false;
	} while (!__atomic_compare_exchange_n(&o->free, &available, available - n, false,
					      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	return true;
}

/* The lowest n bits, or all if there are fewer. */
static uint64_t lowest(uint64_t bits, unsigned int n)
{
	uint64_t left = bits;

	if ((unsigned int)__builtin_popcountll(bits) <= n)
		return bits;
	while (n--)
		left &= left - 1;
	return bits & ~left;
}

/* Other cores may clear bits between load and fetch_and; the number of tries is limited all the same. */
static int take(struct rte_mempool *mp, void **obj, unsigned int n)
{
	struct order *o = mp->pool_data;
	uint32_t index = __atomic_load_n(&o->next, __ATOMIC_RELAXED), word = index / WORD_BITS;
	uint32_t tries = ROUNDS * o->words, found = 0;
	uint64_t mask = UINT64_MAX << index % WORD_BITS;

	if (!reserve(o, n))
		return -ENOBUFS;
	while (found < n && tries--) {
		uint64_t bits = __atomic_load_n(&o->bit[word], __ATOMIC_RELAXED) & mask;

		if (bits) {
			bits = lowest(bits, n - found);
			bits &= __atomic_fetch_and(&o->bit[word], ~bits, __ATOMIC_ACQUIRE);
		}
		for (; bits; bits &= bits - 1) {
			index = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
			obj[found++] = o->mbuf[index++];
		}
		word = word + 1 == o->words ? 0 : word + 1;
		mask = UINT64_MAX;
	}
	if (unlikely(found < n)) {
		give_back(mp, obj, found);
		__atomic_fetch_add(&o->free, n - found, __ATOMIC_RELEASE);
		return -ENOBUFS;
	}
	__atomic_store_n(&o->next, index == o->words * WORD_BITS ? 0 : index, __ATOMIC_RELAXED);
	return 0;
}

static unsigned int count(const struct rte_mempool *mp)
{
	const struct order *o = mp->pool_data;

	return __atomic_load_n(&o->free, __ATOMIC_ACQUIRE);
}

static const struct rte_mempool_ops ops = {
	.name = "opencl_in_order",
	.alloc = alloc_order,
	.free = free_order,
	.enqueue = give_back,
	.dequeue = take,
	.get_count = count,
};

RTE_MEMPOOL_REGISTER_OPS(ops);

/* By function, because another copy of this library registers the same name.
 * @return the handler's number, or -ENOENT */
static int find_ops(void)
{
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (rte_mempool_ops_table.ops[i].enqueue == give_back)
			return (int)i;
	return -ENOENT;
}

static struct order *create(const struct ocl_pool *pool)
{
	uint32_t words = (pool->rows + WORD_BITS - 1) / WORD_BITS;
	struct order *o = rte_zmalloc(NULL, sizeof(*o) + words * sizeof(o->bit[0]),
				      RTE_CACHE_LINE_SIZE);

	if (!o)
		return NULL;
	o->words = words;
	o->rows = pool->rows;
	o->start = pool->start;
	o->twin = pool->twin;
	o->pitch = pool->pitch;
	o->mbuf = rte_zmalloc(NULL, pool->rows * sizeof(o->mbuf[0]), RTE_CACHE_LINE_SIZE);
	if (o->mbuf)
		return o;
	rte_free(o);
	return NULL;
}

static uint32_t place_all(struct order *o, void *const *all)
{
	uint32_t placed = 0;

	for (uint32_t i = 0; i < o->rows; i++) {
		uint32_t row = row_of(o, all[i]);

		if (row == o->rows)
			continue;
		o->mbuf[row] = all[i];
		placed += set(o, row / WORD_BITS, UINT64_C(1) << row % WORD_BITS);
	}
	return placed;
}

/* Move all mbufs, or none, from the mempool's ring to the bits. Not through rte_mempool_get_bulk(), whose debug
 * checks would take them for allocated. */
static int fill(struct order *o, struct rte_mempool *mp)
{
	void **all = rte_malloc(NULL, o->rows * sizeof(*all), 0);
	int err = all ? rte_mempool_ops_dequeue_bulk(mp, all, o->rows) : -ENOMEM;

	if (!err) {
		o->free = place_all(o, all);
		if (o->free != o->rows) {
			rte_mempool_ops_enqueue_bulk(mp, all, o->rows);
			err = -EINVAL;
		}
	}
	rte_free(all);
	return err;
}

int ocl_pool_order(const struct ocl_pool *pool)
{
	struct rte_mempool *mp = pool->mempool;
	int number = find_ops(), err;
	struct order *o;

	if (number < 0) {
		OCL_LOG(WARNING, "pool %s keeps DPDK's order: no room for another mempool handler",
			mp->name);
		return 0;
	}
	o = create(pool);
	if (!o)
		return -ENOMEM;
	err = fill(o, mp);
	if (err) {
		rte_free(o->mbuf);
		rte_free(o);
		return err;
	}
	if (rte_mempool_get_ops(mp->ops_index)->free)
		rte_mempool_get_ops(mp->ops_index)->free(mp);
	mp->ops_index = number;
	mp->pool_data = o;
	return 0;
}
