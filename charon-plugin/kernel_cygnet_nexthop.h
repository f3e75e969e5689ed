/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_nexthop kernel_cygnet_nexthop
 * @{ @ingroup kernel_cygnet
 * Cache of next hops to peers.
 */

#ifndef KERNEL_CYGNET_NEXTHOP_H_
#define KERNEL_CYGNET_NEXTHOP_H_

#include <library.h>
#include <networking/host.h>

typedef struct kernel_cygnet_nexthop_t kernel_cygnet_nexthop_t;

/**
 * Caches the next hops that the kernel-net interface finds, for a second. To
 * find one, kernel-netlink reads all routes of the kernel, which include one
 * for each policy. With the cache it reads them once for all policies of a peer
 * that charon installs together.
 *
 * Not thread-safe.
 */
struct kernel_cygnet_nexthop_t {

	/**
	 * Find the next hop to a peer. A cached next hop is at most a second old,
	 * and not older than charon's last roam event (addresses or routes have
	 * changed).
	 *
	 * @param dst			address of the peer
	 * @param src			local address
	 * @param[out] if_name	interface, to be freed; NULL if unknown
	 * @return				next hop, to be destroyed; NULL if there is none
	 */
	host_t *(*find)(kernel_cygnet_nexthop_t *this, host_t *dst, host_t *src,
					char **if_name);

	/**
	 * Destroy this object.
	 */
	void (*destroy)(kernel_cygnet_nexthop_t *this);
};

/**
 * Create a kernel_cygnet_nexthop_t.
 *
 * @return			instance
 */
kernel_cygnet_nexthop_t *kernel_cygnet_nexthop_create(void);

#endif /** KERNEL_CYGNET_NEXTHOP_H_ @}*/
