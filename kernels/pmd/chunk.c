/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_pause.h>
#include <rte_prefetch.h>
#include <rte_spinlock.h>

#include "chunk.h"
#include "log.h"

#define POLLS	    65536 /* without a hint */
#define AHEAD	    8	  /* records */
#define PATIENCE_US 200

enum { DATA, DIGEST };

/*
 * Held for all calls of a launch. OpenCL's driver has a lock of its own, on which threads sleep: without
 * this one each call of each launch would wait until a sleeping thread has woken up.
 */
static rte_spinlock_t opencl_lock = RTE_SPINLOCK_INITIALIZER;

static int init_host(struct ocl_chunk *chunk, const struct ocl_chunk_params *p)
{

	chunk->dev = p->dev;
	chunk->memory = p->memory;
	chunk->pools = p->pools;
	chunk->max_records = RTE_MIN(p->records, p->sched->bins * p->sched->bin_size);
	chunk->room = p->bytes;
	chunk->bytes = p->bytes + (ocl_sched_entries(p->sched) + chunk->max_records) * sizeof(u32);
	chunk->copy = calloc(chunk->max_records, sizeof(*chunk->copy));
	chunk->copied = calloc(chunk->max_records, sizeof(*chunk->copied));
	if (chunk->copy == NULL || chunk->copied == NULL)
		return -ENOMEM;
	return ocl_bins_init(&chunk->bins, p->sched) ||
			       ocl_rows_init(&chunk->rows, chunk->max_records)
		       ? -ENOMEM
		       : 0;
}

static cl_int init_device(struct ocl_chunk *chunk, const struct ocl_chunk_params *p)
{
	static const struct ocl_head_rows no_heads;
	static const cl_mem none;
	cl_int err;

	chunk->queue = clCreateCommandQueue(p->dev->context, p->dev->id, 0, &err);
	if (err == CL_SUCCESS)
		chunk->kernel = clCreateKernel(p->dev->program, "crypto_opencl", &err);
	if (err == CL_SUCCESS)
		err = clSetKernelArg(chunk->kernel, OCL_ARG_SESSIONS, sizeof(p->sessions),
				     &p->sessions);
	if (err == CL_SUCCESS)
		err = clSetKernelArg(chunk->kernel, OCL_ARG_HEADS, sizeof(no_heads), &no_heads);
	for (cl_uint i = OCL_ARG_ORDER; err == CL_SUCCESS && i <= OCL_ARG_RESULTS; i++)
		err = clSetKernelArg(chunk->kernel, i, sizeof(chunk->order), &chunk->order);
	for (cl_uint i = 0; err == CL_SUCCESS && i < OCL_POOLS; i++)
		err = clSetKernelArg(chunk->kernel, OCL_ARG_POOLS + i, sizeof(none), &none);
	if (err == CL_SUCCESS)
		err = p->memory->alloc(chunk);
	return err;
}

int ocl_chunk_init(struct ocl_chunk *chunk, const struct ocl_chunk_params *params)
{
	cl_int err;
	int ret;

	memset(chunk, 0, sizeof(*chunk));
	ret = init_host(chunk, params);
	if (ret) {
		OCL_LOG(ERR, "no memory for a chunk of %zu bytes", chunk->bytes);
		return ret;
	}
	err = init_device(chunk, params);
	if (err == CL_SUCCESS)
		return 0;
	OCL_LOG(ERR, "no %s chunk of %zu bytes on %s: OpenCL error %d", params->memory->name,
		chunk->bytes, params->dev->name, err);
	return -EIO;
}

static void forget_event(struct ocl_chunk *chunk)
{
	/* On a lost device the launcher's thread may still use it. */
	if (chunk->done && !ocl_device_lost(chunk->dev))
		clReleaseEvent(chunk->done);
	chunk->done = NULL;
}

void ocl_chunk_free(struct ocl_chunk *chunk)
{
	if (chunk->dev == NULL)
		return;
	/* A lost device may still hold the buffers. */
	if (!ocl_device_lost(chunk->dev)) {
		forget_event(chunk);
		chunk->memory->free(chunk);
		if (chunk->kernel)
			clReleaseKernel(chunk->kernel);
		if (chunk->queue)
			clReleaseCommandQueue(chunk->queue);
	}
	ocl_rows_free(&chunk->rows);
	ocl_bins_free(&chunk->bins);
	free(chunk->copied);
	free(chunk->copy);
	memset(chunk, 0, sizeof(*chunk));
}

