/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_addr kernel_cygnet_addr
 * @{ @ingroup kernel_cygnet
 * Conversion of addresses between charon's host_t and chunk_t and libcygnet's
 * cygnet_addr.
 */

#ifndef KERNEL_CYGNET_ADDR_H_
#define KERNEL_CYGNET_ADDR_H_

#include <cygnet.h>
#include <library.h>
#include <networking/host.h>

/**
 * Length of an address.
 *
 * @param af		address family
 * @return			bytes; 0 for a family that is neither IPv4 nor IPv6
 */
size_t kernel_cygnet_addr_len(int af);

/**
 * Convert an address in network byte order.
 *
 * @param chunk		4 or 16 bytes; further bytes are ignored
 * @return			the address, unused bytes zero
 */
struct cygnet_addr kernel_cygnet_addr_from_chunk(chunk_t chunk);

/**
 * Convert the address of a host.
 *
 * @param host		host, its port is ignored
 * @return			the address, unused bytes zero
 */
struct cygnet_addr kernel_cygnet_addr_from_host(host_t *host);

/**
 * Create a host from an address, whose family may be invalid because another
 * process has written it.
 *
 * @param af		address family
 * @param addr		address
 * @param port		port in network byte order
 * @return			host, NULL if af is neither IPv4 nor IPv6
 */
host_t *kernel_cygnet_addr_to_host(int af, const struct cygnet_addr *addr,
								   uint16_t port);

#endif /** KERNEL_CYGNET_ADDR_H_ @}*/
