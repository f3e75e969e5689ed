/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_wanted kernel_cygnet_wanted
 * @{ @ingroup kernel_cygnet
 * What the connections that charon has loaded want protected, or dropped.
 *
 * Traffic selectors whose addresses are not known before there is a tunnel do
 * not count: virtual addresses, and peers without a numeric address.
 */

#ifndef KERNEL_CYGNET_WANTED_H_
#define KERNEL_CYGNET_WANTED_H_

#include <cygnet.h>
#include <library.h>

typedef struct kernel_cygnet_wanted_t kernel_cygnet_wanted_t;

struct kernel_cygnet_wanted_t {

	/**
	 * Whether the selectors of a connection include those of a policy
	 *
	 * @param installed	receives whether such selectors are installed, so that
	 *					they protect the policy's packets without it
	 */
	bool (*covers)(kernel_cygnet_wanted_t *this,
				   const struct cygnet_policy *policy, bool *installed);

	/**
	 * Number of children of the connections, whatever they want
	 */
	u_int (*count)(kernel_cygnet_wanted_t *this);

	/**
	 * Number of policies that hold() would hold
	 */
	u_int (*missing)(kernel_cygnet_wanted_t *this);

	/**
	 * Hold policies with the selectors that are not installed. Failures are
	 * logged.
	 *
	 * @return			FALSE if not all can be held
	 */
	bool (*hold)(kernel_cygnet_wanted_t *this);

	/**
	 * Destroy a kernel_cygnet_wanted_t
	 */
	void (*destroy)(kernel_cygnet_wanted_t *this);
};

/**
 * Whether charon has loaded any connection
 */
bool kernel_cygnet_wanted_loaded(void);

/**
 * Read the connections that charon has loaded now, and which of their selectors
 * are installed
 *
 * @param db		shared file
 */
kernel_cygnet_wanted_t *kernel_cygnet_wanted_create(struct cygnet_db *db);

#endif /** KERNEL_CYGNET_WANTED_H_ @}*/