struct ocl_record *ocl_chunk_add(struct ocl_chunk *chunk, uint32_t label, uint32_t len,
				 uint32_t size)
{
	struct ocl_record *record = (struct ocl_record *)(chunk->host + chunk->used);
	int bin = ocl_bins_find(&chunk->bins, label, len);

	if (bin < 0)
		return NULL;
	ocl_bins_put(&chunk->bins, bin, len, chunk->used);
	record->result = chunk->records++;
	chunk->copied[record->result] = false;
	chunk->used += size;
	/* The device has read the last launch's records from here, so they are in no cache. */
	rte_prefetch0_write(record + AHEAD);
	return record;
}

u8 *ocl_chunk_add_head(struct ocl_chunk *chunk, const struct ocl_header *header, bool second,
		       uint32_t *record)
{
	*record = chunk->records++;
	return ocl_heads_add(&chunk->heads, header, second);
}

static struct ocl_copy *copy_of(struct ocl_chunk *chunk, uint32_t record)
{
	struct ocl_copy *copy = &chunk->copy[record];

	if (!chunk->copied[record])
		memset(copy, 0, sizeof(*copy));
	chunk->copied[record] = true;
	chunk->copies++;
	return copy;
}

void ocl_chunk_copy_back(struct ocl_chunk *chunk, uint32_t record, u8 *to, uint32_t from,
			 uint32_t len)
{
	struct ocl_copy *copy = copy_of(chunk, record);

	copy->to[DATA] = to;
	copy->from[DATA] = from;
	copy->len[DATA] = len;
}

void ocl_chunk_copy_digest(struct ocl_chunk *chunk, uint32_t record, u8 *to, uint32_t from,
			   uint32_t len)
{
	struct ocl_copy *copy = copy_of(chunk, record);

	copy->to[DIGEST] = to;
	copy->from[DIGEST] = from;
	copy->len[DIGEST] = len;
}

bool ocl_chunk_finish(const struct ocl_chunk *chunk, uint32_t record)
{
	const struct ocl_copy *copy = &chunk->copy[record];

	if (chunk->headed || !chunk->copied[record])
		return false;
	for (int i = DATA; i <= DIGEST; i++) {
		if (copy->to[i])
			memcpy(copy->to[i], chunk->host + copy->from[i], copy->len[i]);
	}
	return copy->to[DATA];
}

static cl_int set_pool(struct ocl_chunk *chunk, cl_uint index)
{
	if (chunk->areas >> index & 1)
		return chunk->memory->pool_argument(chunk->kernel, OCL_ARG_POOLS + index,
						    &chunk->pools->pool[index]);
	return clSetKernelArg(chunk->kernel, OCL_ARG_POOLS + index, sizeof(cl_mem), NULL);
}

/* Set only the arguments that differ from the last launch: each call takes time. */
static cl_int set_pools(struct ocl_chunk *chunk)
{
	uint32_t changes, differ;
	cl_int err = CL_SUCCESS;

	if (chunk->pools == NULL)
		return err;
	changes = chunk->pools->changes;
	differ = changes == chunk->pool_changes ? chunk->areas ^ chunk->pool_args : UINT32_MAX;
	for (cl_uint i = 0; err == CL_SUCCESS && differ && i < OCL_POOLS; i++) {
		if (differ >> i & 1)
			err = set_pool(chunk, i);
	}
	chunk->pool_changes = changes;
	chunk->pool_args = chunk->areas;
	return err;
}

static void write_order(struct ocl_chunk *chunk)
{
	u32 *results;

	chunk->order = chunk->used;
	chunk->entries = ocl_bins_order(&chunk->bins, (u32 *)(chunk->host + chunk->order));
	chunk->results = chunk->order + chunk->entries * sizeof(u32);
	results = (u32 *)(chunk->host + chunk->results);
	for (uint32_t i = 0; i < chunk->records; i++)
		results[i] = OCL_STATUS_PENDING;
}

