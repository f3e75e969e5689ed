/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "log.h"
#include "memory.h"
#include "pmd.h"
#include "pool.h"
#include "pool_order.h"
#include "rte_pmd_opencl.h"

#define PITCH_ALIGN 256 /* bytes: the alignment of rows with which the copy engine is fastest */

/* The driver's instance of a device. */
static struct ocl_pmd *pmd_of(uint8_t dev_id)
{
	struct rte_cryptodev *dev;

	if (!rte_cryptodev_is_valid_dev(dev_id))
		return NULL;
	dev = rte_cryptodev_pmd_get_dev(dev_id);
	return dev->dev_ops == &ocl_ops ? dev->data->dev_private : NULL;
}

static int find_unused(const struct ocl_pools *pools, uint32_t *index)
{
	for (*index = 0; *index < OCL_POOLS; (*index)++) {
		if (pools->pool[*index].mempool == NULL)
			return 0;
	}
	return -ENOSPC;
}

static size_t bytes_of(const struct ocl_pool *pool)
{
	return (size_t)pool->rows * pool->pitch + pool->twin;
}

/* From here on queue pairs find packets in the pool. */
static void publish(struct ocl_pools *pools, const struct ocl_pool *pool)
{
	struct ocl_pool *to = &pools->pool[pool->index];

	rte_rwlock_write_lock(&pools->lock);
	*to = *pool;
	__atomic_store_n(&to->bytes, bytes_of(pool), __ATOMIC_RELEASE);
	if (pools->used <= pool->index)
		__atomic_store_n(&pools->used, pool->index + 1, __ATOMIC_RELEASE);
	pools->changes++;
	rte_rwlock_write_unlock(&pools->lock);
}

/* From here on no launch uses the pool. @return a copy of it */
static struct ocl_pool withdraw(struct ocl_pools *pools, struct ocl_pool *pool)
{
	struct ocl_pool was = *pool;

	rte_rwlock_write_lock(&pools->lock);
	__atomic_store_n(&pool->bytes, 0, __ATOMIC_RELEASE);
	memset(pool, 0, sizeof(*pool));
	pools->changes++;
	rte_rwlock_write_unlock(&pools->lock);
	return was;
}

static void release(struct ocl_pmd *pmd, struct ocl_pool *pool)
{
	rte_mempool_free(pool->mempool);
	/* A lost device may still hold the memory. */
	if (!ocl_device_lost(&pmd->device))
		pmd->memory->pool_free(pool, &pmd->device);
}

static int alloc(struct ocl_pmd *pmd, struct ocl_pool *pool, unsigned int n, uint16_t room)
{
	size_t pitch = RTE_ALIGN_CEIL((size_t)room, PITCH_ALIGN);
	cl_int err;

	/* DPDK has 16 bits for the pitch, the kernel 32 for offsets in the pool. */
	if (pitch > UINT16_MAX || n == 0 || n > UINT32_MAX / (pitch + OCL_ALIGN))
		return -EINVAL;
	pool->rows = n;
	pool->pitch = pitch;
	pool->twin = pmd->memory->twins ? n * pitch : 0;
	err = pmd->memory->pool_alloc(pool, &pmd->device, bytes_of(pool));
	if (err == CL_SUCCESS)
		return 0;
	OCL_LOG(ERR, "no pool of %zu bytes on %s: OpenCL error %d", bytes_of(pool),
		pmd->device.name, err);
	return -EIO;
}

struct rte_mempool *rte_pmd_opencl_pktmbuf_pool_create(uint8_t dev_id, const char *name,
						       unsigned int n, uint16_t priv_size,
						       uint16_t data_room_size, int socket_id)
{
	struct ocl_pmd *pmd = pmd_of(dev_id);
	struct rte_pktmbuf_extmem memory;
	struct ocl_pool pool = {0};
	int err;

	if (pmd == NULL || ocl_device_lost(&pmd->device)) {
		rte_errno = ENODEV;
		return NULL;
	}
	err = find_unused(&pmd->pools, &pool.index);
	if (!err)
		err = alloc(pmd, &pool, n, data_room_size);
	if (!err) {
		memory = (struct rte_pktmbuf_extmem){
			.buf_ptr = pool.start,
			.buf_iova = (uintptr_t)pool.start,
			.buf_len = (size_t)n * pool.pitch,
			.elt_size = pool.pitch,
		};
		pool.mempool = rte_pktmbuf_pool_create_extbuf(name, n, 0, priv_size, data_room_size,
							      socket_id, &memory, 1);
		err = pool.mempool ? ocl_pool_order(&pool) : -rte_errno;
	}
	if (err) {
		release(pmd, &pool);
		rte_errno = -err;
		return NULL;
	}
	publish(&pmd->pools, &pool);
	return pool.mempool;
}

int rte_pmd_opencl_pktmbuf_pool_free(uint8_t dev_id, struct rte_mempool *mempool)
{
	struct ocl_pmd *pmd = pmd_of(dev_id);
	struct ocl_pool was;

	if (pmd == NULL)
		return -ENODEV;
	for (uint32_t i = 0; mempool && i < OCL_POOLS; i++) {
		struct ocl_pool *pool = &pmd->pools.pool[i];

		if (pool->mempool != mempool)
			continue;
		if (!rte_mempool_full(mempool) && !ocl_device_lost(&pmd->device))
			return -EBUSY;
		was = withdraw(&pmd->pools, pool);
		release(pmd, &was);
		return 0;
	}
	return -ENOENT;
}

int rte_pmd_opencl_keeps_packets(uint8_t dev_id)
{
	const struct ocl_pmd *pmd = pmd_of(dev_id);

	return pmd ? pmd->memory->twins : -ENODEV;
}

void ocl_pools_free(struct ocl_pmd *pmd)
{
	for (uint32_t i = 0; i < OCL_POOLS; i++) {
		struct ocl_pool was;

		if (pmd->pools.pool[i].mempool == NULL)
			continue;
		was = withdraw(&pmd->pools, &pmd->pools.pool[i]);
		release(pmd, &was);
	}
}
