/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "host/macvlan.h"
#include "host/netlink_attr.h"
#include "host/netlink_kind.h"
#include "host/route.h"

#define MTU_LEAST_IPV4 68u	/* RFC 791, 3.2 */
#define MTU_LEAST_IPV6 1280u	/* RFC 8200, 5 */

/* Routes with a gateway of another family or with an encapsulation are left to the kernel. */
static void set_hop(struct next_hop *hop, uint8_t af, uint32_t ifindex, const struct nlattr **table)
{
	struct macvlan_link link = macvlan_find(ifindex);

	*hop = (struct next_hop){.kind = ROUTE_KERNEL};
	if (link.interface >= 0 && !table[RTA_VIA] && !table[RTA_ENCAP])
		*hop = (struct next_hop){.kind = ROUTE_FORWARD,
					 .interface = (uint8_t)link.interface,
					 .macvlan = link.macvlan,
					 .gateway = netlink_get_addr(table[RTA_GATEWAY], af)};
}

/* Of several next hops, use the first one through an interface of Cygnet. */
static void set_multipath(struct next_hop *hop, uint8_t af, const struct nlattr *attr)
{
	const struct rtnexthop *rtnh = mnl_attr_get_payload(attr);
	int left = mnl_attr_get_payload_len(attr);

	for (; left >= (int)sizeof(*rtnh) && RTNH_OK(rtnh, left) && hop->kind != ROUTE_FORWARD;
	     left -= (int)NLMSG_ALIGN(rtnh->rtnh_len), rtnh = RTNH_NEXT(rtnh)) {
		const struct nlattr *table[RTA_MAX + 1] = {0};
		struct netlink_attrs attrs = {table, RTA_MAX};

		netlink_parse_block(RTNH_DATA(rtnh), rtnh->rtnh_len - RTNH_LENGTH(0), &attrs);
		if (!(rtnh->rtnh_flags & RTNH_F_DEAD))
			set_hop(hop, af, (uint32_t)rtnh->rtnh_ifindex, table);
	}
}

/* The MTU of a route, locked or not: whatever path MTU is learned, packets are not longer. As in the kernel, no
 * IPv6 packet has to be shorter than every link allows.
 * @return 0: none */
static uint16_t mtu_of(uint8_t af, const struct nlattr *metrics)
{
	const struct nlattr *table[RTAX_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, RTAX_MAX};
	uint32_t mtu, least = af == AF_INET6 ? MTU_LEAST_IPV6 : MTU_LEAST_IPV4;

	if (!metrics)
		return 0;
	netlink_parse_block(mnl_attr_get_payload(metrics), mnl_attr_get_payload_len(metrics), &attrs);
	mtu = netlink_get_u32(table[RTAX_MTU], 0);
	if (mtu > UINT16_MAX)
		return UINT16_MAX;
	return (uint16_t)(mtu && mtu < least ? least : mtu);
}

/* @return false: the route is not mirrored */
static bool parse_hop(const struct rtmsg *rtm, const struct nlattr **table, struct route *route)
{
	struct next_hop *hop = &route->hop;

	switch (rtm->rtm_type) {
	case RTN_UNICAST:
		if (table[RTA_MULTIPATH])
			set_multipath(hop, rtm->rtm_family, table[RTA_MULTIPATH]);
		else if (!(rtm->rtm_flags & RTNH_F_DEAD))
			set_hop(hop, rtm->rtm_family, netlink_get_u32(table[RTA_OIF], 0), table);
		return true;
	case RTN_LOCAL:
	case RTN_BROADCAST:
	case RTN_MULTICAST:
	case RTN_ANYCAST:
		hop->kind = ROUTE_LOCAL;
		return true;
	case RTN_BLACKHOLE:
	case RTN_UNREACHABLE:
	case RTN_PROHIBIT:
		hop->kind = ROUTE_BLACKHOLE;
		return true;
	case RTN_THROW:
		route->throws = true;
		return true;
	default:
		return false;
	}
}

static bool known_table(uint32_t table)
{
	return table == RT_TABLE_LOCAL || table == RT_TABLE_MAIN || table == RT_TABLE_DEFAULT ||
	       table == ROUTE_TABLE_CHARON;
}

static void clear_host_bits(struct route *route)
{
	for (unsigned int i = route->bits / 8; i < sizeof(route->dst); i++)
		route->dst.bytes[i] &= i == route->bits / 8 ? (uint8_t)(0xff00 >> route->bits % 8) : 0;
}

void netlink_on_route(const struct nlmsghdr *nlh)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[RTA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, RTA_MAX};
	struct route route = {0};

	if (!netlink_has_body(nlh, sizeof(*rtm)) || !netlink_known_family(rtm->rtm_family) ||
	    rtm->rtm_dst_len > netlink_addr_size(rtm->rtm_family) * 8 || rtm->rtm_src_len ||
	    (rtm->rtm_flags & RTM_F_CLONED))
		return;
	netlink_parse(nlh, sizeof(*rtm), &attrs);
	route.af = rtm->rtm_family;
	route.dst = netlink_get_addr(table[RTA_DST], route.af);
	route.bits = rtm->rtm_dst_len;
	route.tos = rtm->rtm_tos;
	route.table = netlink_get_u32(table[RTA_TABLE], rtm->rtm_table);
	route.metric = netlink_get_u32(table[RTA_PRIORITY], 0);
	if (!known_table(route.table) || !parse_hop(rtm, table, &route))
		return;
	clear_host_bits(&route);
	if (route.hop.kind == ROUTE_FORWARD)
		route.hop.mtu = mtu_of(route.af, table[RTA_METRICS]);
	route.hop.no_neighbour = route.table == ROUTE_TABLE_CHARON &&
				 route.hop.kind == ROUTE_FORWARD &&
				 cygnet_addr_is_zero(&route.hop.gateway);
	if (nlh->nlmsg_type == RTM_DELROUTE)
		route_delete(&route);
	else if (route.throws || route.hop.kind != ROUTE_NONE)
		route_add(&route, nlh->nlmsg_flags & NLM_F_REPLACE);
}

void netlink_add_multicast(void)
{
	struct route route6 = {
		.af = AF_INET6,
		.table = RT_TABLE_LOCAL,
		.hop = {.kind = ROUTE_LOCAL},
	};
	struct route route = {
		.dst = cygnet_addr4(htonl(0xe0000000)),
		.af = AF_INET,
		.bits = 4,
		.table = RT_TABLE_LOCAL,
		.hop = {.kind = ROUTE_LOCAL},
	};

	route_add(&route, false);
	route.dst.v4 = UINT32_MAX;
	route.bits = 32;
	route_add(&route, false);
	route6.dst.bytes[0] = 0xff;
	route6.bits = 8;
	route_add(&route6, false);
	memcpy(route6.dst.bytes, "\xfe\x80", 2);
	route6.bits = 10;
	route_add(&route6, false);
}
