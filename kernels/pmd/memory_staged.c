/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For discrete GPUs. The copy engine moves rectangles of many rows from pinned memory nearly as
 * fast as one large transfer; a run of few rows is copied into the chunk by the core instead.
 */
#include <string.h>

#include <rte_common.h>

#include "chunk.h"
#include "memory.h"

static bool usable(const struct ocl_device *dev __rte_unused)
{
	return true;
}

static u8 *map(cl_mem buffer, size_t bytes, cl_command_queue queue, cl_int *err)
{
	return clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
				  NULL, NULL, err);
}

static void unmap(cl_mem buffer, u8 *p, cl_command_queue queue)
{
	clEnqueueUnmapMemObject(queue, buffer, p, 0, NULL, NULL);
	clFinish(queue);
}

static cl_int chunk_argument(const struct ocl_chunk *chunk)
{
	return clSetKernelArg(chunk->kernel, OCL_ARG_CHUNK, sizeof(chunk->buffer), &chunk->buffer);
}

static cl_int alloc(struct ocl_chunk *chunk)
{
	cl_context context = chunk->dev->context;
	cl_int err;

	chunk->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, chunk->bytes, NULL, &err);
	if (err != CL_SUCCESS)
		return err;
	chunk->pinned = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
				       chunk->bytes, NULL, &err);
	if (err != CL_SUCCESS)
		return err;
	chunk->host = map(chunk->pinned, chunk->bytes, chunk->queue, &err);
	if (err != CL_SUCCESS)
		return err;
	return chunk_argument(chunk);
}

static void free_chunk(struct ocl_chunk *chunk)
{
	if (chunk->host)
		unmap(chunk->pinned, chunk->host, chunk->queue);
	if (chunk->pinned)
		clReleaseMemObject(chunk->pinned);
	if (chunk->buffer)
		clReleaseMemObject(chunk->buffer);
}

static uint32_t place(struct ocl_chunk *chunk, const struct ocl_pool *pool,
		      const struct ocl_row *row)
{
	return row->row * pool->mirror_pitch + ocl_rows_add(&chunk->rows, row);
}

/* Move a packet into the chunk; offsets from base stay as they are. */
static void gather(struct ocl_chunk *chunk, const struct ocl_row *row, uint32_t shift)
{
	const struct ocl_pool *pool = &chunk->pools->pool[row->pool];
	struct ocl_record *r = (struct ocl_record *)(chunk->host + row->record);
	u8 *from = pool->start + (row->second ? pool->twin : 0) + (size_t)row->row * pool->pitch +
		   row->from;
	uint32_t len = row->to - row->from;
	uint32_t offset = chunk->used + (row->from - row->start) % OCL_ALIGN;
	/* From column 0 of the row on the device to its place in the chunk. */
	uint32_t moved = offset - row->from - (row->row * pool->mirror_pitch + shift);

	memcpy(chunk->host + offset, from, len);
	chunk->used = RTE_ALIGN_CEIL(offset + len, OCL_ALIGN);
	r->base += moved;
	if (r->digest_area == r->area) {
		r->digest_off += moved;
		r->digest_area = OCL_AREA_CHUNK;
	}
	r->area = OCL_AREA_CHUNK;
	ocl_chunk_copy_back(chunk, r->result, from, offset, len);
}

static void settle(struct ocl_chunk *chunk)
{
	struct ocl_rows *rows = &chunk->rows;
	uint32_t least = ocl_rows_least(rows), kept = 0;

	for (uint32_t i = 0; i < rows->runs; i++) {
		const struct ocl_run *run = &rows->run[i];

		if (run->rows >= least) {
			rows->run[kept++] = *run;
			continue;
		}
		for (uint32_t j = 0; j < run->rows; j++)
			gather(chunk, &rows->row[run->first + j], run->shift);
	}
	rows->runs = kept;
}

/* A rectangle of a pool. */
struct area {
	const struct ocl_pool *pool;
	uint32_t row, rows;
	uint32_t from, to; /* columns */
	uint32_t shift;
	bool second; /* read from the second buffers, written to the first; else the reverse */
};

/* From one buffer of each mbuf to the mirror, or from there to the other buffer. */
static cl_int move(struct ocl_chunk *chunk, const struct area *a, bool in, cl_event *done)
{
	const size_t there[3] = {a->from + a->shift, a->row, 0};
	const size_t here[3] = {a->from, a->row, 0};
	const size_t region[3] = {a->to - a->from, a->rows, 1};
	u8 *start = a->pool->start + (a->second == in ? a->pool->twin : 0);

	if (in)
		return clEnqueueWriteBufferRect(chunk->queue, a->pool->mirror, CL_FALSE, there,
						here, region, a->pool->mirror_pitch, 0,
						a->pool->pitch, 0, start, 0, NULL, done);
	return clEnqueueReadBufferRect(chunk->queue, a->pool->mirror, CL_FALSE, there, here, region,
				       a->pool->mirror_pitch, 0, a->pool->pitch, 0, start, 0, NULL,
				       done);
}

