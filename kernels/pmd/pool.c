/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "log.h"
#include "memory.h"
#include "pmd.h"
#include "pool.h"
#include "rte_pmd_opencl.h"

#define PITCH_ALIGN 256 /* bytes: the copy engine's rows start on its favourite boundary */

/* The instance behind a device of this driver. */
static struct ocl_pmd *pmd_of(uint8_t dev_id)
{
	struct rte_cryptodev *dev;

	if (!rte_cryptodev_is_valid_dev(dev_id))
		return NULL;
	dev = rte_cryptodev_pmd_get_dev(dev_id);
	return dev->dev_ops == &ocl_ops ? dev->data->dev_private : NULL;
}

static struct ocl_pool *unused(struct ocl_pools *pools)
{
	for (uint32_t i = 0; i < OCL_POOLS; i++) {
		if (pools->pool[i].mempool == NULL) {
			pools->pool[i].index = i;
			return &pools->pool[i];
		}
	}
	return NULL;
}

/* From here on packets are looked for in it. */
static void publish(struct ocl_pools *pools, struct ocl_pool *pool, size_t bytes)
{
	__atomic_fetch_add(&pools->changes, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&pool->bytes, bytes, __ATOMIC_RELEASE);
	if (bytes && pools->used <= pool->index)
		__atomic_store_n(&pools->used, pool->index + 1, __ATOMIC_RELEASE);
}

static void release(struct ocl_pmd *pmd, struct ocl_pool *pool)
{
	/* A lost device may still hold the memory. */
	if (!ocl_device_lost(&pmd->device))
		pmd->memory->pool_free(pool, &pmd->device);
	memset(pool, 0, sizeof(*pool));
}

static int alloc(struct ocl_pmd *pmd, struct ocl_pool *pool, unsigned int n, uint16_t room)
{
	size_t pitch = RTE_ALIGN_CEIL((size_t)room, PITCH_ALIGN);
	cl_int err;

	if (n == 0 || n > UINT32_MAX / (pitch + OCL_ALIGN))
		return -EINVAL;
	pool->rows = n;
	pool->pitch = pitch;
	err = pmd->memory->pool_alloc(pool, &pmd->device, n * pitch);
	if (err == CL_SUCCESS)
		return 0;
	OCL_LOG(ERR, "no pool of %zu bytes on %s: OpenCL error %d", n * pitch, pmd->device.name,
		err);
	return -EIO;
}

struct rte_mempool *rte_pmd_opencl_pktmbuf_pool_create(uint8_t dev_id, const char *name,
						       unsigned int n, uint16_t priv_size,
						       uint16_t data_room_size, int socket_id)
{
	struct ocl_pmd *pmd = pmd_of(dev_id);
	struct rte_pktmbuf_extmem memory;
	struct ocl_pool *pool;
	int err;

	if (pmd == NULL || ocl_device_lost(&pmd->device)) {
		rte_errno = ENODEV;
		return NULL;
	}
	pool = unused(&pmd->pools);
	if (pool == NULL) {
		rte_errno = ENOSPC;
		return NULL;
	}
	err = alloc(pmd, pool, n, data_room_size);
	if (!err) {
		memory = (struct rte_pktmbuf_extmem){
			.buf_ptr = pool->start,
			.buf_iova = (uintptr_t)pool->start,
			.buf_len = (size_t)n * pool->pitch,
			.elt_size = pool->pitch,
		};
		pool->mempool = rte_pktmbuf_pool_create_extbuf(name, n, 0, priv_size,
							       data_room_size, socket_id, &memory, 1);
		err = pool->mempool ? 0 : -rte_errno;
	}
	if (err) {
		release(pmd, pool);
		rte_errno = -err;
		return NULL;
	}
	publish(&pmd->pools, pool, memory.buf_len);
	return pool->mempool;
}

int rte_pmd_opencl_pktmbuf_pool_free(uint8_t dev_id, struct rte_mempool *mempool)
{
	struct ocl_pmd *pmd = pmd_of(dev_id);

	if (pmd == NULL)
		return -ENODEV;
	for (uint32_t i = 0; mempool && i < OCL_POOLS; i++) {
		struct ocl_pool *pool = &pmd->pools.pool[i];

		if (pool->mempool != mempool)
			continue;
		publish(&pmd->pools, pool, 0);
		rte_mempool_free(mempool);
		release(pmd, pool);
		return 0;
	}
	return -ENOENT;
}

void ocl_pools_free(struct ocl_pmd *pmd)
{
	for (uint32_t i = 0; i < OCL_POOLS; i++) {
		struct ocl_pool *pool = &pmd->pools.pool[i];

		if (pool->mempool == NULL)
			continue;
		rte_mempool_free(pool->mempool);
		release(pmd, pool);
	}
}
