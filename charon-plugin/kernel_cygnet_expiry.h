/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_expiry kernel_cygnet_expiry
 * @{ @ingroup kernel_cygnet
 * Timers of the installed SAs.
 */

#ifndef KERNEL_CYGNET_EXPIRY_H_
#define KERNEL_CYGNET_EXPIRY_H_

#include "kernel_cygnet_peers.h"

#include <cygnet.h>
#include <ipsec/ipsec_types.h>

typedef struct kernel_cygnet_expiry_t kernel_cygnet_expiry_t;

/**
 * Raises an expire to charon when an SA reaches a time limit. The dataplane
 * checks limits of bytes and packets, but time limits must be raised even if no
 * dataplane runs.
 *
 * Thread-safe.
 */
struct kernel_cygnet_expiry_t {

	/**
	 * Start the timers of an SA. A timer that fires after remove() does
	 * nothing, even if another SA has the same id by then.
	 *
	 * @param id		id of the SA
	 * @param lifetime	limits; only the times are used; seconds, 0: none
	 * @param owner		IKE_SA that the SA is counted for until it is removed, or
	 *					NULL
	 */
	void (*add)(kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id,
				lifetime_cfg_t *lifetime, kernel_cygnet_ike_sa_t *owner);

	/**
	 * Change the id of an SA that has moved to another destination. Its timers
	 * continue.
	 *
	 * @param id		old id of the SA
	 * @param new_id	new id of the SA
	 */
	void (*rename)(kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id,
				   const struct cygnet_sa_id *new_id);

	/**
	 * Stop the timers of an SA.
	 *
	 * @param id		id of the SA
	 */
	void (*remove)(kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id);

	/**
	 * Stop the timers of all SAs.
	 */
	void (*flush)(kernel_cygnet_expiry_t *this);

	/**
	 * Destroy this object, after the scheduler has been flushed and while no
	 * job runs.
	 */
	void (*destroy)(kernel_cygnet_expiry_t *this);
};

/**
 * Create a kernel_cygnet_expiry_t.
 *
 * @param peers		numbers of SAs
 * @return			instance
 */
kernel_cygnet_expiry_t *kernel_cygnet_expiry_create(
											kernel_cygnet_peers_t *peers);

#endif /** KERNEL_CYGNET_EXPIRY_H_ @}*/
