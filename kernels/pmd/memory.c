/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <rte_common.h>

#include "chunk.h"
#include "memory.h"

static cl_int launch_kernel(struct ocl_chunk *chunk, size_t items, const cl_event *after,
			    cl_event *done)
{
	const size_t local = OCL_WORK_GROUP;
	const size_t global = RTE_ALIGN_MUL_CEIL(items, local);

	return clEnqueueNDRangeKernel(chunk->queue, chunk->kernel, 1, NULL, &global, &local,
				      after ? 1 : 0, after, done);
}

static bool svm_usable(const struct ocl_device *dev)
{
	return dev->svm;
}

static cl_int svm_alloc(struct ocl_chunk *chunk)
{
	chunk->host = clSVMAlloc(chunk->dev->context,
				 CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, chunk->bytes,
				 RTE_CACHE_LINE_SIZE);
	if (chunk->host == NULL)
		return CL_MEM_OBJECT_ALLOCATION_FAILURE;
	return clSetKernelArgSVMPointer(chunk->kernel, 0, chunk->host);
}

static void svm_free(struct ocl_chunk *chunk)
{
	if (chunk->host)
		clSVMFree(chunk->dev->context, chunk->host);
}

static cl_int svm_launch(struct ocl_chunk *chunk, size_t in __rte_unused, size_t out __rte_unused,
			 size_t items, const cl_event *after)
{
	return launch_kernel(chunk, items, after, &chunk->done);
}

static bool staged_usable(const struct ocl_device *dev __rte_unused)
{
	return true;
}

static cl_int staged_alloc(struct ocl_chunk *chunk)
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
	chunk->host = clEnqueueMapBuffer(chunk->queue, chunk->pinned, CL_TRUE,
					 CL_MAP_READ | CL_MAP_WRITE, 0, chunk->bytes, 0, NULL,
					 NULL, &err);
	if (err != CL_SUCCESS)
		return err;
	return clSetKernelArg(chunk->kernel, 0, sizeof(chunk->buffer), &chunk->buffer);
}

static void staged_free(struct ocl_chunk *chunk)
{
	if (chunk->host) {
		clEnqueueUnmapMemObject(chunk->queue, chunk->pinned, chunk->host, 0, NULL, NULL);
		clFinish(chunk->queue);
	}
	if (chunk->pinned)
		clReleaseMemObject(chunk->pinned);
	if (chunk->buffer)
		clReleaseMemObject(chunk->buffer);
}

static cl_int staged_launch(struct ocl_chunk *chunk, size_t in, size_t out, size_t items,
			    const cl_event *after)
{
	cl_int err;

	err = clEnqueueWriteBuffer(chunk->queue, chunk->buffer, CL_FALSE, 0, in, chunk->host, 0,
				   NULL, NULL);
	if (err != CL_SUCCESS)
		return err;
	err = launch_kernel(chunk, items, after, NULL);
	if (err != CL_SUCCESS)
		return err;
	return clEnqueueReadBuffer(chunk->queue, chunk->buffer, CL_FALSE, 0, out, chunk->host, 0,
				   NULL, &chunk->done);
}

/* Best first. */
static const struct ocl_memory paths[] = {
	{"svm", svm_usable, svm_alloc, svm_free, svm_launch},
	{"staged", staged_usable, staged_alloc, staged_free, staged_launch},
};

const struct ocl_memory *ocl_memory_choose(const struct ocl_device *dev, const char *name)
{
	for (unsigned int i = 0; i < RTE_DIM(paths); i++) {
		if ((strcmp(name, "auto") == 0 || strcmp(name, paths[i].name) == 0) &&
		    paths[i].usable(dev))
			return &paths[i];
	}
	return NULL;
}
