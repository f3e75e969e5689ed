/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared virtual memory with a persistent kernel: a chunk is a letter in the kernel's
 * mailbox, not a launch. The kernel runs in one work-group less than there are compute units, and keeps as
 * many cores busy.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_spinlock.h>

#include "chunk.h"
#include "log.h"
#include "memory.h"

#define SECONDS 5 /* until the kernel ends */

/* The persistent kernel of a device. */
struct ocl_resident {
	struct ocl_mailbox *mailbox;
	cl_command_queue queue;
	cl_kernel kernel;
	cl_event end;
	size_t groups; /* work-groups that it runs in */
	rte_spinlock_t lock;
	uint32_t number[OCL_LETTERS]; /* atomic: of the chunk that a letter was last written for */
};

static bool usable(const struct ocl_device *dev)
{
	return dev->svm && dev->svm_atomics && dev->cpu;
}

static cl_int start_kernel(struct ocl_resident *r, struct ocl_device *dev, cl_mem sessions)
{
	const size_t one = 1;
	cl_uint units = 1;
	cl_int err;

	clGetDeviceInfo(dev->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
	r->groups = units > 1 ? units - 1 : 1;
	for (uint32_t i = 0; i < OCL_LETTERS; i++)
		r->mailbox->letter[i].left = r->groups;
	r->queue = clCreateCommandQueue(dev->context, dev->id, 0, &err);
	if (err == CL_SUCCESS)
		r->kernel = clCreateKernel(dev->program, "crypto_opencl_persistent", &err);
	if (err == CL_SUCCESS)
		err = clSetKernelArgSVMPointer(r->kernel, 0, r->mailbox);
	if (err == CL_SUCCESS)
		err = clSetKernelArg(r->kernel, 1, sizeof(sessions), &sessions);
	if (err == CL_SUCCESS)
		err = clEnqueueNDRangeKernel(r->queue, r->kernel, 1, NULL, &r->groups, &one, 0,
					     NULL, &r->end);
	return err == CL_SUCCESS ? clFlush(r->queue) : err;
}

static cl_int start(struct ocl_device *dev, cl_mem sessions)
{
	struct ocl_resident *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return CL_OUT_OF_HOST_MEMORY;
	dev->resident = r;
	rte_spinlock_init(&r->lock);
	r->mailbox = clSVMAlloc(dev->context,
				CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER |
					CL_MEM_SVM_ATOMICS,
				sizeof(*r->mailbox), 128);
	if (r->mailbox == NULL)
		return CL_MEM_OBJECT_ALLOCATION_FAILURE;
	memset(r->mailbox, 0, sizeof(*r->mailbox));
	return start_kernel(r, dev, sessions);
}

static void wait_for_end(struct ocl_resident *r, struct ocl_device *dev)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	cl_int status = CL_QUEUED;

	for (int i = 0; i < SECONDS * 1000; i++) {
		clGetEventInfo(r->end, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
			       NULL);
		if (status <= CL_COMPLETE)
			return;
		nanosleep(&nap, NULL);
	}
	ocl_device_fail(dev, "its persistent kernel does not end", 0);
}

static void stop(struct ocl_device *dev)
{
	struct ocl_resident *r = dev->resident;

	if (r == NULL)
		return;
	if (r->end) {
		__atomic_store_n(&r->mailbox->stop, 1, __ATOMIC_RELEASE);
		wait_for_end(r, dev);
	}
	dev->resident = NULL;
	if (ocl_device_lost(dev))
		return; /* it may still read the mailbox */
	if (r->end)
		clReleaseEvent(r->end);
	if (r->kernel)
		clReleaseKernel(r->kernel);
	if (r->queue)
		clReleaseCommandQueue(r->queue);
	if (r->mailbox)
		clSVMFree(dev->context, r->mailbox);
	free(r);
}

static void write_letter(struct ocl_letter *letter, const struct ocl_chunk *chunk)
{
	letter->areas[OCL_AREA_CHUNK] = (uintptr_t)chunk->host;
	for (uint32_t i = 0; chunk->pools && i < OCL_POOLS; i++)
		letter->areas[OCL_AREA_POOL + i] = (uintptr_t)chunk->pools->pool[i].start;
	letter->order = chunk->results - chunk->items * sizeof(u32);
	letter->results = chunk->results;
	letter->items = chunk->items;
	letter->next = 0;
	__atomic_store_n(&letter->done, 0, __ATOMIC_RELEASE);
	letter->left = 0;
}

/* Every work-group reads every letter, some late: until all have left a letter it cannot be reused, and
 * the chunk is posted by a later status(). */
static void post(struct ocl_chunk *chunk)
{
	struct ocl_resident *r = chunk->dev->resident;
	struct ocl_letter *letter;
	uint32_t n;

	rte_spinlock_lock(&r->lock);
	n = r->mailbox->posted;
	letter = &r->mailbox->letter[n % OCL_LETTERS];
	if (__atomic_load_n(&letter->left, __ATOMIC_ACQUIRE) == r->groups) {
		chunk->letter = n;
		chunk->unposted = false;
		__atomic_store_n(&r->number[n % OCL_LETTERS], n, __ATOMIC_RELEASE);
		write_letter(letter, chunk);
		__atomic_store_n(&r->mailbox->posted, n + 1, __ATOMIC_SEQ_CST);
	}
	rte_spinlock_unlock(&r->lock);
}

static cl_int launch(struct ocl_chunk *chunk, size_t items, const cl_event *after __rte_unused)
{
	chunk->items = items;
	chunk->unposted = true;
	post(chunk);
	return CL_SUCCESS;
}

static cl_int status(struct ocl_chunk *chunk)
{
	struct ocl_resident *r = chunk->dev->resident;
	const uint32_t index = chunk->letter % OCL_LETTERS;
	uint32_t done;

	if (chunk->unposted) {
		post(chunk);
		return CL_RUNNING;
	}
	done = __atomic_load_n(&r->mailbox->letter[index].done, __ATOMIC_ACQUIRE);
	/* The letter was reused, so this chunk is done. */
	if (__atomic_load_n(&r->number[index], __ATOMIC_ACQUIRE) != chunk->letter)
		return CL_COMPLETE;
	return done == chunk->items ? CL_COMPLETE : CL_RUNNING;
}

const struct ocl_memory ocl_memory_persistent = {
	.name = "persistent",
	.usable = usable,
	.start = start,
	.stop = stop,
	.alloc = ocl_svm_alloc,
	.free = ocl_svm_free,
	.place = ocl_svm_place,
	.settle = ocl_svm_settle,
	.launch = launch,
	.status = status,
	.pool_alloc = ocl_svm_pool_alloc,
	.pool_free = ocl_svm_pool_free,
	.pool_argument = ocl_svm_pool_argument,
};
