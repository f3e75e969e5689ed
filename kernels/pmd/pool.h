/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pool.h
 * Pools of mbufs whose buffers the device can reach (rte_pmd_opencl.h). Pools
 * come and go on the control thread while queue pairs run; a pool goes only when
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
	u8 *start; /* of the first mbuf's buffer; NULL: no pool */
	size_t bytes;
	size_t twin;	 /* from an mbuf's buffer to its other one, behind all; 0: it has none */
	uint32_t pitch;	 /* bytes from one buffer to the next */
	uint32_t rows;	 /* buffers */
	uint32_t index;
	cl_mem pinned;	 /* staged: start is where it is mapped */
	cl_mem mirror;	 /* staged: the same buffers on the device, mirror_pitch apart */
	uint32_t mirror_pitch;
	struct rte_mempool *mempool;
};

struct ocl_pools {
	struct ocl_pool pool[OCL_POOLS];
	uint32_t used;	  /* highest index in use + 1; atomic */
	uint32_t changes; /* kernels' arguments are as of one of these */
	rte_rwlock_t lock; /* readers launch, once a chunk; writers come and go */
};

/* Where packets were found last: most follow one another. */
struct ocl_hint {
	uint32_t pool, row;
};

/* No lock: an address of a packet that is in use is in a pool that does not go. */
static inline bool ocl_pool_has(const struct ocl_pool *pool, const void *p)
{
	size_t bytes = __atomic_load_n(&pool->bytes, __ATOMIC_ACQUIRE); /* comes last, goes first */

	return (size_t)((const u8 *)p - pool->start) < bytes;
}

/**
 * The pool that an address lies in.
 * @param hint  the pool to look at first, and where it was found
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

/** Free the memory of all that are left. Nobody may use an mbuf of theirs any more. */
void ocl_pools_free(struct ocl_pmd *pmd);

#endif
