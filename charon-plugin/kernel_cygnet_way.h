/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_way kernel_cygnet_way
 * @{ @ingroup kernel_cygnet
 * The ways to peers, remembered for a moment.
 */

#ifndef KERNEL_CYGNET_WAY_H_
#define KERNEL_CYGNET_WAY_H_

#include <library.h>
#include <networking/host.h>

typedef struct kernel_cygnet_way_t kernel_cygnet_way_t;

/**
 * Asks kernel-net for the next hop to a peer, once for all policies to it that
 * charon installs in one go. kernel-netlink has the kernel list all routes to
 * answer that, those for policies among them: it takes the longer the more
 * policies there are.
 *
 * Not thread-safe.
 */
struct kernel_cygnet_way_t {

	/**
	 * Find the next hop to a peer, as it is or was up to a second ago. What
	 * was before charon's last roam event (addresses or routes have changed)
	 * is asked for again.
	 *
	 * @param dst			address of the peer
	 * @param src			our address
	 * @param[out] if_name	interface, to be freed; NULL if not known
	 * @return				next hop, to be destroyed; NULL if there is none
	 */
	host_t *(*find)(kernel_cygnet_way_t *this, host_t *dst, host_t *src,
					char **if_name);

	/**
	 * Destroy this object.
	 */
	void (*destroy)(kernel_cygnet_way_t *this);
};

/**
 * Create a kernel_cygnet_way_t.
 *
 * @return			instance
 */
kernel_cygnet_way_t *kernel_cygnet_way_create(void);

#endif /** KERNEL_CYGNET_WAY_H_ @}*/
