/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "chunk.h"
#include "log.h"

int ocl_chunk_init(struct ocl_chunk *chunk, struct ocl_device *dev, const struct ocl_memory *memory,
		   cl_command_queue queue, cl_mem sessions, uint32_t max_records, uint32_t bytes)
{
	cl_int err;

	memset(chunk, 0, sizeof(*chunk));
	chunk->dev = dev;
	chunk->memory = memory;
	chunk->queue = queue;
	chunk->max_records = max_records;
	chunk->bytes = bytes + max_records * sizeof(*chunk->order);
	chunk->order = calloc(max_records, sizeof(*chunk->order));
	if (chunk->order == NULL)
		return -ENOMEM;
	chunk->kernel = clCreateKernel(dev->program, "crypto_opencl", &err);
	if (err == CL_SUCCESS)
		err = clSetKernelArg(chunk->kernel, 3, sizeof(sessions), &sessions);
	if (err == CL_SUCCESS)
		err = memory->alloc(chunk);
	if (err != CL_SUCCESS) {
		OCL_LOG(ERR, "no %s chunk of %zu bytes on %s: OpenCL error %d", memory->name,
			chunk->bytes, dev->name, err);
		return -EIO;
	}
	return 0;
}

void ocl_chunk_free(struct ocl_chunk *chunk)
{
	if (chunk->dev == NULL)
		return;
	free(chunk->order);
	/* A lost device may still hold the buffers. */
	if (!ocl_device_lost(chunk->dev)) {
		ocl_chunk_reset(chunk);
		chunk->memory->free(chunk);
		if (chunk->kernel)
			clReleaseKernel(chunk->kernel);
	}
	memset(chunk, 0, sizeof(*chunk));
}

uint32_t ocl_chunk_room(const struct ocl_chunk *chunk)
{
	if (chunk->records == chunk->max_records)
		return 0;
	return chunk->bytes - chunk->max_records * sizeof(*chunk->order) - chunk->used;
}

struct ocl_record *ocl_chunk_add(struct ocl_chunk *chunk, uint32_t size)
{
	struct ocl_record *record = (struct ocl_record *)(chunk->host + chunk->used);

	chunk->order[chunk->records++] = chunk->used;
	chunk->used += size;
	return record;
}

void ocl_chunk_launch(struct ocl_chunk *chunk, struct ocl_table *table)
{
	const size_t order_bytes = chunk->records * sizeof(*chunk->order);
	cl_event pending;
	cl_int err;

	if (chunk->records == 0)
		return;
	memcpy(chunk->host + chunk->used, chunk->order, order_bytes);
	pending = table ? ocl_table_pending(table, chunk->upload) : NULL;
	if (ocl_device_lost(chunk->dev)) {
		chunk->failed = true;
		goto release;
	}
	err = clSetKernelArg(chunk->kernel, 1, sizeof(cl_uint), &chunk->used);
	if (err == CL_SUCCESS)
		err = clSetKernelArg(chunk->kernel, 2, sizeof(cl_uint), &chunk->records);
	if (err == CL_SUCCESS)
		err = chunk->memory->launch(chunk, chunk->used + order_bytes, chunk->used,
					    chunk->records, pending ? &pending : NULL);
	if (err == CL_SUCCESS)
		err = clFlush(chunk->queue);
	if (err != CL_SUCCESS) {
		chunk->failed = true;
		ocl_device_fail(chunk->dev, "a launch failed", err);
	}
release:
	if (pending)
		clReleaseEvent(pending);
}

bool ocl_chunk_poll(struct ocl_chunk *chunk)
{
	cl_int status = CL_COMPLETE;
	cl_int err;

	if (chunk->records == 0 || chunk->failed)
		return true;
	err = clGetEventInfo(chunk->done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
			     &status, NULL);
	if (err == CL_SUCCESS && status > CL_COMPLETE)
		return false;
	/* The status alone orders nothing; waiting for what is complete does. */
	if (err == CL_SUCCESS && status == CL_COMPLETE)
		err = clWaitForEvents(1, &chunk->done);
	if (err != CL_SUCCESS || status < 0) {
		chunk->failed = true;
		ocl_device_fail(chunk->dev, "a chunk failed", err ? err : status);
	}
	return true;
}

void ocl_chunk_reset(struct ocl_chunk *chunk)
{
	if (chunk->done)
		clReleaseEvent(chunk->done);
	chunk->done = NULL;
	chunk->records = 0;
	chunk->used = 0;
	chunk->upload = 0;
	chunk->failed = false;
}
