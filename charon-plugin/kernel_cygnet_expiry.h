/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_expiry kernel_cygnet_expiry
 * @{ @ingroup kernel_cygnet
 * The timers of the installed SAs' lifetimes.
 */

#ifndef KERNEL_CYGNET_EXPIRY_H_
#define KERNEL_CYGNET_EXPIRY_H_

#include <cygnet.h>
#include <ipsec/ipsec_types.h>

typedef struct kernel_cygnet_expiry_t kernel_cygnet_expiry_t;

/**
 * Raises the time limits of SAs to charon. Limits of bytes and packets come
 * from the dataplane, but time passes also while there is no dataplane.
 *
 * Thread-safe.
 */
struct kernel_cygnet_expiry_t {

	/**
	 * Start the timers of an SA. A timer that fires after remove() does
	 * nothing, not even if another SA has the same name by then.
	 *
	 * @param id		name of the SA
	 * @param lifetime	limits, of which time is used; 0 for none
	 */
	void (*add)(kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id,
				lifetime_cfg_t *lifetime);

	/**
	 * Follow an SA to another destination, its timers go on.
	 *
	 * @param id		old name of the SA
	 * @param now		new name of the SA
	 */
	void (*rename)(kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id,
				   const struct cygnet_sa_id *now);

	/**
	 * Forget an SA.
	 *
	 * @param id		name of the SA
	 */
	void (*remove)(kernel_cygnet_expiry_t *this, const struct cygnet_sa_id *id);

	/**
	 * Forget all SAs.
	 */
	void (*flush)(kernel_cygnet_expiry_t *this);

	/**
	 * Destroy this object. The scheduler has been flushed and no job runs.
	 */
	void (*destroy)(kernel_cygnet_expiry_t *this);
};

/**
 * Create a kernel_cygnet_expiry_t.
 *
 * @return			instance
 */
kernel_cygnet_expiry_t *kernel_cygnet_expiry_create(void);

#endif /** KERNEL_CYGNET_EXPIRY_H_ @}*/
