/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file memory.h
 * Memory paths: how packets get to the device and back. Each is chosen by what
 * the device reports, or by the argument memory=.
 *
 *   svm     host and device share the chunk and the pools (fine-grained shared
 *	     virtual memory): packets of a pool are processed where they are
 *   persistent  svm, and a kernel that never ends takes the chunks: no launch. By
 *	     argument only: it wants cores of its own
 *   staged  the chunk is a pinned copy on the host, one transfer in, one out; runs
 *	     of a pool's packets go as rows of a rectangle, to a mirror of the pool, and come
 *	     back into the other one of the two buffers that each mbuf has: until its operation has
 *	     succeeded, a packet is as it was, whatever becomes of the device
 *
 * With either, packets of no pool are copied into the chunk and back by the
 * core that enqueues and dequeues them.
 */
#ifndef OCL_MEMORY_H
#define OCL_MEMORY_H

#include "device.h"
#include "pool.h"
#include "rows.h"

/* Bytes: of records, of what is in them, and of the cipher's first block. */
#define OCL_ALIGN 16

struct ocl_chunk;

struct ocl_memory {
	const char *name;
	bool twins; /* a pool's packets come back into other buffers than they left */
	bool (*usable)(const struct ocl_device *dev);
	/* NULL: nothing to do before the first chunk and after the last. */
	cl_int (*start)(struct ocl_device *dev, cl_mem sessions);
	void (*stop)(struct ocl_device *dev);
	/* Set chunk->host to chunk->bytes of memory and the kernel's argument OCL_ARG_CHUNK. */
	cl_int (*alloc)(struct ocl_chunk *chunk);
	/* Set the argument again, after another use of it; NULL where there is none. */
	cl_int (*chunk_argument)(const struct ocl_chunk *chunk);
	void (*free)(struct ocl_chunk *chunk);
	/* Note a packet of a pool; returns the offset there of the row's column 0. */
	uint32_t (*place)(struct ocl_chunk *chunk, const struct ocl_pool *pool,
			  const struct ocl_row *row);
	/* Before the order table is written: last changes to the records. */
	void (*settle)(struct ocl_chunk *chunk);
	/* Enqueue, without blocking: what the device needs after the event given, the
	 * kernel over the items, the results back; chunk->done is the last command's event. */
	cl_int (*launch)(struct ocl_chunk *chunk, size_t items, const cl_event *after);
	/* Likewise where packets bring their heads; NULL: they cannot. */
	cl_int (*launch_heads)(struct ocl_chunk *chunk, size_t items, const cl_event *after);
	/* What has become of a launch: CL_COMPLETE, above it, or an error. */
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
cl_int ocl_memory_run(struct ocl_chunk *chunk, size_t items, const cl_event *after,
		      cl_event *done);

/** By chunk->done. */
cl_int ocl_memory_status(struct ocl_chunk *chunk);

/* What the paths on shared memory have in common. */
cl_int ocl_svm_alloc(struct ocl_chunk *chunk);
void ocl_svm_free(struct ocl_chunk *chunk);
uint32_t ocl_svm_place(struct ocl_chunk *chunk, const struct ocl_pool *pool,
		       const struct ocl_row *row);
void ocl_svm_settle(struct ocl_chunk *chunk);
cl_int ocl_svm_pool_alloc(struct ocl_pool *pool, const struct ocl_device *dev, size_t bytes);
void ocl_svm_pool_free(struct ocl_pool *pool, const struct ocl_device *dev);
cl_int ocl_svm_pool_argument(cl_kernel kernel, cl_uint argument, const struct ocl_pool *pool);

#endif
