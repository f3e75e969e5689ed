/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file memory.h
 * Memory paths, which move packets to the device and back. Chosen by the device's
 * capabilities, or by the argument memory=.
 *
 *   svm     host and device share the chunk and the pools (fine-grained shared
 *	     virtual memory): packets of a pool are processed where they are
 *   persistent  svm with a persistent kernel that takes the chunks, without launches. By
 *	     argument only, because the kernel occupies cores
 *   staged  the chunk is pinned on the host and copied to the device and back; runs
 *	     of a pool's packets move as rows of a rectangle, to a mirror of the pool, and back
 *	     into the second of the two buffers that each mbuf has: until its operation has
 *	     succeeded, a packet is unchanged, also if the device fails
 *
 * With all of them, packets of other mempools are copied into the chunk by the core that
 * enqueues, and back by the core that dequeues.
 */
#ifndef OCL_MEMORY_H
#define OCL_MEMORY_H

#include "device.h"
#include "pool.h"
#include "rows.h"

/* Alignment of records, of the data behind them, and of the cipher's first block; bytes. */
#define OCL_ALIGN 16

struct ocl_chunk;

struct ocl_memory {
	const char *name;
	bool twins; /* mbufs of a pool have two buffers: one is read, the other one written */
	bool (*usable)(const struct ocl_device *dev);
	/* Before the first chunk and after the last; NULL: nothing to do. */
	cl_int (*start)(struct ocl_device *dev, cl_mem sessions);
	void (*stop)(struct ocl_device *dev);
	/* Set chunk->host to chunk->bytes of memory and the kernel's argument OCL_ARG_CHUNK. */
	cl_int (*alloc)(struct ocl_chunk *chunk);
	/* Set that argument again, after a launch with heads; NULL if the path has none. */
	cl_int (*chunk_argument)(const struct ocl_chunk *chunk);
	void (*free)(struct ocl_chunk *chunk);
	/* Note a packet of a pool; returns the offset there of the row's column 0. */
	uint32_t (*place)(struct ocl_chunk *chunk, const struct ocl_pool *pool,
			  const struct ocl_row *row);
	/* When the chunk is closed, before the order table: copy short runs into the chunk. */
	void (*settle)(struct ocl_chunk *chunk);
	/* Enqueue, without blocking: the transfer to the device, the kernel after the event given, the
	 * transfer back; chunk->done is the last command's event. */
	cl_int (*launch)(struct ocl_chunk *chunk, size_t items, const cl_event *after);
	/* The same for a chunk with heads; NULL: the path has none. */
	cl_int (*launch_heads)(struct ocl_chunk *chunk, size_t items, const cl_event *after);
	/* The state of a launch: CL_COMPLETE, above it, or an error. */
	cl_int (*status)(struct ocl_chunk *chunk);
	/* Memory for pool->rows buffers of pool->pitch; sets start. */
	cl_int (*pool_alloc)(struct ocl_pool *pool, const struct ocl_device *dev, size_t bytes);
	void (*pool_free)(struct ocl_pool *pool, const struct ocl_device *dev);
	cl_int (*pool_argument)(cl_kernel kernel, cl_uint argument, const struct ocl_pool *pool);
};

extern const struct ocl_memory ocl_memory_svm, ocl_memory_persistent, ocl_memory_staged;

/** @param name  "auto" for the best that works; @return NULL if the device lacks it */
const struct ocl_memory *ocl_memory_choose(const struct ocl_device *dev, const char *name);

/** Enqueue the kernel over a chunk whose arguments are set. */
cl_int ocl_memory_run(struct ocl_chunk *chunk, size_t items, const cl_event *after, cl_event *done);

/** By chunk->done. */
cl_int ocl_memory_status(struct ocl_chunk *chunk);

/* Shared by the paths svm and persistent. */
cl_int ocl_svm_alloc(struct ocl_chunk *chunk);
void ocl_svm_free(struct ocl_chunk *chunk);
uint32_t ocl_svm_place(struct ocl_chunk *chunk, const struct ocl_pool *pool,
		       const struct ocl_row *row);
void ocl_svm_settle(struct ocl_chunk *chunk);
cl_int ocl_svm_pool_alloc(struct ocl_pool *pool, const struct ocl_device *dev, size_t bytes);
void ocl_svm_pool_free(struct ocl_pool *pool, const struct ocl_device *dev);
cl_int ocl_svm_pool_argument(cl_kernel kernel, cl_uint argument, const struct ocl_pool *pool);

#endif
