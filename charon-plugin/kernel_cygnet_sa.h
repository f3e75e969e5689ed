/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_sa kernel_cygnet_sa
 * @{ @ingroup kernel_cygnet
 * SAs: what charon asks for, in libcygnet's terms. Pure functions.
 */

#ifndef KERNEL_CYGNET_SA_H_
#define KERNEL_CYGNET_SA_H_

#include <cygnet.h>
#include <kernel/kernel_ipsec.h>

/**
 * Map what names an SA (RFC 4301, 4.1).
 *
 * @param id			charon's SA
 * @param[out] sa		libcygnet's
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
 * Name what keeps us from serving SAs between two endpoints.
 *
 * @param proto			IPPROTO_ESP or IPPROTO_AH
 * @param src			source of the outer header
 * @param dst			destination of the outer header
 * @param encap			whether they are to be in UDP
 * @return				name of what is not supported, NULL if all is
 */
const char *kernel_cygnet_sa_unsupported(uint8_t proto, host_t *src,
										 host_t *dst, bool encap);

/**
 * Map an SA. It is all or nothing: of what charon asks for, nothing is
 * silently left out.
 *
 * The result holds keys, the caller has to wipe it.
 *
 * @param id			charon's SA
 * @param data			charon's parameters
 * @param[out] params	libcygnet's parameters
 * @param[out] why		names what is not supported, with NOT_SUPPORTED
 * @return				SUCCESS or NOT_SUPPORTED
 */
status_t kernel_cygnet_sa_params(kernel_ipsec_sa_id_t *id,
								 kernel_ipsec_add_sa_t *data,
								 struct cygnet_sa_params *params,
								 const char **why);

#endif /** KERNEL_CYGNET_SA_H_ @}*/
