/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_addr kernel_cygnet_addr
 * @{ @ingroup kernel_cygnet
 * Addresses: charon's host_t and chunk_t to libcygnet's cygnet_addr and back.
 */

#ifndef KERNEL_CYGNET_ADDR_H_
#define KERNEL_CYGNET_ADDR_H_

#include <cygnet.h>
#include <library.h>
#include <networking/host.h>

/**
 * Bytes of an address of a family.
 *
 * @param af		address family
 * @return			4, 16, or 0 for a family that is neither IPv4 nor IPv6
 */
size_t kernel_cygnet_addr_len(int af);

/**
 * Convert an address in network byte order.
 *
 * @param chunk		4 or 16 bytes; what is beyond 16 is ignored
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
 * Create a host from an address that may come from another process.
 *
 * @param af		address family
 * @param addr		address
 * @param port		port in network byte order
 * @return			host, NULL if af is neither IPv4 nor IPv6
 */
host_t *kernel_cygnet_addr_to_host(int af, const struct cygnet_addr *addr,
								   uint16_t port);

#endif /** KERNEL_CYGNET_ADDR_H_ @}*/
