/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "log.h"
#include "qp.h"

#define MIN_BATCHES 3u	 /* one filling, one computing, one being emptied */
#define SLOT_BYTES  1024 /* room in a batch for each operation: fewer fit if packets are longer */
#define FILL_OF_GPU 4812800u /* bytes of a queue pair in flight: four queue pairs keep a GPU busy */
#define FILL_SLOT   2350u    /* the same for each operation of a batch; the larger limit holds */
#define LARGEST	    68608    /* bytes of a record with the largest single-segment packet */
#define AHEAD	    8	     /* operations to prefetch when enqueueing */
#define HEADS_AHEAD 16	     /* packets' heads to prefetch when enqueueing */
#define FAR_AHEAD   48 /* operations to prefetch when dequeueing: they have left the core's caches */
#define HEADLESS    64u	 /* batches with records after one whose packets differ */
#define PATIENCE_US 500u /* for the lock around OpenCL */
#define EXTENSION   8	 /* part of timeout_ms by which the first deadline is extended */

static uint32_t batch_bytes(uint32_t chunk)
{
	return RTE_MAX(chunk * SLOT_BYTES, (uint32_t)LARGEST);
}

static int init_batches(struct ocl_qp *qp, uint32_t n, int socket)
{
	struct ocl_pmd *pmd = qp->pmd;
	const struct ocl_chunk_params params = {
		.dev = &pmd->device,
		.memory = pmd->memory,
		.sched = &pmd->sched,
		.pools = &pmd->pools,
		.sessions = pmd->table.buffer,
		.records = qp->chunk,
		.bytes = batch_bytes(qp->chunk),
	};
	int err = 0;

	qp->batches = rte_zmalloc_socket("ocl batches", n * sizeof(*qp->batches),
					 RTE_CACHE_LINE_SIZE, socket);
	if (qp->batches == NULL)
		return -ENOMEM;
	for (; !err && qp->nbatches < n; qp->nbatches++)
		err = ocl_chunk_init(&qp->batches[qp->nbatches].chunk, &params);
	return err;
}

static int init_slots(struct ocl_qp *qp, uint32_t n, int socket)
{
	n = rte_align32pow2(n);
	qp->mask = n - 1;
	qp->slots = rte_zmalloc_socket("ocl slots", n * sizeof(*qp->slots), RTE_CACHE_LINE_SIZE,
				       socket);
	qp->leftover = rte_zmalloc_socket("ocl leftover", qp->chunk * sizeof(*qp->leftover),
					  RTE_CACHE_LINE_SIZE, socket);
	return qp->slots && qp->leftover ? 0 : -ENOMEM;
}

/* On a GPU a packet waits until the bytes of all packets under way have been transferred. */
static uint64_t limit_of(const struct ocl_pmd *pmd)
{
	if (pmd->args.under_way)
		return pmd->args.under_way * UINT64_C(1024);
	if (pmd->device.cpu)
		return UINT64_MAX;
	return RTE_MAX(FILL_OF_GPU, pmd->sched.chunk * FILL_SLOT);
}

int ocl_qp_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
		 int socket)
{
	struct ocl_pmd *pmd = dev->data->dev_private;
	struct ocl_qp *qp;
	uint32_t batches;
	int err;

	if (id >= pmd->args.max_queue_pairs)
		return -EINVAL;
	ocl_qp_release(dev, id);
	qp = rte_zmalloc_socket("ocl queue pair", sizeof(*qp), RTE_CACHE_LINE_SIZE, socket);
	if (qp == NULL)
		return -ENOMEM;
	dev->data->queue_pairs[id] = qp;
	qp->pmd = pmd;
	qp->chunk = pmd->sched.chunk;
	qp->wait_cycles = rte_get_tsc_hz() / 1000000 * pmd->args.wait_us;
	qp->busy_cycles = rte_get_tsc_hz() / 1000000 * (pmd->args.busy_wait_us - pmd->args.wait_us);
	qp->timeout_cycles = rte_get_tsc_hz() / 1000 * pmd->args.timeout_ms;
	qp->limit = limit_of(pmd);
	batches = RTE_MAX((conf->nb_descriptors + qp->chunk - 1) / qp->chunk, MIN_BATCHES);
	err = init_slots(qp, batches * qp->chunk, socket);
	if (!err)
		err = init_batches(qp, batches, socket);
	if (err)
		ocl_qp_release(dev, id);
	return err;
}

