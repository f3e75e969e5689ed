/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "log.h"
#include "qp.h"

#define MIN_BATCHES  3	   /* one filling, one computing, one being emptied */
#define SLOT_BYTES   2048  /* of a batch, on average */
#define LARGEST	     68608 /* bytes of a record with the largest single-segment packet */
#define CHUNK_OF_CPU 256
#define CHUNK_OF_GPU 1024

static int init_batches(struct ocl_qp *qp, uint32_t ndescriptors, int socket)
{
	struct ocl_pmd *pmd = qp->pmd;
	uint32_t n = pmd->args.chunk;
	int err = 0;

	if (n == 0)
		n = pmd->device.cpu ? CHUNK_OF_CPU : CHUNK_OF_GPU;
	qp->max_slots = n;
	qp->nbatches = RTE_MAX((ndescriptors + n - 1) / n, (uint32_t)MIN_BATCHES);
	qp->batches = rte_zmalloc_socket("ocl batches", qp->nbatches * sizeof(*qp->batches),
					 RTE_CACHE_LINE_SIZE, socket);
	if (qp->batches == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < qp->nbatches; i++) {
		struct ocl_batch *batch = &qp->batches[i];

		batch->slots = rte_zmalloc_socket("ocl slots", n * sizeof(*batch->slots),
						  RTE_CACHE_LINE_SIZE, socket);
		if (batch->slots == NULL)
			return -ENOMEM;
		err = ocl_chunk_init(&batch->chunk, &pmd->device, pmd->memory, qp->queue,
				     pmd->table.buffer, n,
				     RTE_MAX(n * SLOT_BYTES, (uint32_t)LARGEST));
	}
	return err;
}

int ocl_qp_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
		 int socket)
{
	struct ocl_pmd *pmd = dev->data->dev_private;
	struct ocl_qp *qp;
	cl_int cl_err;
	int err;

	if (id >= pmd->args.max_queue_pairs)
		return -EINVAL;
	ocl_qp_release(dev, id);
	qp = rte_zmalloc_socket("ocl queue pair", sizeof(*qp), RTE_CACHE_LINE_SIZE, socket);
	if (qp == NULL)
		return -ENOMEM;
	dev->data->queue_pairs[id] = qp;
	qp->pmd = pmd;
	qp->wait_cycles = rte_get_tsc_hz() / 1000000 * pmd->args.wait_us;
	qp->timeout_cycles = rte_get_tsc_hz() / 1000 * pmd->args.timeout_ms;
	qp->queue = clCreateCommandQueue(pmd->device.context, pmd->device.id, 0, &cl_err);
	if (cl_err == CL_SUCCESS) {
		err = init_batches(qp, conf->nb_descriptors, socket);
	} else {
		OCL_LOG(ERR, "no command queue on %s: OpenCL error %d", pmd->device.name, cl_err);
		err = -EIO;
	}
	if (err)
		ocl_qp_release(dev, id);
	return err;
}

static void free_batches(struct ocl_qp *qp)
{
	for (uint32_t i = 0; qp->batches && i < qp->nbatches; i++) {
		ocl_chunk_free(&qp->batches[i].chunk);
		rte_free(qp->batches[i].slots);
	}
	rte_free(qp->batches);
}

int ocl_qp_release(struct rte_cryptodev *dev, uint16_t id)
{
	struct ocl_qp *qp = dev->data->queue_pairs[id];

	if (qp == NULL)
		return 0;
	if (qp->batches)
		ocl_qp_drain(qp);
	free_batches(qp);
	if (qp->queue && !ocl_device_lost(&qp->pmd->device))
		clReleaseCommandQueue(qp->queue);
	rte_free(qp);
	dev->data->queue_pairs[id] = NULL;
	return 0;
}

static struct ocl_batch *batch_at(struct ocl_qp *qp, uint32_t position)
{
	return &qp->batches[position % qp->nbatches];
}

static void launch(struct ocl_qp *qp)
{
	struct ocl_batch *batch = batch_at(qp, qp->tail - 1);

	ocl_chunk_launch(&batch->chunk, &qp->pmd->table);
	batch->deadline = rte_get_tsc_cycles() + qp->timeout_cycles;
	qp->filling = false;
}

/* While every other batch is under way the device has enough to do: the last
 * one then goes on filling, and leaves as soon as one of them is back. */
