/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file next_hop.h
 * Where a packet (data at its IP header) goes next. Lcores that are online.
 */
#ifndef CYGNETD_NEXT_HOP_H
#define CYGNETD_NEXT_HOP_H

#include <netinet/in.h>
#include <sys/socket.h>

#include <rte_byteorder.h>

#include "host/hop_group.h"
#include "host/interface.h"
#include "host/neigh.h"
#include "host/route.h"
#include "ip/packet.h"

/** The next hop to the packet's destination. */
static inline struct next_hop packet_route(struct rte_mbuf *m)
{
	struct next_hop hop = packet_family(m) == AF_INET6
				      ? route_lookup(AF_INET6, ip6_dst(packet_ip6(m)))
				      : route_lookup(AF_INET, &packet_ip(m)->dst_addr);
	struct cygnet_flow flow;

	if (unlikely(hop.group)) {
		packet_flow(m, &flow);
		route_choose(&hop, &flow);
	}
	return hop;
}

/** The next hop of the packets that an SA protects: packet_route() says the same of them. */
static inline struct next_hop sa_next_hop(const struct cygnet_sa *sa)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	struct next_hop hop = route_lookup(path->af, &path->dst);

	if (unlikely(hop.group)) {
		const struct cygnet_flow flow = {
			.src = path->src,
			.dst = path->dst,
			.sport = rte_be_to_cpu_16(path->sport),
			.dport = rte_be_to_cpu_16(path->dport),
			.proto = path->encap ? IPPROTO_UDP : sa->proto,
			.has_ports = path->encap,
		};
		route_choose(&hop, &flow);
	}
	return hop;
}

/** How long a packet may be that leaves by a next hop of ROUTE_FORWARD: what the link and the route allow. */
static inline unsigned int next_hop_mtu(const struct next_hop *hop)
{
	unsigned int link = interfaces[hop->interface].mtu;

	return hop->mtu && hop->mtu < link ? hop->mtu : link;
}

/** How long a packet may be before it is protected, by the route of its own destination, such as one that charon
 * installs (kernel-netlink.mtu), and by the tunnel that it leads to. */
static inline unsigned int packet_route_limit(struct rte_mbuf *m)
{
	const struct interface *tap = &interfaces[packet(m)->interface];
	struct next_hop hop;

	/* Of several tunnels the kernel has chosen one. */
	if (packet(m)->from_kernel && tap->kind == INTERFACE_TUNNEL)
		return tap->mtu;
	hop = packet_route(m);
	if (hop.kind == ROUTE_TUNNEL)
		return next_hop_mtu(&hop);
	return hop.mtu ? hop.mtu : UINT16_MAX;
}

/** The neighbour whose MAC address a frame carries on its way to dst. */
static inline struct neigh next_neigh(const struct next_hop *hop, uint8_t af,
				      const struct cygnet_addr *dst)
{
	return (struct neigh){
		.addr = cygnet_addr_is_zero(&hop->gateway) ? *dst : hop->gateway,
		.af = hop->via6 ? AF_INET6 : af,
		.interface = hop->interface,
		.macvlan = hop->macvlan,
	};
}

/** The same for a packet. */
static inline struct neigh packet_neigh(struct rte_mbuf *m, const struct next_hop *hop)
{
	const struct cygnet_addr dst = packet_dst(m);

	return next_neigh(hop, packet_family(m), &dst);
}

#endif
