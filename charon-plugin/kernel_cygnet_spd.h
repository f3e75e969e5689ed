/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_spd kernel_cygnet_spd
 * @{ @ingroup kernel_cygnet
 * Changes of the SPD.
 */

#ifndef KERNEL_CYGNET_SPD_H_
#define KERNEL_CYGNET_SPD_H_

#include <library.h>

#include <cygnet.h>

typedef struct kernel_cygnet_spd_t kernel_cygnet_spd_t;
typedef struct kernel_cygnet_spd_change_t kernel_cygnet_spd_change_t;

/**
 * What adding or removing a policy has changed for its selector
 */
struct kernel_cygnet_spd_change_t {
	/** number of installed policies with the selector */
	u_int count;
	/** whether the policy is or was the first one, which applies to packets */
	bool first;
	/** priority of the first policy, if there is one */
	uint32_t priority;
};

/**
 * Installs policies in the shared file, and describes what that has changed.
 * Several policies may have one direction and selector, such as those of an SA
 * and of its successor.
 *
 * Thread-safe.
 */
struct kernel_cygnet_spd_t {

	/**
	 * Install a policy.
	 *
	 * @param params		policy
	 * @param[out] change	what this has changed
	 * @return				as cygnet_policy_add()
	 */
	int (*add)(kernel_cygnet_spd_t *this,
			   const struct cygnet_policy_params *params,
			   kernel_cygnet_spd_change_t *change);

	/**
	 * Undo one add().
	 *
	 * @param params		policy; its end points may have changed
	 * @param[out] change	what this has changed
	 * @return				as cygnet_policy_delete()
	 */
	int (*remove)(kernel_cygnet_spd_t *this,
				  const struct cygnet_policy_params *params,
				  kernel_cygnet_spd_change_t *change);

	/**
	 * Remove all policies, also those of other processes, but not held ones.
	 */
	void (*flush)(kernel_cygnet_spd_t *this);

	/**
	 * Destroy this object. The policies stay in the file.
	 */
	void (*destroy)(kernel_cygnet_spd_t *this);
};

/**
 * Create a kernel_cygnet_spd_t.
 *
 * @param db		shared file
 * @return			instance
 */
kernel_cygnet_spd_t *kernel_cygnet_spd_create(struct cygnet_db *db);

#endif /** KERNEL_CYGNET_SPD_H_ @}*/
