/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file chunk.h
 * One launch: packet records gathered in a buffer (inc_types.h), sent through
 * the kernel and read back. Knows no operations and no queue pairs. Used by one
 * thread at a time.
 */
#ifndef OCL_CHUNK_H
#define OCL_CHUNK_H

#include "device.h"
#include "inc_types.h"
#include "memory.h"
#include "table.h"

struct ocl_chunk {
	struct ocl_device *dev;
	const struct ocl_memory *memory;
	cl_command_queue queue;
	cl_kernel kernel;
	cl_mem buffer, pinned; /* of the staged path */
	cl_event done;	       /* NULL: nothing to wait for */
	u8 *host;
	size_t bytes;	 /* size of the buffer, order table included */
	uint32_t *order; /* offsets of records, in the order of work-items */
	uint32_t records;
	uint32_t max_records;
	uint32_t used;	 /* bytes of records */
	uint64_t upload; /* the latest of the records' sessions */
	bool failed;	 /* no result came back */
};

/**
 * @param queue     in order; used by no other thread
 * @param sessions  table of struct ocl_session in device memory
 * @param bytes     room for records
 * @return 0 or -EIO or -ENOMEM, logged; free after failure, too
 */
int ocl_chunk_init(struct ocl_chunk *chunk, struct ocl_device *dev, const struct ocl_memory *memory,
		   cl_command_queue queue, cl_mem sessions, uint32_t max_records, uint32_t bytes);
void ocl_chunk_free(struct ocl_chunk *chunk);

/** Bytes left for another record; 0 if there is none. */
uint32_t ocl_chunk_room(const struct ocl_chunk *chunk);

/** Append a record. @param size bytes, at most ocl_chunk_room(), a multiple of 16 */
struct ocl_record *ocl_chunk_add(struct ocl_chunk *chunk, uint32_t size);

/** Send it off; never blocks. A failure shows in chunk->failed. */
void ocl_chunk_launch(struct ocl_chunk *chunk, struct ocl_table *table);

/** Whether a launched chunk is back, or will never be (chunk->failed). Never blocks. */
bool ocl_chunk_poll(struct ocl_chunk *chunk);

/** Make it empty again. */
void ocl_chunk_reset(struct ocl_chunk *chunk);

#endif
