/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pool.h
 * Pools of mbufs whose buffers the device can reach (rte_pmd_opencl.h). The control
 * thread creates and frees pools while queue pairs run; it frees a pool only when
 * none of its mbufs is in use.
 */
#ifndef OCL_POOL_H
#define OCL_POOL_H

#include <rte_rwlock.h>

#include "device.h"
#include "inc_types.h"

struct rte_mempool;
struct ocl_pmd;

struct ocl_pool {
	u8 *start; /* the first mbuf's buffer; NULL: no pool */
	size_t bytes;
	size_t twin;	/* distance from an mbuf's first buffer to its second one; 0: it has none */
	uint32_t pitch; /* bytes from one buffer to the next */
	uint32_t rows;	/* buffers */
	uint32_t index;
	cl_mem pinned; /* staged: the host's memory, mapped at start */
	cl_mem mirror; /* staged: the buffers on the device, mirror_pitch apart */
	uint32_t mirror_pitch;
	struct rte_mempool *mempool;
};

struct ocl_pools {
	struct ocl_pool pool[OCL_POOLS];
	uint32_t used;	   /* highest index in use + 1; atomic */
	uint32_t changes;  /* counts created and freed pools: kernels' arguments have to follow */
	rte_rwlock_t lock; /* readers launch chunks; writers create and free pools */
};

/* Where the last packet was found. The next one is mostly behind it. */
struct ocl_hint {
	uint32_t pool, row;
};

/* No lock: a pool that has a packet in use is not freed. */
static inline bool ocl_pool_has(const struct ocl_pool *pool, const void *p)
{
	size_t bytes = __atomic_load_n(&pool->bytes,
				       __ATOMIC_ACQUIRE); /* set last, cleared first */

	return (size_t)((const u8 *)p - pool->start) < bytes;
}

/**
 * The pool that an address lies in.
 * @param hint  the pool to try first; then the one that was found
 * @return NULL if it lies in none
 */
static inline const struct ocl_pool *ocl_pools_find(const struct ocl_pools *pools, const void *p,
						    struct ocl_hint *hint)
{
	const struct ocl_pool *pool = &pools->pool[hint->pool];
	uint32_t used;

	if (ocl_pool_has(pool, p))
		return pool;
	used = __atomic_load_n(&pools->used, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < used; i++) {
		pool = &pools->pool[i];
		if (ocl_pool_has(pool, p)) {
			hint->pool = i;
			return pool;
		}
	}
	return NULL;
}

/** Free the memory of all pools that are left. None of their mbufs may be in use. */
void ocl_pools_free(struct ocl_pmd *pmd);

#endif
