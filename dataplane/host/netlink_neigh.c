/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "host/macvlan.h"
#include "host/neigh.h"
#include "host/netlink_attr.h"
#include "host/netlink_kind.h"

void netlink_on_neigh(const struct nlmsghdr *nlh)
{
	const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[NDA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, NDA_MAX};
	const struct rte_ether_addr *mac;
	struct neigh neigh;
	struct macvlan_link link;

	if (!netlink_has_body(nlh, sizeof(*ndm)) || !netlink_known_family(ndm->ndm_family))
		return;
	link = macvlan_find((uint32_t)ndm->ndm_ifindex);
	netlink_parse(nlh, sizeof(*ndm), &attrs);
	neigh = (struct neigh){
		.addr = netlink_get_addr(table[NDA_DST], ndm->ndm_family),
		.af = ndm->ndm_family,
		.interface = (uint8_t)link.interface,
		.macvlan = link.macvlan,
	};
	mac = netlink_payload(table[NDA_LLADDR], sizeof(*mac));
	if (link.interface < 0 || cygnet_addr_is_zero(&neigh.addr))
		return;
	if (nlh->nlmsg_type == RTM_NEWNEIGH && mac &&
	    (ndm->ndm_state &
	     (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP)))
		neigh_set(&neigh, mac, ndm->ndm_state & NUD_STALE);
	else
		neigh_forget(&neigh);
}
