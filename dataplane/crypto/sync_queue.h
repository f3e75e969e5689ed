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
	uint16_t queue;			    /* queue pair of each device */
	struct rte_mempool *ops;	    /* operations, of struct esp_job each */
	const struct crypto_worker *worker; /* of the lcore; NULL: a crypto core */
};

/**
 * Execute a batch: runs by call, or chains of several SAs by queue. The status of each packet is in
 * b->v.status, the runs are in b->run.
 */
void crypto_execute(const struct crypto_executor *e, struct crypto_batch *b);

#endif
