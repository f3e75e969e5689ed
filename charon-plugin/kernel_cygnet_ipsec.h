/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_ipsec kernel_cygnet_ipsec
 * @{ @ingroup kernel_cygnet
 */

#ifndef KERNEL_CYGNET_IPSEC_H_
#define KERNEL_CYGNET_IPSEC_H_

#include <kernel/kernel_ipsec.h>

typedef struct kernel_cygnet_ipsec_t kernel_cygnet_ipsec_t;

/**
 * Implementation of the kernel IPsec interface on the shared SAD and SPD.
 */
struct kernel_cygnet_ipsec_t {

	/**
	 * Implements kernel_ipsec_t interface
	 */
	kernel_ipsec_t interface;
};

/**
 * Create a kernel_cygnet_ipsec_t: open the shared file, take the role of
 * charon, and remove the SAs and policies of an earlier charon.
 *
 * @return			instance, NULL on failure, which is logged
 */
kernel_cygnet_ipsec_t *kernel_cygnet_ipsec_create(void);

#endif /** KERNEL_CYGNET_IPSEC_H_ @}*/
