/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <net/if.h>
#include <linux/if.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "base/changes.h"
#include "base/log.h"
#include "host/interface.h"
#include "host/macvlan.h"
#include "host/netlink_attr.h"
#include "host/netlink_kind.h"
#include "host/wire.h"

/* Apply a new MTU of the TAP. If the device does not allow it, the TAP gets the old one back: with
 * two MTUs, packets of a size between them would be lost. */
static void follow_mtu(struct interface *interface, uint32_t mtu)
{
	int err;

	if (!mtu || mtu == interface->mtu)
		return;
	err = interface_set_mtu(interface, mtu);
	if (err) {
		log_port(RTE_LOG_WARNING, interface->name,
			 "its device cannot have MTU %u, %s goes back to %u: %s", mtu,
			 interface->tap.name, interface->mtu, strerror(-err));
		tap_set_mtu(&interface->tap, interface->mtu);
		return;
	}
	log_port(RTE_LOG_INFO, interface->name, "MTU %u, as %s has it", mtu, interface->tap.name);
}

static bool is_macvlan(const struct nlattr *info)
{
	const struct nlattr *table[IFLA_INFO_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, IFLA_INFO_MAX};

	if (!info)
		return false;
	netlink_parse_block(mnl_attr_get_payload(info), mnl_attr_get_payload_len(info), &attrs);
	return netlink_payload(table[IFLA_INFO_KIND], sizeof("macvlan")) &&
	       !memcmp(mnl_attr_get_payload(table[IFLA_INFO_KIND]), "macvlan", sizeof("macvlan"));
}

/* The port on whose TAP a kernel interface is a macvlan that receives: up, with carrier (FRR takes it away in
 * a backup router by protodown), and in no bridge or VRF. In another network namespace, the index of the
 * interface below is that namespace's.
 * @return index in interfaces[]; -1: none */
static int port_of(const struct nlmsghdr *nlh, const struct ifinfomsg *ifi,
		   const struct nlattr **table)
{
	if (nlh->nlmsg_type != RTM_NEWLINK || !(ifi->ifi_flags & IFF_UP) ||
	    !(ifi->ifi_flags & IFF_LOWER_UP) || table[IFLA_LINK_NETNSID] || table[IFLA_MASTER] ||
	    !is_macvlan(table[IFLA_LINKINFO]))
		return -1;
	return interface_by_ifindex(netlink_get_u32(table[IFLA_LINK], 0));
}

/* The kernel removes the routes of an interface that goes without a message. */
static void follow_other(const struct nlmsghdr *nlh, const struct ifinfomsg *ifi,
			 const struct nlattr **table)
{
	const struct rte_ether_addr *mac = netlink_payload(table[IFLA_ADDRESS], sizeof(*mac));
	int port = port_of(nlh, ifi, table);
	bool changed;

	/* Only such messages describe all of a link. */
	if (ifi->ifi_family != AF_UNSPEC)
		return;
	if (port >= 0 && mac)
		changed = macvlan_set((unsigned int)port, (uint32_t)ifi->ifi_index, mac);
	else
		changed = macvlan_forget((uint32_t)ifi->ifi_index);
	if (changed)
		netlink_resync();
}

static void follow_wire(const struct nlmsghdr *nlh, const struct ifinfomsg *ifi,
			const struct nlattr *name)
{
	if (nlh->nlmsg_type == RTM_NEWLINK && name &&
	    mnl_attr_validate(name, MNL_TYPE_NUL_STRING) == 0)
		wire_seen(mnl_attr_get_str(name), (uint32_t)ifi->ifi_index);
}

void netlink_on_link(const struct nlmsghdr *nlh)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[IFLA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, IFLA_MAX};
	struct interface *interface;
	bool up, carrier;
	int index;

	if (!netlink_has_body(nlh, sizeof(*ifi)))
		return;
	netlink_parse(nlh, sizeof(*ifi), &attrs);
	index = interface_by_ifindex((uint32_t)ifi->ifi_index);
	if (index < 0) {
		follow_wire(nlh, ifi, table[IFLA_IFNAME]);
		follow_other(nlh, ifi, table);
		return;
	}
	interface = &interfaces[index];
	up = nlh->nlmsg_type == RTM_NEWLINK && (ifi->ifi_flags & IFF_UP);
	carrier = nlh->nlmsg_type == RTM_NEWLINK && (ifi->ifi_flags & IFF_LOWER_UP);
	/* By ignore_routes_with_linkdown next hops go with the carrier, of which no message tells. */
	if (carrier != interface->carrier)
		netlink_resync();
	interface->carrier = carrier;
	if (up != interface->up) {
		netlink_resync();
		__atomic_store_n(&interface->up, up, __ATOMIC_RELAXED);
		/* Nothing comes in by a tunnel that is down, of known flows either. */
		changes_note();
	}
	if (nlh->nlmsg_type != RTM_NEWLINK)
		return;
	follow_mtu(interface, netlink_get_u32(table[IFLA_MTU], 0));
	interface_follow_mac(interface,
			     netlink_payload(table[IFLA_ADDRESS], sizeof(struct rte_ether_addr)));
}

void netlink_on_netconf(const struct nlmsghdr *nlh)
{
	const struct netconfmsg *ncm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[NETCONFA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, NETCONFA_MAX};
	uint32_t ifindex;
	bool forwards;
	int interface;

	if (!netlink_has_body(nlh, sizeof(*ncm)) || !netlink_known_family(ncm->ncm_family))
		return;
	netlink_parse(nlh, sizeof(*ncm), &attrs);
	if (!table[NETCONFA_FORWARDING])
		return;
	ifindex = netlink_get_u32(table[NETCONFA_IFINDEX], 0);
	forwards = netlink_get_u32(table[NETCONFA_FORWARDING], 0) != 0;
	interface = interface_by_ifindex(ifindex);
	if (ncm->ncm_family == AF_INET && interface >= 0)
		__atomic_store_n(&interfaces[interface].forwards, forwards, __ATOMIC_RELAXED);
	else if (ncm->ncm_family == AF_INET6 && (int32_t)ifindex == NETCONFA_IFINDEX_ALL)
		__atomic_store_n(&interfaces_forward6, forwards, __ATOMIC_RELAXED);
	changes_note();
}
