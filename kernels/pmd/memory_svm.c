/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fine-grained shared virtual memory, without transfers. The persistent path shares all of this but
 * the launch. */
#include <rte_common.h>

#include "chunk.h"
#include "memory.h"

static bool usable(const struct ocl_device *dev)
{
	return dev->svm;
}

static u8 *shared(const struct ocl_device *dev, size_t bytes)
{
	return clSVMAlloc(dev->context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes,
			  RTE_CACHE_LINE_SIZE);
}

cl_int ocl_svm_alloc(struct ocl_chunk *chunk)
{
	chunk->host = shared(chunk->dev, chunk->bytes);
	if (chunk->host == NULL)
		return CL_MEM_OBJECT_ALLOCATION_FAILURE;
	return clSetKernelArgSVMPointer(chunk->kernel, OCL_ARG_CHUNK, chunk->host);
}

void ocl_svm_free(struct ocl_chunk *chunk)
{
	if (chunk->host)
		clSVMFree(chunk->dev->context, chunk->host);
}

uint32_t ocl_svm_place(struct ocl_chunk *chunk __rte_unused, const struct ocl_pool *pool,
		       const struct ocl_row *row)
{
	return row->row * pool->pitch;
}

void ocl_svm_settle(struct ocl_chunk *chunk __rte_unused)
{
}

static cl_int launch(struct ocl_chunk *chunk, size_t items, const cl_event *after)
{
	return ocl_memory_run(chunk, items, after, &chunk->done);
}

cl_int ocl_svm_pool_alloc(struct ocl_pool *pool, const struct ocl_device *dev, size_t bytes)
{
	pool->start = shared(dev, bytes);
	return pool->start ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

void ocl_svm_pool_free(struct ocl_pool *pool, const struct ocl_device *dev)
{
	if (pool->start)
		clSVMFree(dev->context, pool->start);
}

cl_int ocl_svm_pool_argument(cl_kernel kernel, cl_uint argument, const struct ocl_pool *pool)
{
	return clSetKernelArgSVMPointer(kernel, argument, pool->start);
}

const struct ocl_memory ocl_memory_svm = {
	.name = "svm",
	.usable = usable,
	.alloc = ocl_svm_alloc,
	.free = ocl_svm_free,
	.place = ocl_svm_place,
	.settle = ocl_svm_settle,
	.launch = launch,
	.status = ocl_memory_status,
	.pool_alloc = ocl_svm_pool_alloc,
	.pool_free = ocl_svm_pool_free,
	.pool_argument = ocl_svm_pool_argument,
};
