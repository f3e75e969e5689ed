/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/socket.h>

#include "base/clock.h"
#include "esp/path_mtu.h"
#include "ip/packet.h"

#define IPV4_LEAST 576u /* bytes that every host accepts (RFC 791, 3.1) */

unsigned int path_mtu_least(uint8_t af)
{
	return af == AF_INET6 ? IPV6_MIN_MTU : IPV4_LEAST;
}

unsigned int path_mtu_limited(uint8_t af, uint64_t stored, unsigned int link)
{
	unsigned int mtu = path_mtu_reported(stored, clock_seconds());

	return mtu < path_mtu_least(af) || mtu > link ? link : mtu;
}
