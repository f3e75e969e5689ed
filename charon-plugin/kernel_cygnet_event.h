/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_event kernel_cygnet_event
 * @{ @ingroup kernel_cygnet
 * The thread that hands the dataplane's events to charon.
 */

#ifndef KERNEL_CYGNET_EVENT_H_
#define KERNEL_CYGNET_EVENT_H_

#include <cygnet.h>

typedef struct kernel_cygnet_event_t kernel_cygnet_event_t;

/**
 * Waits for events in the shared file and raises them to charon: acquire,
 * expire, mapping. Does the housekeeping of the file meanwhile.
 */
struct kernel_cygnet_event_t {

	/**
	 * Have what has been deleted wiped as soon as the dataplane has let go of
	 * it. Thread-safe.
	 */
	void (*reclaim)(kernel_cygnet_event_t *this);

	/**
	 * Destroy this object. The processor has cancelled its jobs before.
	 */
	void (*destroy)(kernel_cygnet_event_t *this);
};

/**
 * Create a kernel_cygnet_event_t, and start its job.
 *
 * @param db		shared file, stays with the caller
 * @return			instance
 */
kernel_cygnet_event_t *kernel_cygnet_event_create(struct cygnet_db *db);

#endif /** KERNEL_CYGNET_EVENT_H_ @}*/
