/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file memory.h
 * Memory paths: how a chunk's bytes get to the device and back. Each is chosen
 * by what the device reports, or by the argument memory=.
 *
 *   svm     host and device share the chunk (fine-grained shared virtual memory)
 *   staged  a pinned copy on the host; one transfer in, one out
 */
#ifndef OCL_MEMORY_H
#define OCL_MEMORY_H

#include "device.h"

struct ocl_chunk;

struct ocl_memory {
	const char *name;
	bool (*usable)(const struct ocl_device *dev);
	/* Set chunk->host to chunk->bytes of memory and the kernel's argument 0. */
	cl_int (*alloc)(struct ocl_chunk *chunk);
	void (*free)(struct ocl_chunk *chunk);
	/* Enqueue, without blocking: in bytes to the device after the event given, the
	 * kernel over items, out bytes back; chunk->done is the last command's event. */
	cl_int (*launch)(struct ocl_chunk *chunk, size_t in, size_t out, size_t items,
			 const cl_event *after);
};

/** @param name  "auto" for the best that works; @return NULL if the device lacks it */
const struct ocl_memory *ocl_memory_choose(const struct ocl_device *dev, const char *name);

#endif
