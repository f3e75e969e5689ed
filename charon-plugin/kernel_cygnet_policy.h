/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_policy kernel_cygnet_policy
 * @{ @ingroup kernel_cygnet
 * Policies: what charon asks for, in libcygnet's terms. Pure functions.
 */

#ifndef KERNEL_CYGNET_POLICY_H_
#define KERNEL_CYGNET_POLICY_H_

#include <cygnet.h>
#include <kernel/kernel_ipsec.h>

/**
 * The SPI of the SA that a policy names.
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
 * Map the traffic a policy is about (RFC 4301, 4.4.1.1).
 *
 * Address and port ranges are kept as they are. ICMP type and code travel in
 * the ports of the traffic selectors (RFC 7296, 3.13.1); as with
 * kernel-netlink, a single type with code 0 means all codes of it.
 *
 * @param id			charon's policy
 * @param[out] sel		libcygnet's selector
 * @param[out] why		names what is not supported, with NOT_SUPPORTED
 * @return				SUCCESS or NOT_SUPPORTED
 */
status_t kernel_cygnet_policy_selector(kernel_ipsec_policy_id_t *id,
									   struct cygnet_selector *sel,
									   const char **why);

/**
 * Compute the priority of a policy, the same as kernel-netlink does: a lower
 * value wins, classes never overlap, within one the narrower selector wins.
 *
 * @param sel			selector of the policy
 * @param prio			class
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
 * @param[out] why		names what is not supported, with NOT_SUPPORTED
 * @return				SUCCESS or NOT_SUPPORTED
 */
status_t kernel_cygnet_policy_params(kernel_ipsec_policy_id_t *id,
									 kernel_ipsec_manage_policy_t *data,
									 struct cygnet_policy_params *params,
									 const char **why);

#endif /** KERNEL_CYGNET_POLICY_H_ @}*/
