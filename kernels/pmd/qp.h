/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file qp.h
 * Queue pairs. Operations wait in a ring of slots, in the order in which they
 * came and leave again. Their packets wait in a ring of batches, a launch each:
 * one at most is being filled (PIPSEA's wait bins), those before it are with the
 * device (its active bins) or back. What finds no bin is left over for the next
 * batch, first in line. One thread at a time uses a queue pair, for both
 * directions.
 */
#ifndef OCL_QP_H
#define OCL_QP_H

#include "chunk.h"
#include "pmd.h"
#include "request.h"

struct ocl_batch {
	struct ocl_chunk chunk;
	uint64_t deadline; /* TSC: launch, when filling; wait for one's turn, when full; give up,
			    * when launched */
	uint32_t pending;  /* slots that refer to it */
	uint32_t bytes;	   /* when launched: what its packets take */
	bool launched, back;
	bool reprieved; /* launched: its time is over, and it has had some more */
	bool given_up; /* then the chunk is not looked at: a thread may be at work on it */
	bool seen;     /* given up: by the device, maybe */
};

struct ocl_slot {
	struct rte_crypto_op *op;
	struct ocl_batch *batch; /* NULL: left over, or op->status is final */
	ptrdiff_t turn;		 /* to the buffer that has the result, bytes */
	uint32_t record;	 /* in its chunk */
	bool final;
};

struct ocl_qp {
	struct rte_cryptodev_stats stats; /* first: qp_stats.h */
	struct ocl_pmd *pmd;
	struct ocl_batch *batches;
	uint32_t nbatches;
	uint32_t oldest, newest; /* free-running: batches [oldest, newest) are in use */
	uint32_t unsent;	 /* and [unsent, newest) not launched: they wait for their turn, */
	struct ocl_batch *filling; /* but for this one, newest - 1; NULL: none is being filled */
	uint32_t under_way;	 /* batches that are not being filled and not back, */
	uint64_t bytes;		 /* and what their packets take */
	uint64_t limit;		 /* of that, with the one that is being filled and leftover; bytes */
	uint32_t unlike;	 /* batches whose packets are not to be tried for heads */
	bool overdue;		 /* what is left over has waited long enough */
	struct ocl_slot *slots;
	uint32_t mask;	     /* slots - 1 */
	uint32_t head, tail; /* free-running: slots [head, tail) are in use */
	uint32_t *leftover;  /* slots without a bin, in order */
	uint32_t nleftover;
	uint64_t leftover_bytes; /* what their packets take */
	uint32_t chunk; /* launch when so many operations wait */
	struct ocl_hint hint;
	uint64_t wait_cycles, timeout_cycles;
	uint64_t busy_cycles; /* beyond wait_cycles, while another batch is under way */
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
