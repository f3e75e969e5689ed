/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_route kernel_cygnet_route
 * @{ @ingroup kernel_cygnet
 * The routes that go with policies.
 */

#ifndef KERNEL_CYGNET_ROUTE_H_
#define KERNEL_CYGNET_ROUTE_H_

#include <cygnet.h>
#include <kernel/kernel_ipsec.h>

typedef struct kernel_cygnet_route_t kernel_cygnet_route_t;

/**
 * Keeps routes in charon's routing table (charon.routing_table, 220) that make
 * this host's own traffic to a tunnel leave with a source address that the
 * tunnel's policy allows. They point where the peer is, so forwarded traffic
 * and the dataplane see no other next hop than without them.
 *
 * Installed for outbound tunnel and passthrough policies on all protocols and
 * ports, unless charon.install_routes is off. kernel-netlink restores them
 * when interfaces and addresses come and go.
 *
 * Thread-safe.
 */
struct kernel_cygnet_route_t {

	/**
	 * Install the route of a policy, or update it if the policy is installed
	 * once more and the way to the peer has changed.
	 *
	 * @param id		charon's policy
	 * @param data		charon's parameters
	 * @param params	the same, mapped
	 */
	void (*add)(kernel_cygnet_route_t *this, kernel_ipsec_policy_id_t *id,
				kernel_ipsec_manage_policy_t *data,
				const struct cygnet_policy_params *params);

	/**
	 * Undo one add().
	 *
	 * @param params	mapped parameters of the policy
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
