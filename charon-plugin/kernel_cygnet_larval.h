/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_larval kernel_cygnet_larval
 * @{ @ingroup kernel_cygnet
 * Releases reserved SPIs that got no SA.
 */

#ifndef KERNEL_CYGNET_LARVAL_H_
#define KERNEL_CYGNET_LARVAL_H_

#include <cygnet.h>

typedef struct kernel_cygnet_larval_t kernel_cygnet_larval_t;

/**
 * After some failures of a negotiation charon does not release the SPI, so a
 * peer could use up all SA slots. Linux removes such SPIs as well
 * (net.core.xfrm_acq_expires).
 *
 * Thread-safe.
 */
struct kernel_cygnet_larval_t {

	/**
	 * Release a reserved SPI after its lifetime, unless it has an SA
	 *
	 * @param id		id of the larval SA
	 */
	void (*add)(kernel_cygnet_larval_t *this, const struct cygnet_sa_id *id);

	/**
	 * Destroy, after the scheduler has been flushed and while no job runs
	 */
	void (*destroy)(kernel_cygnet_larval_t *this);
};

/**
 * Create a kernel_cygnet_larval_t
 *
 * @param db		shared file
 * @return			instance
 */
kernel_cygnet_larval_t *kernel_cygnet_larval_create(struct cygnet_db *db);

#endif /** KERNEL_CYGNET_LARVAL_H_ @}*/
