/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file table.h
 * The session table in the memory of one device, a copy of the store's entries (store.h). Entries are
 * uploaded through a separate command queue, without waiting: a launch that uses an entry waits for
 * the upload's event.
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
	struct ocl_session
		*home; /* on a CPU device: the buffer's own memory, kept out of core dumps */
	bool direct;   /* no uploads: home is written to */
	size_t bytes;
	uint32_t top; /* highest slot that was ever written + 1 */
	rte_spinlock_t lock;
	uint64_t issued;	/* the last change that was uploaded */
	uint64_t completed;	/* atomic: changes up to this number are in place */
	cl_event last;		/* of the upload of change number issued; NULL if none is pending */
	struct ocl_table *next; /* the store's */
};

/** @param size  sessions
 * @return 0, -ENOMEM or -EIO, logged */
int ocl_table_init(struct ocl_table *table, struct ocl_device *dev, uint32_t size);

/** From now on write entries directly, without uploads, which would wait for the end of a persistent
 * kernel. For a CPU device, before the first entry. */
void ocl_table_write_home(struct ocl_table *table);

/** Overwrites all entries on the device. Safe on a zeroed table. */
void ocl_table_free(struct ocl_table *table);

/**
 * Start the upload of entries. A device that was given up takes no commands: in memory that it shares
 * with the host the entries are overwritten, else they stay.
 * @param slot	  of the first one
 * @param entry	  n entries of the store, which stay where they are
 * @param number  of the last change in them
 * @return 0, or -EIO if the device failed
 */
int ocl_table_write(struct ocl_table *table, uint32_t slot, const struct ocl_session *entry,
		    uint32_t n, uint64_t number);

/**
 * The event that a launch has to wait for.
 * @return an event to release after use, or NULL if the upload has completed
 */
cl_event ocl_table_pending(struct ocl_table *table, uint64_t upload);

/** Memory for entries, kept out of core dumps. @return NULL if there is none */
struct ocl_session *ocl_table_map(size_t bytes);
/** Safe on NULL. The kernel clears pages before another process gets them. */
void ocl_table_unmap(struct ocl_session *entries, size_t bytes);

#endif
