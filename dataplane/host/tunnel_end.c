/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "host/interface.h"
#include "host/local_addr.h"
#include "host/route.h"
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

/* @return index in interfaces[]; -1: by no port */
static int port_towards(uint8_t af, const struct cygnet_addr *remote)
{
	struct next_hop hop = route_lookup(af, remote);

	return hop.kind == ROUTE_FORWARD ? hop.interface : -1;
}

/* Looked up once a second, not for each SA of a scan. @return NULL: there is none, or it leads to no port */
static const struct interface *default_route(void)
{
	static const struct interface *leads_to;
	static uint64_t looked_up;
	const struct cygnet_addr any = {0};
	int port;

	if (looked_up == clock_seconds())
		return leads_to;
	looked_up = clock_seconds();
	port = port_towards(AF_INET, &any);
	if (port < 0)
		port = port_towards(AF_INET6, &any);
	leads_to = port < 0 ? NULL : &interfaces[port];
	return leads_to;
}

void tunnel_end_note(uint8_t af, const struct cygnet_addr *local, const struct cygnet_addr *remote)
{
	int port = -1;

	/* A peer may choose which address of this host its tunnel ends at, but not by which port it is reached. */
	if (!cygnet_addr_is_zero(remote))
		port = port_towards(af, remote);
	if (port < 0 && !cygnet_addr_is_zero(local))
		port = port_with(af, local);
	if (port >= 0 && interfaces[port].kind != INTERFACE_TUNNEL)
		side_end_tunnel(&interfaces[port], default_route());
}