int ocl_qp_release(struct rte_cryptodev *dev, uint16_t id)
{
	struct ocl_qp *qp = dev->data->queue_pairs[id];

	if (qp == NULL)
		return 0;
	if (qp->nbatches)
		ocl_qp_drain(qp);
	for (uint32_t i = 0; !qp->pmd->stuck && i < qp->nbatches; i++)
		ocl_chunk_free(&qp->batches[i].chunk);
	if (!qp->pmd->stuck)
		rte_free(qp->batches);
	rte_free(qp->leftover);
	rte_free(qp->slots);
	rte_free(qp);
	dev->data->queue_pairs[id] = NULL;
	return 0;
}

static struct ocl_batch *batch_at(struct ocl_qp *qp, uint32_t position)
{
	return &qp->batches[position % qp->nbatches];
}

static struct ocl_slot *slot_at(struct ocl_qp *qp, uint32_t position)
{
	return &qp->slots[position & qp->mask];
}

/* The batch moves to a state after CLOSED; in a final one it is not under way any more. */
static void move(struct ocl_qp *qp, struct ocl_batch *batch, enum ocl_state to)
{
	if (!ocl_state_move(&batch->chunk.state, to) || !ocl_state_is_final(to))
		return;
	qp->under_way--;
	qp->bytes -= batch->bytes;
}

/* Give a closed batch to the launcher's thread, if there is one, else to OpenCL. The thread ends when
 * the device is lost. */
static enum ocl_state launch(struct ocl_qp *qp, struct ocl_batch *batch)
{
	if (qp->pmd->launcher && !ocl_device_lost(&qp->pmd->device))
		return ocl_launcher_post(qp->pmd->launcher, &batch->chunk) ? OCL_LAUNCHED
									   : OCL_CLOSED;
	return ocl_chunk_launch(&batch->chunk, &qp->pmd->table,
				rte_get_tsc_cycles() >= batch->deadline);
}

/* Launch closed batches, oldest first. While another queue pair launches, this one goes on with other
 * work, until the batch's deadline. */
static void launch_closed(struct ocl_qp *qp)
{
	while (qp->unlaunched != qp->newest && batch_at(qp, qp->unlaunched) != qp->filling) {
		struct ocl_batch *batch = batch_at(qp, qp->unlaunched);
		enum ocl_state state = launch(qp, batch);

		if (state == OCL_CLOSED)
			return;
		batch->deadline = rte_get_tsc_cycles() + qp->timeout_cycles;
		move(qp, batch, state);
		qp->unlaunched++;
	}
}

static void close_batch(struct ocl_qp *qp, bool leftover_due)
{
	struct ocl_batch *batch = qp->filling;

	batch->deadline = rte_get_tsc_cycles() + rte_get_tsc_hz() / 1000000 * PATIENCE_US;
	batch->bytes = ocl_chunk_bytes(&batch->chunk);
	qp->bytes += batch->bytes;
	qp->under_way++;
	ocl_chunk_close(&batch->chunk);
	qp->filling = NULL;
	qp->leftover_due = leftover_due;
	launch_closed(qp);
}

static void spread(struct ocl_qp *qp, struct ocl_batch *batch);

static bool stage(struct ocl_qp *qp, struct ocl_slot *slot, struct ocl_request *request,
		  struct ocl_batch *batch)
{
	if (batch->chunk.headed && !ocl_request_suits(request, &batch->chunk))
		spread(qp, batch);
	if (!ocl_chunk_fits(&batch->chunk, request->size + request->reserve) ||
	    !ocl_request_stage(request, slot->op, &batch->chunk, &slot->record))
		return false;
	slot->shift = ocl_request_twin(request);
	slot->batch = batch;
	batch->pending++;
	return true;
}

/* A device that was given up may only be late, and still read the records of its last chunks: no more
 * operations are staged. */