void ocl_chunk_open(struct ocl_chunk *chunk, bool headed)
{
	ocl_state_move(&chunk->state, OCL_FILLING);
	chunk->headed = headed;
}

void ocl_chunk_close(struct ocl_chunk *chunk)
{
	ocl_state_move(&chunk->state, OCL_CLOSED);
	if (chunk->records == 0 || ocl_device_lost(chunk->dev))
		return;
	if (chunk->headed) {
		*ocl_heads_status(&chunk->heads, chunk->records - 1) = OCL_STATUS_PENDING;
	} else {
		chunk->memory->settle(chunk);
		write_order(chunk);
	}
}

/* Pass the pool as the chunk's argument. Before set_pools(), which updates pool_changes. */
static cl_int set_heads(struct ocl_chunk *chunk, uint32_t lanes)
{
	const struct ocl_pool *pool = chunk->heads.pool;
	struct ocl_head_rows rows;
	cl_int err = CL_SUCCESS;

	if (chunk->pool_arg != pool || chunk->pools->changes != chunk->pool_changes)
		err = chunk->memory->pool_argument(chunk->kernel, OCL_ARG_CHUNK, pool);
	chunk->pool_arg = pool;
	ocl_heads_describe(&chunk->heads, lanes, &rows);
	if (err == CL_SUCCESS)
		err = clSetKernelArg(chunk->kernel, OCL_ARG_HEADS, sizeof(rows), &rows);
	return err == CL_SUCCESS ? set_pools(chunk) : err;
}

static cl_int call_heads(struct ocl_chunk *chunk, const cl_event *after)
{
	const struct ocl_sched *sched = chunk->bins.sched;
	uint32_t lanes = ocl_sched_lanes(sched, chunk->heads.parallel, chunk->records);
	cl_int err = set_heads(chunk, lanes);

	if (err != CL_SUCCESS)
		return err;
	return chunk->memory->launch_heads(chunk,
					   RTE_ALIGN_MUL_CEIL(chunk->records * lanes,
							      sched->bin_size),
					   after);
}

/* Pass the chunk as its argument again. */
static cl_int set_chunk(struct ocl_chunk *chunk)
{
	static const struct ocl_head_rows none;
	cl_int err;

	if (chunk->pool_arg == NULL)
		return CL_SUCCESS;
	chunk->pool_arg = NULL;
	err = clSetKernelArg(chunk->kernel, OCL_ARG_HEADS, sizeof(none), &none);
	return err == CL_SUCCESS ? chunk->memory->chunk_argument(chunk) : err;
}

static cl_int call_records(struct ocl_chunk *chunk, const cl_event *after)
{
	cl_int err;

	err = set_chunk(chunk);
	if (err == CL_SUCCESS)
		err = clSetKernelArg(chunk->kernel, OCL_ARG_ORDER, sizeof(chunk->order),
				     &chunk->order);
	if (err == CL_SUCCESS)
		err = clSetKernelArg(chunk->kernel, OCL_ARG_RESULTS, sizeof(chunk->results),
				     &chunk->results);
	if (err == CL_SUCCESS)
		err = set_pools(chunk);
	return err == CL_SUCCESS ? chunk->memory->launch(chunk, chunk->entries, after) : err;
}

static cl_int call(struct ocl_chunk *chunk, const cl_event *after)
{
	cl_int err = chunk->headed ? call_heads(chunk, after) : call_records(chunk, after);

	return err == CL_SUCCESS ? clFlush(chunk->queue) : err;
}

/* Wait for the lock, but not long: calls without it are slower, not wrong. */
static bool lock_patiently(void)
{
	uint64_t end = rte_get_tsc_cycles() + rte_get_tsc_hz() / 1000000 * PATIENCE_US;

	while (!rte_spinlock_trylock(&opencl_lock)) {
		if (rte_get_tsc_cycles() >= end)
			return false;
		rte_pause();
	}
	return true;
}