static cl_int move_runs(struct ocl_chunk *chunk, bool in)
{
	cl_int err = CL_SUCCESS;

	for (uint32_t i = 0; err == CL_SUCCESS && i < chunk->rows.runs; i++) {
		const struct ocl_run *run = &chunk->rows.run[i];
		const struct ocl_row *first = &chunk->rows.row[run->first];
		const struct area area = {
			.pool = &chunk->pools->pool[first->pool],
			.row = first->row,
			.rows = run->rows,
			.from = run->from,
			.to = run->to,
			.shift = run->shift,
			.second = run->second,
		};

		err = move(chunk, &area, in, NULL);
	}
	return err;
}

/* The queue is in order: the event of the last transfer stands for all. */
static cl_int move_heads(struct ocl_chunk *chunk, bool in)
{
	const struct ocl_heads *heads = &chunk->heads;
	cl_int err = CL_SUCCESS;

	for (uint32_t i = 0; err == CL_SUCCESS && i < heads->runs; i++) {
		const struct area area = {
			.pool = heads->pool,
			.row = heads->run[i].row,
			.rows = heads->run[i].rows,
			.from = in ? heads->column - heads->aad : heads->column + OCL_HEAD_BACK,
			.to = heads->to,
			.shift = heads->shift,
			.second = heads->run[i].second,
		};
		bool last = !in && i + 1 == heads->runs;

		err = move(chunk, &area, in, last ? &chunk->done : NULL);
	}
	return err;
}

static cl_int launch_heads(struct ocl_chunk *chunk, size_t items, const cl_event *after)
{
	cl_int err;

	err = move_heads(chunk, true);
	if (err == CL_SUCCESS)
		err = ocl_memory_run(chunk, items, after, NULL);
	if (err == CL_SUCCESS)
		err = move_heads(chunk, false);
	return err;
}

static cl_int launch(struct ocl_chunk *chunk, size_t items, const cl_event *after)
{
	size_t end = chunk->results + chunk->records * sizeof(u32);
	size_t back = chunk->copies ? 0 : chunk->results;
	cl_int err;

	err = clEnqueueWriteBuffer(chunk->queue, chunk->buffer, CL_FALSE, 0, end, chunk->host, 0,
				   NULL, NULL);
	if (err == CL_SUCCESS)
		err = move_runs(chunk, true);
	if (err == CL_SUCCESS)
		err = ocl_memory_run(chunk, items, after, NULL);
	if (err == CL_SUCCESS)
		err = move_runs(chunk, false);
	if (err == CL_SUCCESS)
		err = clEnqueueReadBuffer(chunk->queue, chunk->buffer, CL_FALSE, back, end - back,
					  chunk->host + back, 0, NULL, &chunk->done);
	return err;
}

static void pool_free(struct ocl_pool *pool, const struct ocl_device *dev)
{
	cl_command_queue queue;

	queue = pool->start ? clCreateCommandQueue(dev->context, dev->id, 0, NULL) : NULL;
	if (queue) {
		unmap(pool->pinned, pool->start, queue);
		clReleaseCommandQueue(queue);
	}
	if (pool->pinned)
		clReleaseMemObject(pool->pinned);
	if (pool->mirror)
		clReleaseMemObject(pool->mirror);
}

static cl_int pool_alloc(struct ocl_pool *pool, const struct ocl_device *dev, size_t bytes)
{
	cl_command_queue queue;
	cl_int err;

	pool->mirror_pitch = pool->pitch + OCL_ALIGN;
	pool->pinned = clCreateBuffer(dev->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
				      bytes, NULL, &err);
	if (err != CL_SUCCESS)
		return err;
	pool->mirror = clCreateBuffer(dev->context, CL_MEM_READ_WRITE,
				      (size_t)pool->rows * pool->mirror_pitch, NULL, &err);
	if (err != CL_SUCCESS)
		return err;
	queue = clCreateCommandQueue(dev->context, dev->id, 0, &err);
	if (err != CL_SUCCESS)
		return err;
	pool->start = map(pool->pinned, bytes, queue, &err);
	clReleaseCommandQueue(queue);
	return err;
}

static cl_int pool_argument(cl_kernel kernel, cl_uint argument, const struct ocl_pool *pool)
{
	return clSetKernelArg(kernel, argument, sizeof(pool->mirror), &pool->mirror);
}

const struct ocl_memory ocl_memory_staged = {
	.name = "staged",
	.twins = true,
	.usable = usable,
	.alloc = alloc,
	.free = free_chunk,
	.place = place,
	.settle = settle,
	.chunk_argument = chunk_argument,
	.launch = launch,
	.launch_heads = launch_heads,
	.status = ocl_memory_status,
	.pool_alloc = pool_alloc,
	.pool_free = pool_free,
	.pool_argument = pool_argument,
};
