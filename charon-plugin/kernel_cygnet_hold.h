/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_hold kernel_cygnet_hold
 * @{ @ingroup kernel_cygnet
 * Ends the hold of an earlier charon's policies that are not wanted any more.
 */

#ifndef KERNEL_CYGNET_HOLD_H_
#define KERNEL_CYGNET_HOLD_H_

#include "kernel_cygnet_event.h"

typedef struct kernel_cygnet_hold_t kernel_cygnet_hold_t;

struct kernel_cygnet_hold_t {

	/**
	 * A policy has been added. If it has replaced held policies, reclaim their
	 * slots.
	 */
	void (*added)(kernel_cygnet_hold_t *this);

	/**
	 * Destroy, after the scheduler has been flushed
	 */
	void (*destroy)(kernel_cygnet_hold_t *this);
};

/**
 * Length of a second, ms: tests make it shorter, before a hold is created
 */
extern uint32_t kernel_cygnet_hold_second;

/**
 * Time for which policies are held that no connection wants, after the last
 * connection has been loaded (strongswan.conf)
 *
 * @return			seconds; 0: policies are not held
 */
uint32_t kernel_cygnet_hold_time(void);

/**
 * Schedule the removal of the held policies, if there are any. A policy stays
 * until one that includes it is installed, or until the last connection has been
 * loaded for the time of the option and none wants it. If the option becomes 0,
 * all go. In the place of policies that hold everything those are held that
 * connections want, once charon has loaded its connections: none more for a
 * minute, or for the time of the option if that is shorter. If there is no room
 * for them, everything stays held, and the log says so.
 *
 * @param db		shared file
 * @param events	to reclaim slots
 */
kernel_cygnet_hold_t *kernel_cygnet_hold_create(struct cygnet_db *db,
												kernel_cygnet_event_t *events);

#endif /** KERNEL_CYGNET_HOLD_H_ @}*/
