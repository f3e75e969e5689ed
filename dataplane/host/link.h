/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file link.h
 * The link-layer header in front of IP packets on an interface: where it ends in a received frame, and what it is on the
 * way to a next hop. Only these functions know its form. Lcores.
 */
#ifndef CYGNETD_LINK_H
#define CYGNETD_LINK_H

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "host/interface.h"
#include "host/link_header.h"
#include "host/macvlan.h"

/** Bytes of the link-layer header in front of an IP packet on an interface. The EtherType is its end. */
static inline unsigned int link_header_len(unsigned int interface)
{
	static const uint8_t of_kind[] = {
		[INTERFACE_PORT] = sizeof(struct rte_ether_hdr),
	};

	return of_kind[interfaces[interface].kind];
}

/** Which interface frames of a burst come in by.
 * @param interface  receives the index in interfaces[] of the first frame's
 * @return how many frames, from the first one on, come in by that interface */
static inline unsigned int link_find(const struct device *device, struct rte_mbuf *const *m,
				     unsigned int n, unsigned int *interface)
{
	(void)m;
	*interface = device->interface;
	return n;
}

/** Write the link-layer header of a packet to a neighbour.
 * @param header   where its link_header_len() bytes begin
 * @param macvlan  whose MAC address is the source
 * @param v6       whether the packet is IPv6 */
static inline void link_header_write(void *header, unsigned int interface, unsigned int macvlan,
				     const struct rte_ether_addr *to, bool v6)
{
	struct rte_ether_hdr *eth = header;

	eth->dst_addr = *to;
	eth->src_addr = macvlan_source(interface, macvlan);
	eth->ether_type = v6 ? rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6)
			     : rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
}

/** Make the link-layer header of all packets to a neighbour: link_header_write(). */
static inline void link_header_make(struct link_header *header, unsigned int interface,
				    unsigned int macvlan, const struct rte_ether_addr *to, bool v6)
{
	header->len = (uint8_t)link_header_len(interface);
	link_header_write(header->bytes, interface, macvlan, to, v6);
}

#endif
