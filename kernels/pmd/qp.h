/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file qp.h
 * Queue pairs. Operations stay in a ring of slots, in the order in which they
 * were enqueued and are dequeued. Their packets are in a ring of batches, one launch each:
 * at most one is filling (PIPSEA's wait bins), older ones are closed, launched (its
 * active bins) or final (state.h). An operation that finds no bin is left over and becomes the
 * first of the next batch. One thread at a time uses a queue pair, for enqueue and
 * dequeue.
 */
#ifndef OCL_QP_H
#define OCL_QP_H

#include "chunk.h"
#include "pmd.h"
#include "request.h"

struct ocl_batch {
	struct ocl_chunk chunk;
	uint64_t deadline; /* TSC: when to close it (FILLING), to launch it without the lock (CLOSED), or
			    * to give the device up (LAUNCHED, OVERDUE) */
	uint32_t pending; /* slots that refer to it */
	uint32_t bytes;	  /* from CLOSED on: of its packets */
};

struct ocl_slot {
	struct rte_crypto_op *op;
	struct ocl_batch *batch; /* NULL: left over, or op->status is final */
	ptrdiff_t shift;	 /* to the buffer that gets the result, bytes */
	uint32_t record;	 /* in its chunk */
	bool final;
};

struct ocl_qp {
	struct rte_cryptodev_stats stats; /* first: qp_stats.h */
	struct ocl_pmd *pmd;
	struct ocl_batch *batches;
	uint32_t nbatches;
	uint32_t oldest, newest;   /* free-running: batches [oldest, newest) are in use */
	uint32_t unlaunched;	   /* free-running: the oldest batch that is CLOSED or FILLING */
	struct ocl_batch *filling; /* the batch in that state; NULL: none */
	uint32_t under_way;	   /* batches that are closed or launched */
	uint64_t bytes;		   /* of the packets of these batches */
	uint64_t limit;		   /* of bytes, with the filling batch and the leftover; bytes */
	uint32_t headless; /* so many of the next batches use records, without a try for heads */
	bool leftover_due; /* leftover operations have waited wait_cycles: launch them at once */
	struct ocl_slot *slots;
	uint32_t mask;	     /* slots - 1 */
	uint32_t head, tail; /* free-running: slots [head, tail) are in use */
	uint32_t *leftover;  /* slots without a bin, in order */
	uint32_t nleftover;
	uint64_t leftover_bytes; /* of their packets */
	uint32_t chunk;		 /* operations of a full batch */
	struct ocl_hint hint;
	uint64_t wait_cycles, timeout_cycles;
	uint64_t busy_cycles; /* beyond wait_cycles, while another batch is under way */
};

int ocl_qp_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
		 int socket);
int ocl_qp_release(struct rte_cryptodev *dev, uint16_t id);

/** Launch the filling batch and wait until the device has returned all batches. */
void ocl_qp_drain(struct ocl_qp *qp);

/* cryptodev's burst functions. */
uint16_t ocl_qp_enqueue(void *qp, struct rte_crypto_op **ops, uint16_t n);
uint16_t ocl_qp_dequeue(void *qp, struct rte_crypto_op **ops, uint16_t n);

#endif
