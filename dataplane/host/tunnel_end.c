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

/* An address is reached by each of several next hops.
 * @return how many ports lead to it, of which port[] has the first */
static unsigned int ports_towards(uint8_t af, const struct cygnet_addr *remote,
				  uint8_t port[HOP_GROUP_MEMBERS])
{
	const struct next_hop hop = route_lookup(af, remote);
	const struct hop_share *share;
	struct hop_share alone;
	unsigned int members = hop_group_members(&hop, &alone, &share), n = 0;

	for (unsigned int i = 0; i < members; i++)
		if (share[i].hop.kind == ROUTE_FORWARD)
			port[n++] = share[i].hop.interface;
	return n;
}

/* Looked up once a second, not for each SA of a scan. @return NULL: there is none, or it leads to no port */
static const struct interface *default_route(void)
{
	static const struct interface *leads_to;
	static uint64_t looked_up;
	const struct cygnet_addr any = {0};
	uint8_t port[HOP_GROUP_MEMBERS];

	if (looked_up == clock_seconds())
		return leads_to;
	looked_up = clock_seconds();
	leads_to = ports_towards(AF_INET, &any, port) || ports_towards(AF_INET6, &any, port)
			   ? &interfaces[port[0]]
			   : NULL;
	return leads_to;
}

static void end_at(unsigned int port)
{
	if (interfaces[port].kind != INTERFACE_TUNNEL)
		side_end_tunnel(&interfaces[port], default_route());
}

void tunnel_end_note(uint8_t af, const struct cygnet_addr *local, const struct cygnet_addr *remote)
{
	uint8_t port[HOP_GROUP_MEMBERS];
	unsigned int n = 0;
	int with;

	/* A peer may choose which address of this host its tunnel ends at, but not by which port it is reached. */
	if (!cygnet_addr_is_zero(remote))
		n = ports_towards(af, remote, port);
	for (unsigned int i = 0; i < n; i++)
		end_at(port[i]);
	with = n || cygnet_addr_is_zero(local) ? -1 : port_with(af, local);
	if (with >= 0)
		end_at((unsigned int)with);
}