static void launch_if_due(struct ocl_qp *qp)
{
	if (!qp->filling || qp->tail - qp->head == qp->nbatches)
		return;
	if (rte_get_tsc_cycles() >= batch_at(qp, qp->tail - 1)->deadline)
		launch(qp);
}

/* The batch to put the next operation into; NULL if all are in use. */
static struct ocl_batch *batch_with_room(struct ocl_qp *qp, uint32_t size)
{
	struct ocl_batch *batch;

	if (qp->filling) {
		batch = batch_at(qp, qp->tail - 1);
		if (ocl_chunk_room(&batch->chunk) >= size)
			return batch;
		launch(qp);
	}
	if (qp->tail - qp->head == qp->nbatches)
		return NULL;
	batch = batch_at(qp, qp->tail++);
	batch->deadline = rte_get_tsc_cycles() + qp->wait_cycles;
	qp->filling = true;
	return batch;
}

/* Whether a launched batch is back, or given up. */
static bool is_back(struct ocl_qp *qp, struct ocl_batch *batch)
{
	if (ocl_chunk_poll(&batch->chunk))
		return true;
	if (rte_get_tsc_cycles() < batch->deadline)
		return false;
	batch->chunk.failed = true;
	ocl_device_fail(&qp->pmd->device, "no answer within timeout_ms", 0);
	return true;
}

static bool enqueue_one(struct ocl_qp *qp, struct rte_crypto_op *op)
{
	struct ocl_request request;
	struct ocl_batch *batch;
	struct ocl_slot *slot;
	enum rte_crypto_op_status status;

	status = ocl_request_parse(&request, op, qp->pmd);
	batch = batch_with_room(qp, request.size);
	if (batch == NULL)
		return false;
	slot = &batch->slots[batch->nslots++];
	slot->op = op;
	op->status = status;
	if (status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED) {
		ocl_request_stage(&request, &batch->chunk, slot);
	} else {
		slot->record = OCL_NO_RECORD;
		qp->stats.enqueue_err_count++;
	}
	if (batch->nslots == qp->max_slots)
		launch(qp);
	return true;
}

uint16_t ocl_qp_enqueue(void *queue_pair, struct rte_crypto_op **ops, uint16_t n)
{
	struct ocl_qp *qp = queue_pair;
	uint16_t i;

	for (i = 0; i < n && enqueue_one(qp, ops[i]); i++)
		;
	/* An empty burst flushes, as it does with DPDK's software drivers. */
	if (n == 0 && qp->filling)
		launch(qp);
	launch_if_due(qp);
	qp->stats.enqueued_count += i;
	return i;
}

/* Up to n operations of the oldest batch; the batch is free after the last. */
static uint16_t dequeue_batch(struct ocl_qp *qp, struct rte_crypto_op **ops, uint16_t n)
{
	struct ocl_batch *batch = batch_at(qp, qp->head);
	uint16_t count = RTE_MIN(batch->nslots - batch->finished, (uint32_t)n);

	for (uint16_t i = 0; i < count; i++) {
		const struct ocl_slot *slot = &batch->slots[batch->finished++];

		ocl_slot_finish(slot, &batch->chunk);
		ops[i] = slot->op;
		qp->stats.dequeue_err_count += slot->op->status == RTE_CRYPTO_OP_STATUS_ERROR;
	}
	if (batch->finished == batch->nslots) {
		ocl_chunk_reset(&batch->chunk);
		batch->nslots = 0;
		batch->finished = 0;
		qp->head++;
	}
	return count;
}

uint16_t ocl_qp_dequeue(void *queue_pair, struct rte_crypto_op **ops, uint16_t n)
{
	struct ocl_qp *qp = queue_pair;
	uint16_t done = 0;

	launch_if_due(qp);
	while (done < n && qp->head + qp->filling != qp->tail) {
		struct ocl_batch *batch = batch_at(qp, qp->head);

		/* A batch half given back is back. */
		if (batch->finished == 0 && !is_back(qp, batch))
			break;
		done += dequeue_batch(qp, ops + done, n - done);
	}
	qp->stats.dequeued_count += done;
	return done;
}

void ocl_qp_drain(struct ocl_qp *qp)
{
	if (qp->filling)
		launch(qp);
	for (uint32_t i = qp->head; i != qp->tail; i++) {
		struct ocl_batch *batch = batch_at(qp, i);

		while (batch->finished == 0 && !is_back(qp, batch))
			rte_pause();
	}
}
