/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_sa kernel_cygnet_sa
 * @{ @ingroup kernel_cygnet
 * Maps charon's SAs to libcygnet's parameters. All functions are pure.
 */

#ifndef KERNEL_CYGNET_SA_H_
#define KERNEL_CYGNET_SA_H_

#include <cygnet.h>
#include <kernel/kernel_ipsec.h>

/**
 * Map the id of an SA (RFC 4301, 4.1).
 *
 * @param id			charon's SA
 * @param[out] sa		libcygnet's id
 */
void kernel_cygnet_sa_id(kernel_ipsec_sa_id_t *id, struct cygnet_sa_id *sa);

/**
 * Map the endpoints of an SA.
 *
 * @param src			source of the outer header, with its UDP port
 * @param dst			destination of the outer header, with its UDP port
 * @param encap			TRUE to encapsulate in UDP (RFC 3948)
 * @param[out] path		libcygnet's path; ports are zero without encapsulation
 */
void kernel_cygnet_sa_path(host_t *src, host_t *dst, bool encap,
						   struct cygnet_path *path);

/**
 * Name an unsupported property of the outer header of an SA.
 *
 * @param proto			IPPROTO_ESP or IPPROTO_AH
 * @param src			source of the outer header
 * @param dst			destination of the outer header
 * @param encap			TRUE to encapsulate in UDP (RFC 3948)
 * @return				name of the unsupported property, NULL if there is none
 */
const char *kernel_cygnet_sa_unsupported(uint8_t proto, host_t *src,
										 host_t *dst, bool encap);

/**
 * Map an SA. An SA with any unsupported option is refused as a whole.
 *
 * The result has keys, so the caller has to wipe it.
 *
 * @param id			charon's SA
 * @param data			charon's parameters
 * @param[out] params	libcygnet's parameters
 * @param[out] why		name of the unsupported property, with NOT_SUPPORTED
 * @return				SUCCESS or NOT_SUPPORTED
 */
status_t kernel_cygnet_sa_params(kernel_ipsec_sa_id_t *id,
								 kernel_ipsec_add_sa_t *data,
								 struct cygnet_sa_params *params,
								 const char **why);

#endif /** KERNEL_CYGNET_SA_H_ @}*/
