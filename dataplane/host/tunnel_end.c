/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "host/hop_group.h"
#include "host/interface.h"
#include "host/local_addr.h"
#include "host/side.h"
#include "host/tunnel_end.h"

/* @return index in interfaces[]; -1: no port has the address */
static int port_with(uint8_t af, const struct cygnet_addr *local)
{
	struct local_addr own;

	for (unsigned int i = 0; local_addr_next(&i, &own);)
		if (own.af == af && own.interface != LOCAL_ADDR_NO_INTERFACE &&
		    !memcmp(&own.addr, local, sizeof(*local)))
			return own.interface;
	return -1;
}

/* @return the ports that lead to an address, by one next hop or several: bits by index in interfaces[] */
static uint64_t ports_towards(uint8_t af, const struct cygnet_addr *remote)
{
	const struct next_hop hop = route_lookup(af, remote);
	const struct hop_share *share;
	struct hop_share single;
	unsigned int members = hop_group_members(&hop, &single, &share);
	uint64_t ports = 0;

	for (unsigned int i = 0; i < members; i++)
		if (share[i].hop.kind == ROUTE_FORWARD)
			ports |= 1ull << share[i].hop.interface;
	return ports;
}

/* The ports of the default route, of IPv6 if IPv4 has none. Looked up once a second, not for each SA of a scan. */
static uint64_t default_routes(void)
{
	static uint64_t ports, looked_up;
	const struct cygnet_addr any = {0};

	if (looked_up == clock_seconds())
		return ports;
	looked_up = clock_seconds();
	ports = ports_towards(AF_INET, &any);
	if (!ports)
		ports = ports_towards(AF_INET6, &any);
	return ports;
}

void tunnel_end_note(uint8_t af, const struct cygnet_addr *local, const struct cygnet_addr *remote)
{
	uint64_t ports = 0;
	int with = -1;

	/* A peer may choose which address of this host its tunnel ends at, but not by which port it is reached. */
	if (!cygnet_addr_is_zero(remote))
		ports = ports_towards(af, remote);
	if (!ports && !cygnet_addr_is_zero(local))
		with = port_with(af, local);
	if (with >= 0)
		ports = 1ull << with;
	for (unsigned int i = 0; ports >> i; i++)
		if (ports >> i & 1 && interfaces[i].kind != INTERFACE_TUNNEL)
			side_end_tunnel(&interfaces[i], default_routes());
}
