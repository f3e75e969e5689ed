/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_closed kernel_cygnet_closed
 * @{ @ingroup kernel_cygnet
 * While no dataplane serves the shared file, nothing protects packets: no SA is
 * accepted, and the kernel drops what policies protect.
 */

#ifndef KERNEL_CYGNET_CLOSED_H_
#define KERNEL_CYGNET_CLOSED_H_

#include <cygnet.h>

typedef struct kernel_cygnet_closed_t kernel_cygnet_closed_t;

struct kernel_cygnet_closed_t {

	/**
	 * Whether SAs may be installed: a dataplane serves, has done so until some
	 * seconds ago, or none is required. Logs why not. Any thread.
	 *
	 * @param what		what is refused otherwise, for the log
	 */
	bool (*serves)(kernel_cygnet_closed_t *this, const char *what);

	/**
	 * Destroy a kernel_cygnet_closed_t. What the kernel drops because of policies
	 * that are held it still drops afterwards.
	 *
	 * @param hold		whether policies are held
	 */
	void (*destroy)(kernel_cygnet_closed_t *this, bool hold);
};

/**
 * Take away the rules that an earlier charon has left, where SAs and policies are
 * the kernel's now
 */
void kernel_cygnet_closed_remove(void);

/**
 * Create an object that looks after the dataplane
 *
 * @param db			shared file, which is open for longer than the object exists
 */
kernel_cygnet_closed_t *kernel_cygnet_closed_create(struct cygnet_db *db);

#endif /** KERNEL_CYGNET_CLOSED_H_ @}*/
