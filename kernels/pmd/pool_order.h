/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pool_order.h
 * In which order a pool hands out its mbufs: by their place in the device's memory, round and
 * round, whoever frees them and when: the next ones that are there behind those handed out last.
 * A launch finds neighbours also where packets have left in another order than they came, or several
 * cores have freed them; a ring, DPDK's usual way, would keep any disorder for good.
 *
 * An mbuf's place is told by its buffer. One that is freed while it is there, or with a buffer
 * that is not the pool's, is logged, once each for a pool; the latter is lost to the pool.
 */
#ifndef OCL_POOL_ORDER_H
#define OCL_POOL_ORDER_H

#include "pool.h"

/**
 * Have the pool's mempool hand out in order. All of its mbufs must be there, and nobody may use
 * it yet. Freed with the mempool. Where DPDK has no room for another way to keep mbufs (16 are all) the
 * mempool stays as it is, which the log says.
 * @return 0, -ENOMEM, -EINVAL if mbufs have other buffers than the pool's, or what the mempool's
 *	   own way of taking all mbufs says: it stays as it is
 */
int ocl_pool_order(const struct ocl_pool *pool);

#endif
