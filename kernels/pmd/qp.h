/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file qp.h
 * Queue pairs: a ring of chunks each. One chunk at most is being filled; those
 * before it are with the device or back; operations leave in the order in which
 * they came. One thread at a time uses a queue pair, for both directions.
 */
#ifndef OCL_QP_H
#define OCL_QP_H

#include "chunk.h"
#include "pmd.h"
#include "request.h"

/* A chunk and the operations in it, those without a record included. */
struct ocl_batch {
	struct ocl_chunk chunk;
	struct ocl_slot *slots;
	uint32_t nslots;
	uint32_t finished; /* slots given back */
	uint64_t deadline; /* TSC: launch, when filling; give up, when launched */
};

struct ocl_qp {
	struct ocl_pmd *pmd;
	cl_command_queue queue;
	struct ocl_batch *batches;
	uint32_t nbatches;
	uint32_t max_slots;
	uint32_t head, tail; /* free-running: batches [head, tail) are in use */
	bool filling;	     /* batch tail - 1 */
	uint64_t wait_cycles, timeout_cycles;
	struct rte_cryptodev_stats stats;
};

int ocl_qp_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
		 int socket);
int ocl_qp_release(struct rte_cryptodev *dev, uint16_t id);

/** Launch what is waiting and wait until the device has nothing left. */
void ocl_qp_drain(struct ocl_qp *qp);

/* cryptodev's burst functions. */
uint16_t ocl_qp_enqueue(void *qp, struct rte_crypto_op **ops, uint16_t n);
uint16_t ocl_qp_dequeue(void *qp, struct rte_crypto_op **ops, uint16_t n);

#endif
