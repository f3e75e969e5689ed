/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sync_queue.h
 * Packets of several SAs go through the queue of a CPU's device and back at once: the lcore waits for
 * them, so the packets keep their order.
 */
#ifndef CYGNETD_SYNC_QUEUE_H
#define CYGNETD_SYNC_QUEUE_H

#include "crypto/crypto_worker.h"

/** The lcore that executes a batch. */
struct crypto_executor {
	uint16_t queue;			/* queue pair of each device */
	struct rte_mempool *ops;	/* operations, of struct esp_job each */
	struct crypto_worker *worker;	/* of the lcore; NULL: a crypto core */
	const bool *ending;		/* atomic, of a crypto core: it waits for no packet any more */
};

/**
 * Execute a batch: runs by call, or chains of several SAs by queue. The status of each packet is in
 * b->v.status, the runs are in b->run.
 */
void crypto_execute(const struct crypto_executor *e, struct crypto_batch *b);
/**
 * A packet that a device has not given back in time has failed for the worker that waited; its
 * operation, packet and session stay until it comes back (failover.h). Of the operations that a
 * worker gets out of a device's queue, take such late ones away, and free them.
 * @param op  n operations
 * @return how many of them are others; the first in op[], in their order
 */
uint16_t crypto_late(struct crypto_worker *c, unsigned int device, struct rte_crypto_op **op,
		     uint16_t n);

#endif
