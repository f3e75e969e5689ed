/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file chunk.h
 * One launch: packet records in a buffer (inc_types.h), sent through the kernel
 * and read back. Knows no operations and no queue pairs. Used by one
 * thread at a time.
 *
 *	ocl_chunk_open()    EMPTY to FILLING; then ocl_chunk_add() or ocl_chunk_add_head()
 *	ocl_chunk_close()   FILLING to CLOSED
 *	ocl_chunk_launch(), ocl_chunk_poll()  return the next state, which their caller moves to
 *	ocl_chunk_reset()   to EMPTY
 */
#ifndef OCL_CHUNK_H
#define OCL_CHUNK_H

#include "device.h"
#include "heads.h"
#include "inc_types.h"
#include "memory.h"
#include "pool.h"
#include "rows.h"
#include "scheduler.h"
#include "state.h"
#include "table.h"

#define OCL_RESULTS_AHEAD \
	16 /* heads to prefetch: the device has written them, so they are in no cache */

/* The kernel's arguments (crypto_opencl.cl). */
enum {
	OCL_ARG_CHUNK,
	OCL_ARG_ORDER,
	OCL_ARG_RESULTS,
	OCL_ARG_SESSIONS,
	OCL_ARG_HEADS,
	OCL_ARG_POOLS /* the first of OCL_POOLS */
};

/* Parts of the chunk that are copied to the packet after the launch. */
struct ocl_copy {
	u8 *to[2];	  /* data, digest; NULL: nothing */
	uint32_t from[2]; /* offsets in the chunk */
	uint32_t len[2];
};

/* Whether a chunk is launched or withdrawn: the launching thread and the queue pair each try to set
 * it, and the first one decides. */
enum ocl_claim {
	OCL_CLAIM_NONE,
	OCL_CLAIM_LAUNCH,  /* OpenCL gets its commands, all or some of them */
	OCL_CLAIM_WITHDRAW /* the queue pair has taken it back: the device never sees it */
};

/* What all chunks of a queue pair have in common. */
struct ocl_chunk_params {
	struct ocl_device *dev;
	const struct ocl_memory *memory;
	const struct ocl_sched *sched;
	struct ocl_pools *pools; /* NULL: none */
	cl_mem sessions;	 /* table of struct ocl_session in device memory */
	uint32_t records;	 /* at most */
	uint32_t bytes;		 /* room for records and the data behind them */
};

struct ocl_chunk {
	struct ocl_device *dev;
	const struct ocl_memory *memory;
	struct ocl_pools *pools;
	cl_command_queue queue; /* its own: chunks overlap */
	cl_kernel kernel;
	cl_mem buffer, pinned; /* of the staged path */
	cl_event done;	       /* NULL: nothing to wait for */
	uint32_t letter,
		items; /* of the persistent path: number of the letter, and its work-items */
	bool unposted; /* of the persistent path: launched, and the mailbox had no room yet */
	u8 *host;
	size_t bytes;  /* size of the buffer */
	uint32_t room; /* of these, for records and the data behind them */
	struct ocl_bins bins;
	struct ocl_rows rows;
	struct ocl_heads heads;
	bool headed;	       /* packets bring their heads: heads, not bins and rows */
	struct ocl_copy *copy; /* of record i, if copied[i] */
	bool *copied;
	uint32_t records, max_records;
	uint32_t used;	   /* bytes */
	uint32_t reserved; /* bytes, for packets that ocl_chunk_close() may copy into the chunk */
	uint32_t copies;   /* records copied in */
	uint32_t order;	   /* offset of the order table */
	uint32_t results;  /* of the results */
	uint32_t polls;	   /* since the launch */
	uint32_t areas;	   /* bit mask of the pools that packets are in */
	uint32_t pool_changes;		 /* pools->changes when the kernel's arguments were set */
	uint32_t pool_args;		 /* bit mask of the pools that are arguments */
	const struct ocl_pool *pool_arg; /* the argument OCL_ARG_CHUNK; NULL: the chunk's buffer */
	uint64_t upload;		 /* the latest of the records' sessions */
	uint32_t entries;		 /* of the order table */
	enum ocl_state state;		 /* the queue pair's */
	/* Between the launcher's thread, if there is one, and the queue pair. All else in here, but
	 * state, is the thread's from ocl_launcher_post() until `returned` is a final state. */
	uint32_t claim;	   /* atomic: enum ocl_claim */
	uint32_t returned; /* atomic: enum ocl_state; OCL_LAUNCHED until the thread returns it */
};

