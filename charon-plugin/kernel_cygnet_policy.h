/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_policy kernel_cygnet_policy
 * @{ @ingroup kernel_cygnet
 * Maps charon's policies to libcygnet's parameters. All functions are pure.
 */

#ifndef KERNEL_CYGNET_POLICY_H_
#define KERNEL_CYGNET_POLICY_H_

#include <cygnet.h>
#include <kernel/kernel_ipsec.h>

/**
 * Get the SPI of the SA of a policy.
 *
 * @param sa			charon's SA configuration, ESP or AH
 * @return				SPI, network byte order
 */
uint32_t kernel_cygnet_policy_spi(ipsec_sa_cfg_t *sa);

/**
 * Map the direction of a policy.
 *
 * @param dir			charon's direction
 * @return				libcygnet's
 */
enum cygnet_dir kernel_cygnet_policy_dir(policy_dir_t dir);

/**
 * Map the traffic selectors of a policy (RFC 4301, 4.4.1.1).
 *
 * Address and port ranges stay the same. ICMP type and code are in the ports of
 * the traffic selectors (RFC 7296, 3.13.1). As with kernel-netlink, a single
 * type with code 0 means all codes of the type.
 *
 * @param id			charon's policy
 * @param[out] sel		libcygnet's selector
 * @param[out] why		name of the unsupported property, with NOT_SUPPORTED
 * @return				SUCCESS or NOT_SUPPORTED
 */
status_t kernel_cygnet_policy_selector(kernel_ipsec_policy_id_t *id,
									   struct cygnet_selector *sel,
									   const char **why);

/**
 * Compute the priority of a policy, as kernel-netlink does. The lowest value
 * takes precedence. Classes never overlap; within a class narrower selectors
 * have lower values.
 *
 * @param sel			selector of the policy
 * @param prio			priority class
 * @return				priority
 */
uint32_t kernel_cygnet_policy_priority(const struct cygnet_selector *sel,
									   policy_priority_t prio);

/**
 * Map a policy.
 *
 * @param id			charon's policy
 * @param data			charon's parameters
 * @param[out] params	libcygnet's parameters
 * @param[out] why		name of the unsupported property, with NOT_SUPPORTED
 * @return				SUCCESS or NOT_SUPPORTED
 */
status_t kernel_cygnet_policy_params(kernel_ipsec_policy_id_t *id,
									 kernel_ipsec_manage_policy_t *data,
									 struct cygnet_policy_params *params,
									 const char **why);

#endif /** KERNEL_CYGNET_POLICY_H_ @}*/
