/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>

#include "log.h"
#include "table.h"

struct ocl_session *ocl_table_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_DONTDUMP);
	return p;
}

static int init_device_side(struct ocl_table *table, uint32_t size)
{
	struct ocl_device *dev = table->dev;
	cl_mem_flags flags = CL_MEM_READ_ONLY;
	cl_int err;

	if (table->home)
		flags |= CL_MEM_USE_HOST_PTR;
	table->buffer = clCreateBuffer(dev->context, flags, table->bytes, table->home, &err);
	if (err == CL_SUCCESS)
		table->queue = clCreateCommandQueue(dev->context, dev->id, 0, &err);
	if (err == CL_SUCCESS)
		return 0;
	OCL_LOG(ERR, "max_sessions=%u: no table of %zu MiB on %s: OpenCL error %d", size,
		table->bytes >> 20, dev->name, err);
	return -EIO;
}

int ocl_table_init(struct ocl_table *table, struct ocl_device *dev, uint32_t size)
{
	int err;

	memset(table, 0, sizeof(*table));
	rte_spinlock_init(&table->lock);
	table->dev = dev;
	table->bytes = size * sizeof(struct ocl_session);
	table->home = dev->cpu ? ocl_table_map(table->bytes) : NULL;
	if (dev->cpu && table->home == NULL) {
		OCL_LOG(ERR, "max_sessions=%u: no %zu MiB of memory", size, table->bytes >> 20);
		return -ENOMEM;
	}
	err = init_device_side(table, size);
	if (err)
		ocl_table_free(table);
	return err;
}

void ocl_table_write_home(struct ocl_table *table)
{
	table->direct = true;
}

static void poll_uploads(struct ocl_table *table)
{
	cl_int status = CL_COMPLETE;
	cl_int err;

	if (table->last == NULL)
		return;
	err = clGetEventInfo(table->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
			     &status, NULL);
	if (err != CL_SUCCESS || status < 0)
		ocl_device_fail(table->dev, "a session's upload failed", err ? err : status);
	else if (status != CL_COMPLETE)
		return;
	clReleaseEvent(table->last);
	table->last = NULL;
	__atomic_store_n(&table->completed, table->issued, __ATOMIC_RELEASE);
}

/* Under the lock. The queue is in order: the last upload stands for all. */
static int upload(struct ocl_table *table, uint32_t slot, const struct ocl_session *entry,
		  size_t bytes)
{
	cl_event event;
	cl_int err;

	err = clEnqueueWriteBuffer(table->queue, table->buffer, CL_FALSE,
				   slot * sizeof(struct ocl_session), bytes, entry, 0, NULL,
				   &event);
	if (err == CL_SUCCESS)
		err = clFlush(table->queue);
	if (err != CL_SUCCESS) {
		ocl_device_fail(table->dev, "a session's upload failed", err);
		return -EIO;
	}
	if (table->last)
		clReleaseEvent(table->last);
	table->last = event;
	return 0;
}

int ocl_table_write(struct ocl_table *table, uint32_t slot, const struct ocl_session *entry,
		    uint32_t n, uint64_t number)
{
	const size_t bytes = n * sizeof(*entry);
	int err = -EIO;

	rte_spinlock_lock(&table->lock);
	table->top = RTE_MAX(table->top, slot + n);
	if (ocl_device_lost(table->dev)) {
		if (table->home)
			explicit_bzero(&table->home[slot], bytes);
	} else if (table->direct) {
		memcpy(&table->home[slot], entry, bytes);
		__atomic_store_n(&table->completed, number, __ATOMIC_RELEASE);
		err = 0;
	} else {
		err = upload(table, slot, entry, bytes);
	}
	if (!err)
		table->issued = number;
	rte_spinlock_unlock(&table->lock);
	return err;
}

cl_event ocl_table_pending(struct ocl_table *table, uint64_t number)
{
	cl_event event = NULL;

	if (__atomic_load_n(&table->completed, __ATOMIC_ACQUIRE) >= number)
		return NULL;
	rte_spinlock_lock(&table->lock);
	poll_uploads(table);
	if (table->last && table->completed < number) {
		event = table->last;
		clRetainEvent(event);
	}
	rte_spinlock_unlock(&table->lock);
	return event;
}

static void free_device_side(struct ocl_table *table)
{
	if (table->top) {
		const cl_uchar zero = 0;
		cl_int err;

		err = clEnqueueFillBuffer(table->queue, table->buffer, &zero, 1, 0,
					  table->top * sizeof(struct ocl_session), 0, NULL, NULL);
		if (err == CL_SUCCESS)
			err = clFinish(table->queue);
		if (err != CL_SUCCESS)
			OCL_LOG(ERR, "keys may be left in the memory of %s: OpenCL error %d",
				table->dev->name, err);
	}
	if (table->last)
		clReleaseEvent(table->last);
	if (table->queue)
		clReleaseCommandQueue(table->queue);
	if (table->buffer)
		clReleaseMemObject(table->buffer);
}

void ocl_table_unmap(struct ocl_session *entries, size_t bytes)
{
	if (entries)
		munmap(entries, bytes);
}

void ocl_table_free(struct ocl_table *table)
{
	if (table->dev == NULL)
		return;
	/* A lost device may never answer, or still read: leave its things where they are. */
	if (ocl_device_lost(table->dev)) {
		if (table->home)
			explicit_bzero(table->home, table->top * sizeof(struct ocl_session));
	} else {
		free_device_side(table);
		ocl_table_unmap(table->home, table->bytes);
	}
	memset(table, 0, sizeof(*table));
}