static enum rte_crypto_op_status parse(struct ocl_qp *qp, const struct rte_crypto_op *op,
				       struct ocl_request *request)
{
	if (ocl_device_lost(&qp->pmd->device))
		return RTE_CRYPTO_OP_STATUS_ERROR;
	return ocl_request_parse(request, op, qp->pmd, &qp->hint);
}

/* The operation leaves without being processed. */
static void refuse(struct ocl_qp *qp, struct ocl_slot *slot, enum rte_crypto_op_status status)
{
	slot->final = true;
	slot->batch = NULL;
	slot->op->status = status;
	if (status == RTE_CRYPTO_OP_STATUS_ERROR)
		qp->stats.dequeue_err_count++;
	else
		qp->stats.enqueue_err_count++;
}

/* The operation finds no bin, and is staged again in the next batch. */
static void leave_over(struct ocl_qp *qp, uint32_t position, const struct ocl_request *request)
{
	qp->leftover[qp->nleftover++] = position;
	qp->leftover_bytes += request->size + request->reserve;
}

/* Stage an operation that was enqueued before. It is checked again: since then the device may have been
 * lost, or the application may have freed the session too early. */
static void stage_again(struct ocl_qp *qp, uint32_t position, struct ocl_batch *batch)
{
	struct ocl_slot *slot = slot_at(qp, position);
	struct ocl_request request;
	enum rte_crypto_op_status status = parse(qp, slot->op, &request);

	if (status != RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
		refuse(qp, slot, status);
	else if (!stage(qp, slot, &request, batch))
		leave_over(qp, position, &request);
}

/* Leftover operations are the first in a new batch. */
static void stage_leftover(struct ocl_qp *qp, struct ocl_batch *batch)
{
	uint32_t n = qp->nleftover;

	qp->nleftover = 0;
	qp->leftover_bytes = 0;
	for (uint32_t i = 0; i < n; i++)
		stage_again(qp, qp->leftover[i], batch);
}

/* The next packet cannot join those of a headed batch: stage all of them again, as records. So are the
 * next batches, whose packets will probably differ too. */
static void spread(struct ocl_qp *qp, struct ocl_batch *batch)
{
	if (batch->pending)
		qp->headless = HEADLESS;
	ocl_chunk_reset(&batch->chunk);
	ocl_chunk_open(&batch->chunk, false);
	batch->pending = 0;
	for (uint32_t i = qp->head; i != qp->tail; i++) {
		struct ocl_slot *slot = slot_at(qp, i);

		if (slot->final || slot->batch != batch)
			continue;
		slot->batch = NULL;
		stage_again(qp, i, batch);
	}
}

/* Whether a new batch begins with packets that bring their heads. */
static bool try_heads(struct ocl_qp *qp)
{
	if (qp->pmd->memory->launch_heads == NULL || qp->nleftover)
		return false;
	if (qp->headless == 0)
		return true;
	qp->headless--;
	return false;
}

/* On a lost device, where the launcher's thread may still read any of the chunks. */
static void refuse_leftover(struct ocl_qp *qp)
{
	for (uint32_t i = 0; i < qp->nleftover; i++)
		refuse(qp, slot_at(qp, qp->leftover[i]), RTE_CRYPTO_OP_STATUS_ERROR);
	qp->nleftover = 0;
	qp->leftover_bytes = 0;
}

/* Whether there is a batch that is not in use. */
static bool has_another(const struct ocl_qp *qp)
{
	return qp->newest - qp->oldest < qp->nbatches;
}

/* The filling batch, a new one if there is none; NULL if all are in use, or the device is lost. */
static struct ocl_batch *filling(struct ocl_qp *qp)
{
	struct ocl_batch *batch;

	if (qp->filling)
		return qp->filling;
	if (ocl_device_lost(&qp->pmd->device)) {
		refuse_leftover(qp);
		return NULL;
	}
	if (!has_another(qp))
		return NULL;
	batch = batch_at(qp, qp->newest++);
	batch->deadline = rte_get_tsc_cycles();
	if (qp->nleftover == 0 || !qp->leftover_due)
		batch->deadline += qp->wait_cycles;
	qp->filling = batch;
	ocl_chunk_open(&batch->chunk, try_heads(qp));
	stage_leftover(qp, batch);
	return batch;
}

/* Its operations fail. A thread launches none that it has not begun to launch. */
static enum ocl_state give_up(struct ocl_qp *qp, struct ocl_batch *batch)
{
	return qp->pmd->launcher ? ocl_chunk_withdraw(&batch->chunk) : OCL_LOST;
}

static enum ocl_state ask(struct ocl_qp *qp, struct ocl_batch *batch)
{
	if (qp->pmd->launcher)
		return __atomic_load_n(&batch->chunk.returned, __ATOMIC_ACQUIRE);
	return ocl_chunk_poll(&batch->chunk);
}

/* The deadline of a launched batch has passed. It is extended once, for a process that was stopped
 * meanwhile and could not ask. */
static enum ocl_state late(struct ocl_qp *qp, struct ocl_batch *batch)
{
	enum ocl_state state;

	if (batch->chunk.state == OCL_LAUNCHED) {
		batch->deadline = rte_get_tsc_cycles() + qp->timeout_cycles / EXTENSION;
		return OCL_OVERDUE;
	}
	state = give_up(qp, batch);
	ocl_device_fail(&qp->pmd->device, "no answer within timeout_ms", 0);
	return state;
}

/* Where the launcher's thread polls, it stops when the device is lost: nothing returns then. */
static enum ocl_state next_state(struct ocl_qp *qp, struct ocl_batch *batch)
{
	enum ocl_state state = ask(qp, batch);

	if (state != OCL_LAUNCHED)
		return state;
	if (qp->pmd->launcher && ocl_device_lost(&qp->pmd->device))
		return give_up(qp, batch);
	return rte_get_tsc_cycles() < batch->deadline ? batch->chunk.state : late(qp, batch);
}

/* Whether a batch is in a final state, after asking for it. */
static bool is_final(struct ocl_qp *qp, struct ocl_batch *batch)
{
	enum ocl_state now = batch->chunk.state, next;

	if (ocl_state_is_launched(now)) {
		next = next_state(qp, batch);
		if (next != now)
			move(qp, batch, next);
	}
	return ocl_state_is_final(batch->chunk.state);
}

/* Whether the device has a batch of this queue pair. Then a part-filled one goes on filling, so batches
 * grow with the load. */
static bool is_busy(struct ocl_qp *qp)
{
	for (uint32_t i = qp->oldest; qp->under_way && i != qp->newest; i++)
		is_final(qp, batch_at(qp, i));
	return qp->under_way;
}

/* Whether the filling batch has waited long enough: while the device is busy, busy_cycles longer, and only
 * if there is another batch to fill. */
static bool is_due(struct ocl_qp *qp)
{
	uint64_t deadline = qp->filling->deadline, now = rte_get_tsc_cycles();

	if (now < deadline)
		return false;
	return !is_busy(qp) || (now >= deadline + qp->busy_cycles && has_another(qp));
}

static void launch_if_due(struct ocl_qp *qp)
{
	if (!qp->filling && qp->nleftover)
		filling(qp);
	if (qp->filling && is_due(qp))
		close_batch(qp, true);
}

/* A full chunk of operations, leftover included, or no room for the next packet. */
static bool is_full(const struct ocl_qp *qp, const struct ocl_batch *batch, uint32_t size)
{
	return batch->chunk.records + qp->nleftover >= qp->chunk ||
	       !ocl_chunk_fits(&batch->chunk, size);
}

/* Whether the limit allows so many bytes more; the first packet is always allowed. */
static bool is_within(const struct ocl_qp *qp, uint32_t size)
{
	uint64_t bytes = qp->bytes + qp->leftover_bytes;

	if (qp->filling)
		bytes += ocl_chunk_bytes(&qp->filling->chunk);
	return bytes == 0 || bytes + size <= qp->limit;
}

/* The same, after asking for launched batches. If not, the filling batch is closed when the device is
 * idle or the packet has no room in it: no more packets are coming. */
static bool is_allowed(struct ocl_qp *qp, uint32_t size)
{
	bool busy;

	if (is_within(qp, size))
		return true;
	busy = is_busy(qp);
	if (is_within(qp, size))
		return true;
	if (qp->filling && (!busy || is_full(qp, qp->filling, size)))
		close_batch(qp, false);
	return false;
}

/* A batch with room for size bytes; NULL if there is none. */
static struct ocl_batch *batch_with_room(struct ocl_qp *qp, uint32_t size)
{
	struct ocl_batch *batch;

	if (!is_allowed(qp, size))
		return NULL;
	batch = filling(qp);
	while (batch && is_full(qp, batch, size)) {
		close_batch(qp, false);
		batch = filling(qp);
	}
	return batch;
}

static bool enqueue_one(struct ocl_qp *qp, struct rte_crypto_op *op)
{
	struct ocl_slot *slot = slot_at(qp, qp->tail);
	struct ocl_batch *batch = NULL;
	struct ocl_request request;
	enum rte_crypto_op_status status;

	if (qp->tail - qp->head > qp->mask)
		return false;
	status = parse(qp, op, &request);
	if (status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED) {
		batch = batch_with_room(qp, request.size + request.reserve);
		if (batch == NULL && !ocl_device_lost(&qp->pmd->device))
			return false;
		if (batch == NULL)
			status = RTE_CRYPTO_OP_STATUS_ERROR;
	}
	slot->op = op;
	if (batch) {
		op->status = status;
		slot->final = false;
		if (!stage(qp, slot, &request, batch)) {
			slot->batch = NULL;
			leave_over(qp, qp->tail, &request);
		}
	} else {
		refuse(qp, slot, status);
	}
	qp->tail++;
	return true;
}

/* A full batch need not wait for the next packet to be found full. */
static void launch_if_full(struct ocl_qp *qp)
{
	if (qp->filling && qp->filling->chunk.records + qp->nleftover >= qp->chunk)
		close_batch(qp, false);
}

/* The memory of a packet's head, which the application has hardly touched. */
static void fetch_head(const struct rte_mbuf *m)
{
	if (m)
		rte_prefetch0_write(rte_pktmbuf_mtod(m, u8 *) - sizeof(struct ocl_head));
}

uint16_t ocl_qp_enqueue(void *queue_pair, struct rte_crypto_op **ops, uint16_t n)
{
	struct ocl_qp *qp = queue_pair;
	uint16_t i;

	launch_closed(qp);
	for (i = 0; i < n && i < HEADS_AHEAD; i++)
		fetch_head(ops[i]->sym->m_src);
	for (i = 0; i < n; i++) {
		if (i + 4 * AHEAD < n)
			rte_prefetch0(ops[i + 4 * AHEAD]);
		if (i + 3 * AHEAD < n)
			rte_prefetch0(ops[i + 3 * AHEAD]->sym->m_src);
		if (i + HEADS_AHEAD < n)
			fetch_head(ops[i + HEADS_AHEAD]->sym->m_src);
		if (!enqueue_one(qp, ops[i]))
			break;
	}
	/* An empty burst flushes, as it does with DPDK's software drivers. */
	if (n == 0 && qp->filling)
		close_batch(qp, true);
	launch_if_full(qp);
	/* The last batch stays open for the next operations until the application dequeues. */
	if (has_another(qp))
		launch_if_due(qp);
	qp->stats.enqueued_count += i;
	return i;
}

static enum rte_crypto_op_status status_of(const struct ocl_slot *slot)
{
	switch (ocl_chunk_result(&slot->batch->chunk, slot->record)) {
	case OCL_STATUS_DONE:
		return RTE_CRYPTO_OP_STATUS_SUCCESS;
	case OCL_STATUS_AUTH_FAILED:
		return RTE_CRYPTO_OP_STATUS_AUTH_FAILED;
	default:
		return RTE_CRYPTO_OP_STATUS_ERROR;
	}
}

/* The device may still write to the packet, if its buffer is in a pool that the device maps: then
 * the mbuf never returns to the pool. With two buffers the device writes to the one that is not the mbuf's. */
static void keep_packet(struct ocl_qp *qp, struct rte_mbuf *m)
{
	const struct ocl_pool *pool = ocl_pools_find(&qp->pmd->pools,
						     rte_pktmbuf_mtod(m, uint8_t *), &qp->hint);

	if (pool && !pool->twin)
		rte_mbuf_refcnt_update(m, 1);
}

static void finish(struct ocl_qp *qp, const struct ocl_slot *slot)
{
	struct ocl_batch *batch = slot->batch;

	slot->op->status = status_of(slot);
	batch->pending--;
	if (slot->op->status == RTE_CRYPTO_OP_STATUS_SUCCESS &&
	    !ocl_chunk_finish(&batch->chunk, slot->record) && slot->shift)
		ocl_request_move(slot->op, slot->shift);
	if (slot->op->status != RTE_CRYPTO_OP_STATUS_ERROR)
		return;
	qp->stats.dequeue_err_count++;
	if (batch->chunk.state == OCL_LOST)
		keep_packet(qp, slot->op->sym->m_src);
}

/* Batches whose operations have all been dequeued can be filled again. */
static void free_batches(struct ocl_qp *qp)
{
	while (qp->oldest != qp->newest) {
		struct ocl_batch *batch = batch_at(qp, qp->oldest);

		if (!is_final(qp, batch) || batch->pending)
			return;
		/* Of a lost device the thread may still read chunks; they get no more packets. */
		if (!qp->pmd->launcher || !ocl_device_lost(&qp->pmd->device))
			ocl_chunk_reset(&batch->chunk);
		qp->oldest++;
	}
}

/* The next operation to be dequeued is left over, and later operations have all batches. Finish the
 * completed ones, to free a batch for it. */
static void finish_early(struct ocl_qp *qp)
{
	for (uint32_t i = qp->head; i != qp->tail; i++) {
		struct ocl_slot *slot = slot_at(qp, i);

		if (!slot->final && slot->batch && is_final(qp, slot->batch)) {
			finish(qp, slot);
			slot->final = true;
		}
	}
	free_batches(qp);
}

/* The head's status, which the device has written; the same cache line of the packet will be written. */
static void fetch_status(const struct ocl_slot *slot)
{
	const struct ocl_batch *batch = slot->batch;

	if (!slot->final && batch && batch->chunk.state == OCL_DONE && batch->chunk.headed)
		rte_prefetch0_write(ocl_heads_status(&batch->chunk.heads, slot->record));
}

/* Prefetch an operation, and later, when it names the packet, the packet's mbuf and status. */
static void fetch_ahead(const struct ocl_qp *qp)
{
	const struct ocl_slot *slot = &qp->slots[(qp->head + FAR_AHEAD / 2) & qp->mask];
	const struct rte_crypto_op *far = qp->slots[(qp->head + FAR_AHEAD) & qp->mask].op;

	rte_prefetch0(far);
	rte_prefetch0(RTE_PTR_ADD(far, RTE_CACHE_LINE_SIZE));
	if (qp->tail - qp->head <= FAR_AHEAD / 2)
		return;
	fetch_status(slot);
	if (slot->shift)
		rte_prefetch0_write(slot->op->sym->m_src);
}

uint16_t ocl_qp_dequeue(void *queue_pair, struct rte_crypto_op **ops, uint16_t n)
{
	struct ocl_qp *qp = queue_pair;
	uint16_t done = 0;

	launch_closed(qp);
	launch_if_due(qp);
	while (done < n && qp->head != qp->tail) {
		const struct ocl_slot *slot = slot_at(qp, qp->head);

		if (!slot->final) {
			if (slot->batch == NULL && !filling(qp))
				finish_early(qp);
			if (slot->batch == NULL || !is_final(qp, slot->batch))
				break;
			finish(qp, slot);
		}
		ops[done++] = slot->op;
		qp->head++;
		fetch_ahead(qp);
	}
	if (done || qp->head == qp->tail)
		free_batches(qp);
	qp->stats.dequeued_count += done;
	return done;
}

/* Whether all batches are final. */
static bool is_idle(struct ocl_qp *qp)
{
	for (uint32_t i = qp->oldest; i != qp->newest; i++) {
		if (!is_final(qp, batch_at(qp, i)))
			return false;
	}
	return true;
}

void ocl_qp_drain(struct ocl_qp *qp)
{
	do {
		if (qp->filling)
			close_batch(qp, true);
		while (!is_idle(qp)) {
			launch_closed(qp);
			rte_pause();
		}
		/* Leftover operations stay if no batch is free, because the application has not dequeued. */
	} while (qp->nleftover && filling(qp));
}
