/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include "faults.h"

#define MAX_SHARED 128

bool fault_launch, fault_hang, fault_error;
int fault_after = -1;
unsigned int launches, wipes, rectangles, transfers;
size_t fault_memory, uploaded, noted;
static unsigned int at_work; /* number of launches */
static cl_command_queue written_queue;
static cl_mem written;
static struct shared {
	const uint8_t *p;
	size_t size;
	bool mapped; /* otherwise shared virtual memory */
} shared[MAX_SHARED];

#define EXPORT __attribute__((visibility("default")))

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static bool is_refused(void)
{
	if (fault_after > 0)
		fault_after--;
	else if (fault_after == 0)
		return true;
	return false;
}

static void CL_CALLBACK ended(cl_event event, cl_int status, void *arg)
{
	(void)event;
	(void)status;
	(void)arg;
	__atomic_fetch_sub(&at_work, 1, __ATOMIC_RELEASE);
}

bool is_at_work(void)
{
	return __atomic_load_n(&at_work, __ATOMIC_ACQUIRE);
}

EXPORT cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
			     cl_int *err)
{
	cl_mem (*next)(cl_context, cl_mem_flags, size_t, void *, cl_int *) = real("clCreateBuffer");

	if (fault_memory == 0 || size < fault_memory)
		return next(context, flags, size, host, err);
	*err = CL_MEM_OBJECT_ALLOCATION_FAILURE;
	return NULL;
}

EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
				     const size_t *offset, const size_t *global,
				     const size_t *local, cl_uint nwait, const cl_event *wait,
				     cl_event *event)
{
	cl_int (*next)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
		       const size_t *, cl_uint, const cl_event *,
		       cl_event *) = real("clEnqueueNDRangeKernel");
	cl_int err;

	if (fault_launch || is_refused())
		return CL_OUT_OF_RESOURCES;
	__atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
	err = next(queue, kernel, dims, offset, global, local, nwait, wait, event);
	if (err == CL_SUCCESS && event) {
		__atomic_fetch_add(&at_work, 1, __ATOMIC_RELAXED);
		if (clSetEventCallback(*event, CL_COMPLETE, ended, NULL) != CL_SUCCESS)
			abort();
	}
	return err;
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
	size_t i = 0, whole;

	if (is_refused())
		return CL_OUT_OF_RESOURCES;
	while (i < size && bytes[i] == 0)
		i++;
	wipes += i == size;
	transfers++;
	uploaded += size;
	if (clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof(whole), &whole, NULL) == CL_SUCCESS &&
	    whole >= noted) {
		written_queue = queue;
		written = buffer;
	}
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

	if (is_refused())
		return CL_OUT_OF_RESOURCES;
	rectangles++;
	transfers++;
	return next(queue, buffer, blocking, there, here, region, there_row, there_slice, here_row,
		    here_slice, data, nwait, wait, event);
}

EXPORT cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				      const size_t *there, const size_t *here, const size_t *region,
				      size_t there_row, size_t there_slice, size_t here_row,
				      size_t here_slice, void *data, cl_uint nwait,
				      const cl_event *wait, cl_event *event)
{
	cl_int (*next)(cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *,
		       const size_t *, size_t, size_t, size_t, size_t, void *, cl_uint,
		       const cl_event *, cl_event *) = real("clEnqueueReadBufferRect");

	if (is_refused())
		return CL_OUT_OF_RESOURCES;
	rectangles++;
	transfers++;
	return next(queue, buffer, blocking, there, here, region, there_row, there_slice, here_row,
		    here_slice, data, nwait, wait, event);
}

EXPORT cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				  size_t offset, size_t size, void *data, cl_uint nwait,
				  const cl_event *wait, cl_event *event)
{
	cl_int (*next)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint,
		       const cl_event *, cl_event *) = real("clEnqueueReadBuffer");

	if (is_refused())
		return CL_OUT_OF_RESOURCES;
	transfers++;
	return next(queue, buffer, blocking, offset, size, data, nwait, wait, event);
}

static void note_memory(const void *old, const void *p, size_t size, bool mapped)
{
	unsigned int i = 0;

	while (i < MAX_SHARED && shared[i].p != old)
		i++;
	if (i < MAX_SHARED)
		shared[i] = (struct shared){p, size, mapped};
}

EXPORT void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				cl_map_flags flags, size_t offset, size_t size, cl_uint nwait,
				const cl_event *wait, cl_event *event, cl_int *err)
{
	void *(*next)(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint,
		      const cl_event *, cl_event *, cl_int *) = real("clEnqueueMapBuffer");
	void *p;

	if (is_refused()) {
		*err = CL_OUT_OF_RESOURCES;
		return NULL;
	}
	transfers++;
	p = next(queue, buffer, blocking, flags, offset, size, nwait, wait, event, err);
	if (p)
		note_memory(NULL, p, size, true);
	return p;
}

EXPORT cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void *p, cl_uint nwait,
				      const cl_event *wait, cl_event *event)
{
	cl_int (*next)(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *,
		       cl_event *) = real("clEnqueueUnmapMemObject");

	transfers++;
	note_memory(p, NULL, 0, false);
	return next(queue, buffer, p, nwait, wait, event);
}

EXPORT cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
				  size_t pattern_size, size_t offset, size_t size, cl_uint nwait,
				  const cl_event *wait, cl_event *event)
{
	cl_int (*next)(cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint,
		       const cl_event *, cl_event *) = real("clEnqueueFillBuffer");

	if (is_refused())
		return CL_OUT_OF_RESOURCES;
	transfers++;
	return next(queue, buffer, pattern, pattern_size, offset, size, nwait, wait, event);
}

EXPORT void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
	void *(*next)(cl_context, cl_svm_mem_flags, size_t, cl_uint) = real("clSVMAlloc");
	void *p = next(context, flags, size, alignment);

	if (p)
		note_memory(NULL, p, size, false);
	return p;
}

EXPORT void clSVMFree(cl_context context, void *p)
{
	void (*next)(cl_context, void *) = real("clSVMFree");

	note_memory(p, NULL, 0, false);
	next(context, p);
}

uint64_t shared_sum(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < MAX_SHARED; i++) {
		for (size_t j = 0; !shared[i].mapped && j < shared[i].size; j++)
			sum = sum * 31 + shared[i].p[j];
	}
	return sum;
}

unsigned int copies_of(const void *bytes, size_t len, const void *but)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < MAX_SHARED; i++) {
		const struct shared *s = &shared[i];

		if ((size_t)((const uint8_t *)but - s->p) >= s->size)
			n += s->p && memmem(s->p, s->size, bytes, len);
	}
	return n;
}
