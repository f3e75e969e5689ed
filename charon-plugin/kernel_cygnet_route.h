/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_route kernel_cygnet_route
 * @{ @ingroup kernel_cygnet
 * Routes for policies.
 */

#ifndef KERNEL_CYGNET_ROUTE_H_
#define KERNEL_CYGNET_ROUTE_H_

#include <cygnet.h>
#include <kernel/kernel_ipsec.h>

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
	 * Install the route of a policy. Of several policies with the same selector
	 * the one that applies to packets has the route. If a policy is installed
	 * again, update the route to the current next hop of the peer.
	 *
	 * @param params	the policy
	 */
	void (*add)(kernel_cygnet_route_t *this,
				const struct cygnet_policy_params *params);

	/**
	 * Undo one add(), and install the route of the policy with the same
	 * selector that then applies.
	 *
	 * @param params	the policy; its end points may have changed
	 */
	void (*remove)(kernel_cygnet_route_t *this,
				   const struct cygnet_policy_params *params);

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
 * @return			instance
 */
kernel_cygnet_route_t *kernel_cygnet_route_create(void);

#endif /** KERNEL_CYGNET_ROUTE_H_ @}*/
