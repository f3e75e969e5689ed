/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_route kernel_cygnet_route
 * @{ @ingroup kernel_cygnet
 * Routes for policies.
 */

#ifndef KERNEL_CYGNET_ROUTE_H_
#define KERNEL_CYGNET_ROUTE_H_

#include <cygnet.h>

typedef struct kernel_cygnet_route_t kernel_cygnet_route_t;

/**
 * Installs routes in charon's routing table (charon.routing_table, 220), so
 * that packets of this host to a tunnel have a source address that matches the
 * tunnel's policy. The routes have the next hop of the peer, which the
 * dataplane would use without them as well.
 *
 * Outbound tunnel and passthrough policies for all protocols and ports get a
 * route, unless charon.install_routes is off. kernel-netlink restores the
 * routes when interfaces or addresses change.
 *
 * Thread-safe.
 */
struct kernel_cygnet_route_t {

	/**
	 * Install the route of the first outbound policy with a selector, with the
	 * current next hop of its peer, or uninstall the route if there is no
	 * policy any more. If the first policy needs no route, or its peer is
	 * unreachable, the route stays. To be called when the first policy has
	 * changed.
	 *
	 * @param sel		selector
	 */
	void (*update)(kernel_cygnet_route_t *this,
				   const struct cygnet_selector *sel);

	/**
	 * Uninstall all routes.
	 */
	void (*flush)(kernel_cygnet_route_t *this);

	/**
	 * Destroy this object.
	 */
	void (*destroy)(kernel_cygnet_route_t *this);
};

/**
 * Create a kernel_cygnet_route_t.
 *
 * @param db		shared file with the policies
 * @return			instance
 */
kernel_cygnet_route_t *kernel_cygnet_route_create(struct cygnet_db *db);

#endif /** KERNEL_CYGNET_ROUTE_H_ @}*/
