/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <stdlib.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include "faults.h"

bool fault_launch, fault_hang, fault_error;
unsigned int launches, wipes, rectangles;
size_t uploaded;
static cl_command_queue written_queue;
static cl_mem written;

#define EXPORT __attribute__((visibility("default")))

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
				     const size_t *offset, const size_t *global,
				     const size_t *local, cl_uint nwait, const cl_event *wait,
				     cl_event *event)
{
	cl_int (*next)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
		       const size_t *, cl_uint, const cl_event *, cl_event *) =
		real("clEnqueueNDRangeKernel");

	if (fault_launch)
		return CL_OUT_OF_RESOURCES;
	__atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
	return next(queue, kernel, dims, offset, global, local, nwait, wait, event);
}

EXPORT cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *value,
			     size_t *size_ret)
{
	cl_int (*next)(cl_event, cl_event_info, size_t, void *, size_t *) = real("clGetEventInfo");
	cl_int err = next(event, what, size, value, size_ret);

	if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && fault_hang)
		*(cl_int *)value = CL_RUNNING;
	if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && fault_error)
		*(cl_int *)value = CL_OUT_OF_RESOURCES;
	return err;
}

EXPORT cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				   size_t offset, size_t size, const void *data, cl_uint nwait,
				   const cl_event *wait, cl_event *event)
{
	cl_int (*next)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
		       const cl_event *, cl_event *) = real("clEnqueueWriteBuffer");
	const unsigned char *bytes = data;
	size_t i = 0;

	while (i < size && bytes[i] == 0)
		i++;
	wipes += i == size;
	uploaded += size;
	written_queue = queue;
	written = buffer;
	return next(queue, buffer, blocking, offset, size, data, nwait, wait, event);
}

void *read_back(size_t *size)
{
	void *bytes;

	if (clGetMemObjectInfo(written, CL_MEM_SIZE, sizeof(*size), size, NULL) != CL_SUCCESS)
		return NULL;
	bytes = malloc(*size);
	if (bytes && clEnqueueReadBuffer(written_queue, written, CL_TRUE, 0, *size, bytes, 0, NULL,
					 NULL) != CL_SUCCESS) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

EXPORT cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				       const size_t *there, const size_t *here,
				       const size_t *region, size_t there_row, size_t there_slice,
				       size_t here_row, size_t here_slice, const void *data,
				       cl_uint nwait, const cl_event *wait, cl_event *event)
{
	cl_int (*next)(cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *,
		       const size_t *, size_t, size_t, size_t, size_t, const void *, cl_uint,
		       const cl_event *, cl_event *) = real("clEnqueueWriteBufferRect");

	rectangles++;
	return next(queue, buffer, blocking, there, here, region, there_row, there_slice, here_row,
		    here_slice, data, nwait, wait, event);
}

EXPORT cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				      const size_t *there, const size_t *here,
				      const size_t *region, size_t there_row, size_t there_slice,
				      size_t here_row, size_t here_slice, void *data, cl_uint nwait,
				      const cl_event *wait, cl_event *event)
{
	cl_int (*next)(cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *,
		       const size_t *, size_t, size_t, size_t, size_t, void *, cl_uint,
		       const cl_event *, cl_event *) = real("clEnqueueReadBufferRect");

	rectangles++;
	return next(queue, buffer, blocking, there, here, region, there_row, there_slice, here_row,
		    here_slice, data, nwait, wait, event);
}
