/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pool_order.h
 * A mempool handler that allocates mbufs in the order of their buffers' addresses, round and
 * round: the next free ones behind those allocated last, in whichever order they were freed.
 * So packets of a launch are consecutive also if packets were transmitted in another order than they were
 * received, or freed by several cores; DPDK's ring would keep any disorder.
 *
 * An mbuf's row is computed from its buffer. An mbuf that is freed twice, or with a buffer
 * that is not the pool's, is logged, once each for a pool; the latter is lost to the pool.
 */
#ifndef OCL_POOL_ORDER_H
#define OCL_POOL_ORDER_H

#include "pool.h"

/**
 * Make this handler the mempool's. All of its mbufs must be free, and the mempool may not be in
 * use yet. Freed with the mempool. If DPDK has no room for another handler (16 at most) the
 * mempool keeps its own, and the log says so.
 * @return 0, -ENOMEM, -EINVAL if mbufs have other buffers than the pool's, or the error of the mempool's
 *	   own handler; after an error the mempool is unchanged
 */
int ocl_pool_order(const struct ocl_pool *pool);

#endif
