/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file table.h
 * The session table in device memory. Entries are uploaded through a separate
 * command queue, without waiting: a launch that uses an entry waits for the upload's
 * event. Any thread may create and clear sessions while queue pairs run.
 */
#ifndef OCL_TABLE_H
#define OCL_TABLE_H

#include <stdint.h>

#include <rte_spinlock.h>

#include "device.h"
#include "inc_types.h"

struct ocl_table {
	struct ocl_device *dev;
	cl_mem buffer;
	cl_command_queue queue;
	struct ocl_session *staging; /* sources of uploads, kept out of core dumps */
	struct ocl_session *home;    /* on a CPU device: the buffer's own memory, kept out of core dumps */
	bool direct;		     /* no uploads: home is written to */
	size_t bytes;		     /* of the table */
	uint32_t *free; /* a stack of slots */
	uint32_t nfree, size;
	uint32_t top;	    /* highest slot that was ever in use + 1 */
	rte_spinlock_t lock;
	uint64_t issued;    /* uploads so far; an upload's number is what this was after it */
	uint64_t completed; /* atomic: uploads up to this number are in place */
	cl_event last;	    /* of upload number issued; NULL if none is pending */
};

/** @return 0, -ENOMEM or -EIO, logged */
int ocl_table_init(struct ocl_table *table, struct ocl_device *dev, uint32_t size);

/** From now on write entries directly, without uploads, which would wait for the end of a persistent
 * kernel. For a CPU device, before the first entry. */
void ocl_table_write_home(struct ocl_table *table);

/** Overwrites all entries on host and device. Safe on a zeroed table. */
void ocl_table_free(struct ocl_table *table);

/**
 * Take a slot and start the upload of an entry.
 * @param[out] slot    index for records
 * @param[out] upload  the upload's number, for ocl_table_pending()
 * @return 0, -ENOSPC if the table is full, -EIO if the device failed
 */
int ocl_table_put(struct ocl_table *table, const struct ocl_session *entry, uint32_t *slot,
		  uint64_t *upload);

/** Overwrite an entry on host and device, and free its slot. A device that was given up takes
 * no commands: the entry stays in its own memory. */
void ocl_table_clear(struct ocl_table *table, uint32_t slot);

/**
 * The event that a launch has to wait for.
 * @return an event to release after use, or NULL if the upload has completed
 */
cl_event ocl_table_pending(struct ocl_table *table, uint64_t upload);

#endif
