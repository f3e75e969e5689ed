/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file store.h
 * The sessions of all devices of the driver. DPDK creates a session once for each driver, and an
 * application may use it on every device of it (programmer's guide, "Symmetric Crypto Session"). So
 * each session has one slot, the same in the tables of all devices; a device that is opened
 * later gets the sessions that there are.
 */
#ifndef OCL_STORE_H
#define OCL_STORE_H

#include <stdint.h>

#include <rte_spinlock.h>

#include "inc_types.h"

struct ocl_table;

struct ocl_store {
	rte_spinlock_t lock;
	uint32_t references;	   /* devices, also those that failed to open */
	struct ocl_table *tables;  /* a list of those of open devices */
	struct ocl_session *entry; /* by slot; sources of uploads, kept out of core dumps */
	size_t bytes;		   /* of entries */
	uint32_t *free;		   /* a stack of slots */
	uint32_t nfree, size;
	uint32_t top;	 /* highest slot that was ever in use + 1 */
	uint64_t issued; /* changes so far; a change's number is what this was after it */
	bool read_on;	 /* a lost device may still read entries */
};

/**
 * Get the store, and create it for the first device. For probing and removal only.
 * @param[out] store
 * @param size  sessions, the same for all devices
 * @return 0, -EINVAL if other devices have another size, or -ENOMEM; logged
 */
int ocl_store_get(struct ocl_store **store, uint32_t size);

/** Overwrites and frees the entries with the last device. Safe on NULL. */
void ocl_store_put(struct ocl_store *store);

/** Write all sessions to a device's table, and each change from now on. @return 0, or -EIO if the
 * device failed */
int ocl_store_join(struct ocl_store *store, struct ocl_table *table);

/** Write no changes to the table any more. Safe on a table that has not joined. */
void ocl_store_leave(struct ocl_store *store, struct ocl_table *table);

/**
 * Take a slot and start the upload of an entry to all devices. A device that fails in this is lost, and
 * the others go on. Any thread, also while queue pairs run.
 * @param table	       of the device that was asked
 * @param[out] slot    index for records
 * @param[out] upload  the change's number, for ocl_table_pending()
 * @return 0, -ENOSPC if there is no slot, -EIO if the device that was asked is lost
 */
int ocl_store_add(struct ocl_store *store, const struct ocl_table *table,
		  const struct ocl_session *entry, uint32_t *slot, uint64_t *upload);

/** Overwrite an entry on host and devices, and free its slot. Any thread. */
void ocl_store_remove(struct ocl_store *store, uint32_t slot);

#endif
