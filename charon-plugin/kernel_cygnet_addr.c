/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_addr.h"

#include <arpa/inet.h>

/*
 * Described in header.
 */
size_t kernel_cygnet_addr_len(int af)
{
	switch (af)
	{
		case AF_INET:
			return 4;
		case AF_INET6:
			return 16;
		default:
			return 0;
	}
}

/*
 * Described in header.
 */
struct cygnet_addr kernel_cygnet_addr_from_chunk(chunk_t chunk)
{
	struct cygnet_addr addr;

	memset(&addr, 0, sizeof(addr));
	memcpy(addr.bytes, chunk.ptr, min(chunk.len, sizeof(addr.bytes)));
	return addr;
}

/*
 * Described in header.
 */
struct cygnet_addr kernel_cygnet_addr_from_host(host_t *host)
{
	return kernel_cygnet_addr_from_chunk(host->get_address(host));
}

/*
 * Described in header.
 */
host_t *kernel_cygnet_addr_to_host(int af, const struct cygnet_addr *addr,
								   uint16_t port)
{
	size_t len = kernel_cygnet_addr_len(af);

	if (!len)
	{
		return NULL;
	}
	return host_create_from_chunk(af, chunk_create((u_char*)addr->bytes, len),
								  ntohs(port));
}
