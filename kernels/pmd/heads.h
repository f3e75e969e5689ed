/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file heads.h
 * A launch whose packets bring their heads (struct ocl_head, in the mbuf's headroom): rows of
 * one pool in one run, or two where the pool wraps around, of one key (ocl_bins_heads_key()). It takes
 * one transfer to the device and one back, without records, order table and results; each transfer
 * costs the copy engine some microseconds beside its bytes.
 */
#ifndef OCL_HEADS_H
#define OCL_HEADS_H

#include <stddef.h>

#include <rte_prefetch.h>

#include "inc_types.h"
#include "pool.h"

struct ocl_head_run {
	uint32_t row, rows; /* of the pool */
	bool second;	    /* packets are in the second of their mbufs' two buffers */
};

struct ocl_heads {
	const struct ocl_pool *pool;
	bool parallel;	 /* ocl_is_parallel() of all labels */
	uint32_t key;	 /* of all: ocl_bins_heads_key() */
	uint32_t aad;	 /* bytes in front of each head */
	uint32_t column; /* of the heads in their buffers */
	uint32_t to;	 /* end of the columns that the device gets */
	uint32_t shift;	 /* column on the device minus column on the host */
	uint32_t runs;	 /* 0: none yet */
	struct ocl_head_run run[OCL_HEAD_RUNS];
};

/* A packet that may be added. */
struct ocl_header {
	const struct ocl_pool *pool;
	uint32_t label, key, aad;
	uint32_t row;
	uint32_t from, to; /* its columns */
	uint32_t start;	   /* the column that should be aligned on the device */
};

/** Whether it can be added: its headroom has room for the head, and it matches the packets before, if any. */
bool ocl_heads_suit(const struct ocl_heads *heads, const struct ocl_header *header);

/** The run that row would continue; NULL: it begins one. */
static inline const struct ocl_head_run *ocl_heads_continued(const struct ocl_heads *heads,
							     uint32_t row)
{
	const struct ocl_head_run *last = heads->run;

	if (heads->runs == 0)
		return NULL;
	last += heads->runs - 1;
	return last->row + last->rows == row ? last : NULL;
}

/**
 * Add a packet that suits.
 * @param second  it is in the second of its buffers; the same for all of a run
 * @return where to write its head
 */
u8 *ocl_heads_add(struct ocl_heads *heads, const struct ocl_header *header, bool second);

/** Where the device writes the status of a packet. @param index  in the order in which they were added */
static inline u8 *ocl_heads_status(const struct ocl_heads *heads, uint32_t index)
{
	const struct ocl_head_run *run = &heads->run[0];

	if (index >= run->rows) {
		index -= run->rows;
		run++;
	}
	return heads->pool->start + (run->second ? 0 : heads->pool->twin) +
	       (size_t)(run->row + index) * heads->pool->pitch + heads->column +
	       offsetof(struct ocl_head, status);
}

/** The kernel's argument. */
void ocl_heads_describe(const struct ocl_heads *heads, uint32_t lanes, struct ocl_head_rows *rows);

#endif