/* The lock keeps the pools that are arguments from being freed meanwhile. */
static cl_int send(struct ocl_chunk *chunk, const cl_event *after)
{
	cl_int err;

	if (chunk->pools)
		rte_rwlock_read_lock(&chunk->pools->lock);
	err = call(chunk, after);
	if (chunk->pools)
		rte_rwlock_read_unlock(&chunk->pools->lock);
	return err;
}

static enum ocl_state launch(struct ocl_chunk *chunk, struct ocl_table *table)
{
	cl_event pending = table ? ocl_table_pending(table, chunk->upload) : NULL;
	cl_int err = send(chunk, pending ? &pending : NULL);

	if (pending)
		clReleaseEvent(pending);
	if (err == CL_SUCCESS)
		return OCL_LAUNCHED;
	ocl_device_fail(chunk->dev, "a launch failed", err);
	return OCL_LOST;
}

/* @return whether this is the first claim, which then holds */
static bool claim(struct ocl_chunk *chunk, uint32_t to)
{
	uint32_t none = OCL_CLAIM_NONE;

	return __atomic_compare_exchange_n(&chunk->claim, &none, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

enum ocl_state ocl_chunk_withdraw(struct ocl_chunk *chunk)
{
	return claim(chunk, OCL_CLAIM_WITHDRAW) ? OCL_UNSENT : OCL_LOST;
}

/* Once a launch is claimed its packets count as seen by the device, also if it fails. A device that
 * was lost while this thread waited for the lock gets nothing. */
enum ocl_state ocl_chunk_launch(struct ocl_chunk *chunk, struct ocl_table *table, bool patient)
{
	enum ocl_state state = OCL_UNSENT;
	bool locked;

	if (chunk->records == 0)
		return OCL_DONE;
	locked = patient ? lock_patiently() : rte_spinlock_trylock(&opencl_lock);
	if (!locked && !patient)
		return OCL_CLOSED;
	if (!ocl_device_lost(chunk->dev) && claim(chunk, OCL_CLAIM_LAUNCH))
		state = launch(chunk, table);
	if (locked)
		rte_spinlock_unlock(&opencl_lock);
	return state;
}

/* Asking OpenCL takes its lock, for which other queue pairs may wait. So ask when the last packet's status
 * has changed, which is a hint only, and every POLLS calls without that hint. A chunk that waits for room in
 * the mailbox gets there by being asked about. */
static bool worth_asking(struct ocl_chunk *chunk)
{
	const u32 *results = (const u32 *)(chunk->host + chunk->results);
	uint32_t index = chunk->records - 1;
	u32 last = chunk->headed ? __atomic_load_n(ocl_heads_status(&chunk->heads, index),
						   __ATOMIC_RELAXED)
				 : __atomic_load_n(&results[index], __ATOMIC_RELAXED);

	return chunk->unposted || last != OCL_STATUS_PENDING || ++chunk->polls % POLLS == 0;
}

enum ocl_state ocl_chunk_poll(struct ocl_chunk *chunk)
{
	cl_int status;

	if (!worth_asking(chunk) || !rte_spinlock_trylock(&opencl_lock))
		return OCL_LAUNCHED;
	status = chunk->memory->status(chunk);
	if (status <= CL_COMPLETE)
		forget_event(chunk);
	rte_spinlock_unlock(&opencl_lock);
	if (status > CL_COMPLETE)
		return OCL_LAUNCHED;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (status == CL_COMPLETE)
		return OCL_DONE;
	ocl_device_fail(chunk->dev, "a chunk failed", status);
	return OCL_LOST;
}

void ocl_chunk_reset(struct ocl_chunk *chunk)
{
	ocl_state_move(&chunk->state, OCL_EMPTY);
	forget_event(chunk);
	ocl_bins_reset(&chunk->bins);
	ocl_rows_reset(&chunk->rows);
	chunk->heads.runs = 0;
	chunk->headed = false;
	chunk->records = 0;
	chunk->used = 0;
	chunk->reserved = 0;
	chunk->copies = 0;
	chunk->areas = 0;
	chunk->upload = 0;
	chunk->polls = 0;
	__atomic_store_n(&chunk->claim, OCL_CLAIM_NONE, __ATOMIC_RELAXED);
	chunk->unposted = false;
}
