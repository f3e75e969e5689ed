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
	return (unsigned int)sizeof(struct rte_ether_hdr) + interfaces[interface].tags.len;
}

/** Which interfaces the frames of a burst have come in by. Those of an interface come together, in their order.
 * @return whether all have come in by the same one; otherwise mbuf.port is a frame's
 * @param interface  receives the index in interfaces[] of the first frame's */
static inline bool link_sort(const struct device *device, struct rte_mbuf **m, unsigned int n,
			     unsigned int *interface)
{
	const unsigned int index = (unsigned int)(device - devices);

	*interface = device->interface;
	return likely(!__atomic_load_n(&vlans_on[index], __ATOMIC_ACQUIRE)) ||
	       vlan_sort(index, m, n, interface);
}

/** How many frames of a sorted burst, from the first one on, have come in by the same interface. */
static inline unsigned int link_run(struct rte_mbuf *const *m, unsigned int n)
{
	unsigned int some = 1;

	while (some < n && m[some]->port == m[0]->port)
		some++;
	return some;
}

/** Take the tags of an interface out of a frame that has come in by it: what is left is Ethernet, as the kernel has it. */
static inline void link_untag(struct rte_mbuf *m, unsigned int interface)
{
	const unsigned int len = interfaces[interface].tags.len;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	if (likely(!len))
		return;
	memmove(frame + len, frame, 2 * RTE_ETHER_ADDR_LEN);
	rte_pktmbuf_adj(m, (uint16_t)len);
}

/** The opposite, of a frame that is to leave by an interface. @return false: there is no room */
static inline bool link_tag(struct rte_mbuf *m, unsigned int interface)
{
	const struct vlan_tags *tags = &interfaces[interface].tags;
	uint8_t *frame;

	if (likely(!tags->len))
		return true;
	frame = (uint8_t *)rte_pktmbuf_prepend(m, tags->len);
	if (!frame)
		return false;
	memmove(frame, frame + tags->len, 2 * RTE_ETHER_ADDR_LEN);
	memcpy(frame + 2 * RTE_ETHER_ADDR_LEN, tags->bytes, tags->len);
	return true;
}

/** Write the link-layer header of a packet to a neighbour.
 * @param header   where its link_header_len() bytes begin
 * @param macvlan  whose MAC address is the source
 * @param v6       whether the packet is IPv6 */
static inline void link_header_write(void *header, unsigned int interface, unsigned int macvlan,
				     const struct rte_ether_addr *to, bool v6)
{
	const struct vlan_tags *tags = &interfaces[interface].tags;
	const rte_be16_t type = v6 ? rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6)
				   : rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	struct rte_ether_hdr *eth = header;
	uint8_t *tag = (uint8_t *)header + 2 * RTE_ETHER_ADDR_LEN;

	eth->dst_addr = *to;
	eth->src_addr = macvlan_source(interface, macvlan);
	if (likely(!tags->len)) {
		eth->ether_type = type;
		return;
	}
	memcpy(tag, tags->bytes, tags->len);
	memcpy(tag + tags->len, &type, sizeof(type));
}

/** Make the link-layer header of all packets to a neighbour: link_header_write(). */
static inline void link_header_make(struct link_header *header, unsigned int interface,
				    unsigned int macvlan, const struct rte_ether_addr *to, bool v6)
{
	header->len = (uint8_t)link_header_len(interface);
	link_header_write(header->bytes, interface, macvlan, to, v6);
}

#endif
