/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "host/interface.h"
#include "host/local_addr.h"
#include "host/macvlan.h"
#include "host/netlink_attr.h"
#include "host/netlink_kind.h"

/* Whether an address is suitable as the source of ICMP errors: of global scope and permanent. */
static bool is_for_errors(const struct ifaddrmsg *ifa, uint32_t flags)
{
	if (ifa->ifa_family == AF_INET)
		return ifa->ifa_scope < RT_SCOPE_LINK;
	return ifa->ifa_scope == RT_SCOPE_UNIVERSE &&
	       !(flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED | IFA_F_TEMPORARY));
}

/* The prefix length is that of the other end on a point-to-point interface, which attaches to no network. */
static uint8_t network_bits(const struct ifaddrmsg *ifa, const struct nlattr *const *table)
{
	struct cygnet_addr local = netlink_get_addr(table[IFA_LOCAL], ifa->ifa_family);
	struct cygnet_addr address = netlink_get_addr(table[IFA_ADDRESS], ifa->ifa_family);
	uint8_t most = ifa->ifa_family == AF_INET6 ? 128 : 32;

	if (ifa->ifa_prefixlen > most ||
	    (table[IFA_LOCAL] && memcmp(&local, &address, sizeof(local))))
		return most;
	return ifa->ifa_prefixlen;
}

void netlink_on_addr(const struct nlmsghdr *nlh)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[IFA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, IFA_MAX};
	struct local_addr local;
	int interface;

	if (!netlink_has_body(nlh, sizeof(*ifa)) || !netlink_known_family(ifa->ifa_family))
		return;
	netlink_parse(nlh, sizeof(*ifa), &attrs);
	interface = macvlan_find(ifa->ifa_index).interface;
	local = (struct local_addr){
		.addr = netlink_get_addr(table[IFA_LOCAL], ifa->ifa_family),
		.af = ifa->ifa_family,
		.interface = interface < 0 ? LOCAL_ADDR_NO_INTERFACE : (uint8_t)interface,
		.bits = network_bits(ifa, table),
	};
	if (cygnet_addr_is_zero(&local.addr))
		local.addr = netlink_get_addr(table[IFA_ADDRESS], ifa->ifa_family);
	if (cygnet_addr_is_zero(&local.addr))
		return;
	if (is_for_errors(ifa, netlink_get_u32(table[IFA_FLAGS], ifa->ifa_flags)))
		local_addr_add(&local);
	else
		local_addr_forget(&local);
}
