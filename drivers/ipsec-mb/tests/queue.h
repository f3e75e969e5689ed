/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file queue.h
 * Operations through a queue pair, which processes them when they are enqueued.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "harness.h"

#define QUEUE_MOST 256u /* maximum number of operations of queue_run() */

/** Create the pool of all operations. */
void queue_open(void);
/** Free the pool, and check that all operations have been freed. */
void queue_close(void);

/** Allocate an operation with a session and an IV. @param iv_len  bytes, at most 16 */
struct rte_crypto_op *queue_operation(void *session, const void *iv, size_t iv_len);
/** Enqueue, dequeue and free operations, and check that they stay in order.
 * @param[out] status  of each operation */
void queue_run(const struct device *dev, struct rte_crypto_op **ops, unsigned int n,
	       enum rte_crypto_op_status *status);

#endif
