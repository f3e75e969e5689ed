/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_event kernel_cygnet_event
 * @{ @ingroup kernel_cygnet
 * Raises the events of the dataplane to charon.
 */

#ifndef KERNEL_CYGNET_EVENT_H_
#define KERNEL_CYGNET_EVENT_H_

#include <cygnet.h>

typedef struct kernel_cygnet_event_t kernel_cygnet_event_t;

/**
 * A job that waits for events in the shared file and raises them to charon:
 * acquire, expire and mapping change. It also reclaims deleted slots.
 */
struct kernel_cygnet_event_t {

	/**
	 * Request that deleted SAs and policies are wiped as soon as the dataplane
	 * cannot use them any more. Returns at once. Thread-safe.
	 */
	void (*reclaim)(kernel_cygnet_event_t *this);

	/**
	 * Destroy this object, after the processor has cancelled its jobs.
	 */
	void (*destroy)(kernel_cygnet_event_t *this);
};

/**
 * Create a kernel_cygnet_event_t, and start its job.
 *
 * @param db		shared file, closed by the caller after destroy()
 * @return			instance
 */
kernel_cygnet_event_t *kernel_cygnet_event_create(struct cygnet_db *db);

#endif /** KERNEL_CYGNET_EVENT_H_ @}*/
