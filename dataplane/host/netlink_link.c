/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/changes.h"
#include "base/log.h"
#include "host/mtu.h"
#include "host/netlink_attr.h"
#include "host/netlink_kind.h"
#include "host/port.h"

/* A TAP with another MTU than its port would lose the packets in between, so
 * one that the device cannot have is taken back. */
static void follow_mtu(struct port *port, uint32_t mtu)
{
	int err;

	if (!mtu || mtu == port->mtu)
		return;
	err = mtu_set(port, mtu);
	if (err) {
		log_warn("port %s: its device cannot have MTU %u, %s goes back to %u: %s",
			 port->name, mtu, port->tap_name, port->mtu, strerror(-err));
		mtu_set_tap(port);
		return;
	}
	log_info("port %s: MTU %u, as %s has it", port->name, mtu, port->tap_name);
	__atomic_store_n(&port->mtu, (uint16_t)mtu, __ATOMIC_RELAXED);
	changes_note();
}

/* Somebody gave the TAP another MAC address: packets to it have to get in. */
static void follow_mac(struct port *port, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr wanted, now = port_mac(port);
	int err;

	if (!mac || rte_is_same_ether_addr(mac, &now))
		return;
	wanted = *mac;
	err = rte_eth_dev_default_mac_addr_set(port->id, &wanted);
	if (err)
		log_warn("port %s: its device cannot have the MAC address of %s: %s", port->name,
			 port->tap_name, strerror(-err));
	else
		port_set_mac(port, &wanted);
}

void netlink_on_link(const struct nlmsghdr *nlh)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[IFLA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, IFLA_MAX};
	struct port *port;
	bool up;
	int index;

	if (!netlink_has_body(nlh, sizeof(*ifi)))
		return;
	index = port_by_ifindex((uint32_t)ifi->ifi_index);
	if (index < 0)
		return;
	port = &ports[index];
	up = nlh->nlmsg_type == RTM_NEWLINK && (ifi->ifi_flags & IFF_UP);
	if (up != port->up)
		netlink_resync();
	__atomic_store_n(&port->up, up, __ATOMIC_RELAXED);
	netlink_parse(nlh, sizeof(*ifi), &attrs);
	if (nlh->nlmsg_type != RTM_NEWLINK)
		return;
	follow_mtu(port, netlink_get_u32(table[IFLA_MTU], 0));
	follow_mac(port, netlink_payload(table[IFLA_ADDRESS], sizeof(struct rte_ether_addr)));
}

void netlink_on_netconf(const struct nlmsghdr *nlh)
{
	const struct netconfmsg *ncm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[NETCONFA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, NETCONFA_MAX};
	uint32_t ifindex;
	bool forwards;
	int port;

	if (!netlink_has_body(nlh, sizeof(*ncm)) || !netlink_known_family(ncm->ncm_family))
		return;
	netlink_parse(nlh, sizeof(*ncm), &attrs);
	if (!table[NETCONFA_FORWARDING])
		return;
	ifindex = netlink_get_u32(table[NETCONFA_IFINDEX], 0);
	forwards = netlink_get_u32(table[NETCONFA_FORWARDING], 0) != 0;
	port = port_by_ifindex(ifindex);
	if (ncm->ncm_family == AF_INET && port >= 0)
		__atomic_store_n(&ports[port].forwards, forwards, __ATOMIC_RELAXED);
	else if (ncm->ncm_family == AF_INET6 && (int32_t)ifindex == NETCONFA_IFINDEX_ALL)
		__atomic_store_n(&ports_forward6, forwards, __ATOMIC_RELAXED);
	changes_note();
}
