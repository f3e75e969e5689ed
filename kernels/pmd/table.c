/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>

#include "log.h"
#include "table.h"

static struct ocl_session *map_private(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_DONTDUMP);
	return p;
}

static int init_device_side(struct ocl_table *table)
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
	OCL_LOG(ERR, "max_sessions=%u: no table of %zu MiB on %s: OpenCL error %d", table->size,
		table->bytes >> 20, dev->name, err);
	return -EIO;
}

int ocl_table_init(struct ocl_table *table, struct ocl_device *dev, uint32_t size)
{
	int err;

	memset(table, 0, sizeof(*table));
	rte_spinlock_init(&table->lock);
	table->dev = dev;
	table->size = size;
	table->bytes = size * sizeof(struct ocl_session);
	table->staging = map_private(table->bytes);
	table->home = dev->cpu ? map_private(table->bytes) : NULL;
	table->free = calloc(size, sizeof(*table->free));
	if (table->staging == NULL || table->free == NULL || (dev->cpu && table->home == NULL)) {
		OCL_LOG(ERR, "max_sessions=%u: no %zu MiB of memory", size, table->bytes >> 20);
		ocl_table_free(table);
		return -ENOMEM;
	}
	/* Low slots first: they lie close together. */
	for (uint32_t i = 0; i < size; i++)
		table->free[i] = size - 1 - i;
	table->nfree = size;
	err = init_device_side(table);
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
static int upload(struct ocl_table *table, uint32_t slot)
{
	cl_event event;
	cl_int err;

	if (ocl_device_lost(table->dev))
		return -EIO;
	if (table->direct) {
		table->home[slot] = table->staging[slot];
		__atomic_thread_fence(__ATOMIC_RELEASE);
		return 0;
	}
	err = clEnqueueWriteBuffer(table->queue, table->buffer, CL_FALSE,
				   slot * sizeof(struct ocl_session), sizeof(struct ocl_session),
				   &table->staging[slot], 0, NULL, &event);
	if (err == CL_SUCCESS)
		err = clFlush(table->queue);
	if (err != CL_SUCCESS) {
		ocl_device_fail(table->dev, "a session's upload failed", err);
		return -EIO;
	}
	if (table->last)
		clReleaseEvent(table->last);
	table->last = event;
	table->issued++;
	return 0;
}

int ocl_table_put(struct ocl_table *table, const struct ocl_session *entry, uint32_t *slot,
		  uint64_t *number)
{
	int err = -ENOSPC;

	rte_spinlock_lock(&table->lock);
	if (table->nfree) {
		*slot = table->free[table->nfree - 1];
		table->top = RTE_MAX(table->top, *slot + 1);
		table->staging[*slot] = *entry;
		err = upload(table, *slot);
		if (err)
			explicit_bzero(&table->staging[*slot], sizeof(*entry));
		else
			table->nfree--;
		*number = table->issued;
	}
	rte_spinlock_unlock(&table->lock);
	return err;
}

void ocl_table_clear(struct ocl_table *table, uint32_t slot)
{
	rte_spinlock_lock(&table->lock);
	/* A pending upload of this entry then writes zeros: the session is not in use any more. */
	explicit_bzero(&table->staging[slot], sizeof(table->staging[slot]));
	if (upload(table, slot) && table->home)
		explicit_bzero(&table->home[slot], sizeof(table->home[slot]));
	table->free[table->nfree++] = slot;
	rte_spinlock_unlock(&table->lock);
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

/* The kernel clears pages before anybody else gets them. */
static void unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}

void ocl_table_free(struct ocl_table *table)
{
	if (table->dev == NULL)
		return;
	free(table->free);
	/* A lost device may never answer, or still read: leave its things where they are. */
	if (ocl_device_lost(table->dev)) {
		explicit_bzero(table->staging, table->top * sizeof(struct ocl_session));
		if (table->home)
			explicit_bzero(table->home, table->top * sizeof(struct ocl_session));
	} else {
		free_device_side(table);
		unmap(table->staging, table->bytes);
		unmap(table->home, table->bytes);
	}
	memset(table, 0, sizeof(*table));
}