/** @return 0 or -EIO or -ENOMEM, logged; free after failure, too */
int ocl_chunk_init(struct ocl_chunk *chunk, const struct ocl_chunk_params *params);
void ocl_chunk_free(struct ocl_chunk *chunk);

/** Whether a record of that size, with the data behind it, has room. */
static inline bool ocl_chunk_fits(const struct ocl_chunk *chunk, uint32_t size)
{
	return chunk->records < chunk->max_records &&
	       size <= chunk->room - chunk->used - chunk->reserved;
}

/** Bytes of its packets, in the chunk or in their pools. */
static inline uint32_t ocl_chunk_bytes(const struct ocl_chunk *chunk)
{
	return chunk->used + chunk->reserved;
}

/**
 * Append a record and put it into a bin.
 * @param size  of the record and the data behind it, bytes: a multiple of OCL_ALIGN
 * @param len   bytes that are processed
 * @return NULL if no bin is left for it: it has to wait for the next launch
 */
struct ocl_record *ocl_chunk_add(struct ocl_chunk *chunk, uint32_t label, uint32_t len,
				 uint32_t size);

/** Take packets from now on. @param headed  they bring their heads */
void ocl_chunk_open(struct ocl_chunk *chunk, bool headed);

/** Append the head of a packet that suits. @return where it goes */
u8 *ocl_chunk_add_head(struct ocl_chunk *chunk, const struct ocl_header *header, bool second,
		       uint32_t *record);

/** Have data copied from the chunk to the record's packet by ocl_chunk_finish(). */
void ocl_chunk_copy_back(struct ocl_chunk *chunk, uint32_t record, u8 *to, uint32_t from,
			 uint32_t len);
/** The same for a digest that is not in the packet. */
void ocl_chunk_copy_digest(struct ocl_chunk *chunk, uint32_t record, u8 *to, uint32_t from,
			   uint32_t len);

/**
 * Take no more packets: copy those into the chunk for which a rectangle would take longer, and write
 * the order table and the statuses that the device replaces. Writes nothing for a lost device.
 */
void ocl_chunk_close(struct ocl_chunk *chunk);

/**
 * Give a closed chunk to OpenCL, unless it was withdrawn or the device is lost.
 * @param patient  wait up to 0.2 ms for the lock around OpenCL, and then go without it
 * @return OCL_CLOSED if another thread has that lock, else OCL_LAUNCHED, OCL_LOST or OCL_UNSENT;
 *	   OCL_DONE of a chunk without packets
 */
enum ocl_state ocl_chunk_launch(struct ocl_chunk *chunk, struct ocl_table *table, bool patient);

/**
 * Take back a chunk that was posted to the launcher and has not returned. It must not be used again:
 * the thread may still read it.
 * @return OCL_UNSENT, or OCL_LOST if the thread has launched it or is about to
 */
enum ocl_state ocl_chunk_withdraw(struct ocl_chunk *chunk);

/** Ask for a launched chunk, without blocking. @return OCL_LAUNCHED, OCL_DONE or OCL_LOST */
enum ocl_state ocl_chunk_poll(struct ocl_chunk *chunk);

/** A record's enum ocl_status, of a chunk in a final state. */
static inline uint32_t ocl_chunk_result(const struct ocl_chunk *chunk, uint32_t record)
{
	if (chunk->state != OCL_DONE)
		return OCL_STATUS_PENDING;
	if (!chunk->headed)
		return ((const u32 *)(chunk->host + chunk->results))[record];
	if (record + OCL_RESULTS_AHEAD < chunk->records)
		rte_prefetch0(ocl_heads_status(&chunk->heads, record + OCL_RESULTS_AHEAD));
	return *ocl_heads_status(&chunk->heads, record);
}

/** Copy to the record's packet. @return whether its data came from the chunk */
bool ocl_chunk_finish(const struct ocl_chunk *chunk, uint32_t record);

/** Remove all packets. */
void ocl_chunk_reset(struct ocl_chunk *chunk);

#endif
