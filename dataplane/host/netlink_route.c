/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "base/random.h"
#include "host/hop_group.h"
#include "host/macvlan.h"
#include "host/netlink_attr.h"
#include "host/netlink_kind.h"
#include "host/nexthop.h"
#include "host/route.h"

#define MTU_LEAST_IPV4 68u   /* RFC 791, 3.2 */
#define MTU_LEAST_IPV6 1280u /* RFC 8200, 5 */

/* An encapsulation, and a gateway of a family other than IPv6, are left to the kernel. */
static bool is_plain(uint8_t af, const struct nlattr **table, bool *via6,
		     struct cygnet_addr *gateway)
{
	const struct rtvia *via = netlink_payload(table[RTA_VIA],
						  sizeof(*via) + sizeof(gateway->bytes));

	*via6 = table[RTA_VIA] != NULL;
	if (!table[RTA_VIA])
		*gateway = netlink_get_addr(table[RTA_GATEWAY], af);
	else if (via && via->rtvia_family == AF_INET6)
		memcpy(gateway, via->rtvia_addr, sizeof(*gateway));
	else
		return false;
	return !table[RTA_ENCAP];
}

/* Continue a hash, which is not keyed: that of a route begins with 0. The administrator, from whom
 * routes come, has nothing to gain from two routes of one id. */
static uint64_t hash_more(uint64_t hash, const void *bytes, size_t len)
{
	const struct random_key hash_so_far = {.word = {hash}};

	return random_hash(&hash_so_far, bytes, len);
}

/* Several next hops, without their flags and weights: a route whose weights change is the same. */
static uint64_t add_hops(uint64_t hash, const struct nlattr *attr)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(attr);
	int left = mnl_attr_get_payload_len(attr);

	while (left >= (int)sizeof(*hop) && RTNH_OK(hop, left)) {
		hash = hash_more(hash, &hop->rtnh_ifindex, sizeof(hop->rtnh_ifindex));
		hash = hash_more(hash, RTNH_DATA(hop), hop->rtnh_len - RTNH_LENGTH(0));
		left -= (int)NLMSG_ALIGN(hop->rtnh_len);
		hop = RTNH_NEXT(hop);
	}
	return hash;
}

/* What tells routes of a prefix, table, metric and TOS apart: in IPv4 all that they consist of. In IPv6 set_hop()
 * adds the next hop, as the kernel deletes each next hop by itself. That of an object may change. */
static uint64_t id_of(const struct rtmsg *rtm, const struct nlattr **table)
{
	static const uint16_t parts[] = {RTA_OIF,     RTA_GATEWAY, RTA_VIA,
					 RTA_METRICS, RTA_PREFSRC, RTA_ENCAP};
	uint64_t hash = hash_more(0, &rtm->rtm_type, sizeof(rtm->rtm_type));
	uint32_t object = netlink_get_u32(table[RTA_NH_ID], 0);

	hash = hash_more(hash, &object, sizeof(object));
	if (rtm->rtm_family == AF_INET6)
		return hash;
	hash = hash_more(hash, &rtm->rtm_scope, sizeof(rtm->rtm_scope));
	hash = hash_more(hash, &rtm->rtm_protocol, sizeof(rtm->rtm_protocol));
	for (unsigned int i = 0; i < RTE_DIM(parts); i++)
		if (table[parts[i]] &&
		    (!object || parts[i] == RTA_METRICS || parts[i] == RTA_PREFSRC))
			hash = hash_more(hash_more(hash, &parts[i], sizeof(parts[i])),
					 mnl_attr_get_payload(table[parts[i]]),
					 mnl_attr_get_payload_len(table[parts[i]]));
	return table[RTA_MULTIPATH] && !object ? add_hops(hash, table[RTA_MULTIPATH]) : hash;
}

static uint8_t kind_through(int interface)
{
	return interfaces[interface].kind == INTERFACE_TUNNEL ? ROUTE_TUNNEL : ROUTE_FORWARD;
}

/* What all next hops of a message have in common. */
struct common {
	uint64_t id;  /* id_of() the route */
	uint16_t mtu; /* of the route itself, bytes; 0: none */
	bool joins;   /* IPv6: with other routes by a gateway it is one route */
};

static void set_hop(struct route *route, const struct common *common, uint32_t ifindex,
		    const struct nlattr **table)
{
	struct macvlan_link link = macvlan_find(ifindex);
	struct cygnet_addr gateway = {0};
	bool via6, plain = is_plain(route->af, table, &via6, &gateway);

	route->sibling = common->joins && !cygnet_addr_is_zero(&gateway);
	route->id = common->id;
	if (route->af == AF_INET6)
		route->id = hash_more(hash_more(common->id, &ifindex, sizeof(ifindex)), &gateway,
				      sizeof(gateway));
	route->hop = (struct next_hop){.kind = ROUTE_KERNEL};
	if (link.interface >= 0 && plain)
		route->hop = (struct next_hop){.kind = kind_through(link.interface),
					       .interface = (uint8_t)link.interface,
					       .macvlan = link.macvlan,
					       .via6 = via6,
					       .no_neighbour = route->table == ROUTE_TABLE_CHARON &&
							       cygnet_addr_is_zero(&gateway),
					       .mtu = common->mtu,
					       .gateway = gateway};
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
	netlink_parse_block(mnl_attr_get_payload(metrics), mnl_attr_get_payload_len(metrics),
			    &attrs);
	mtu = netlink_get_u32(table[RTAX_MTU], 0);
	if (mtu > UINT16_MAX)
		return UINT16_MAX;
	return (uint16_t)(mtu && mtu < least ? least : mtu);
}

/* Routes of router advertisements stay apart in the kernel, which chooses the router by preference and reachability. */
static struct common common_of(const struct rtmsg *rtm, const struct nlattr **table)
{
	return (struct common){
		.id = id_of(rtm, table),
		.mtu = mtu_of(rtm->rtm_family, table[RTA_METRICS]),
		.joins = rtm->rtm_family == AF_INET6 && !table[RTA_NH_ID] &&
			 rtm->rtm_protocol != RTPROT_RA,
	};
}

/* The next hops of a message that are left. */
struct multipath {
	const struct rtnexthop *next;
	int left; /* bytes */
};

static struct multipath multipath_of(const struct nlattr **table)
{
	return (struct multipath){
		.next = mnl_attr_get_payload(table[RTA_MULTIPATH]),
		.left = mnl_attr_get_payload_len(table[RTA_MULTIPATH]),
	};
}

/* Make a route one by the next one of several next hops. @return false: there is none */
static bool next_of(struct multipath *multipath, const struct common *common, struct route *route)
{
	const struct nlattr *table[RTA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, RTA_MAX};
	const struct rtnexthop *rtnh = multipath->next;

	if (multipath->left < (int)sizeof(*rtnh) || !RTNH_OK(rtnh, multipath->left))
		return false;
	netlink_parse_block(RTNH_DATA(rtnh), rtnh->rtnh_len - RTNH_LENGTH(0), &attrs);
	set_hop(route, common, (uint32_t)rtnh->rtnh_ifindex, table);
	route->weight = (uint16_t)(rtnh->rtnh_hops + 1);
	if (rtnh->rtnh_flags & RTNH_F_DEAD)
		route->hop = (struct next_hop){.kind = ROUTE_NONE};
	multipath->left -= (int)NLMSG_ALIGN(rtnh->rtnh_len);
	multipath->next = RTNH_NEXT(rtnh);
	return true;
}

/* Of several next hops, use those through interfaces of Cygnet; without any of these, leave the packets to the kernel. */
static void set_multipath(struct route *route, const struct common *common,
			  const struct nlattr **table)
{
	struct multipath multipath = multipath_of(table);
	struct hop_share share[HOP_GROUP_MEMBERS];
	struct route one = *route;
	unsigned int n = 0;

	while (n < RTE_DIM(share) && next_of(&multipath, common, &one)) {
		if (next_hop_is_ours(&one.hop))
			share[n++] = (struct hop_share){one.hop, one.weight};
		else if (one.hop.kind != ROUTE_NONE)
			route->hop = one.hop;
	}
	if (n)
		route->hop = hop_group_take(share, n);
}

/* Of several next hops, the group has a reference more.
 * @return false: the route is not mirrored */
static bool parse_hop(const struct rtmsg *rtm, const struct common *common,
		      const struct nlattr **table, struct route *route)
{
	struct next_hop *hop = &route->hop;

	switch (rtm->rtm_type) {
	case RTN_UNICAST:
		if (table[RTA_MULTIPATH])
			set_multipath(route, common, table);
		else
			set_hop(route, common, netlink_get_u32(table[RTA_OIF], 0), table);
		if (rtm->rtm_flags & RTNH_F_DEAD)
			hop->kind = ROUTE_NONE;
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

static void clear_host_bits(struct route *route)
{
	for (unsigned int i = route->bits / 8; i < sizeof(route->dst); i++)
		route->dst.bytes[i] &= i == route->bits / 8 ? (uint8_t)(0xff00 >> route->bits % 8)
							    : 0;
}

/* Of a route that is not there, while others of its prefix, table, metric and TOS are, it is not known which one
 * the kernel has deleted. Where there are none, a dump has told of the deletion before. */
static void remove_route(const struct route *route)
{
	if (route_delete(route) == -ENOENT && route_equals(route))
		netlink_resync();
}

static void apply(const struct nlmsghdr *nlh, const struct route *route, enum route_place place)
{
	if (nlh->nlmsg_type == RTM_DELROUTE)
		remove_route(route);
	else if ((route->throws || route->hop.kind != ROUTE_NONE) &&
		 route_add(route, place) == -ENOMEM)
		netlink_resync(); /* the kernel will not tell of it again */
	/* A notification, unlike a dump, does not tell the order of routes with the same prefix, table, metric and
	 * TOS, and the kernel uses the first one. */
	if (route->af == AF_INET && !(nlh->nlmsg_flags & NLM_F_MULTI) && route_equals(route) > 1)
		netlink_resync();
}

/* IPv6 routes that differ in their gateways are one route with several next hops to the kernel when it tells of
 * them, and several routes when it deletes one. */
static void apply_each(const struct nlmsghdr *nlh, struct route *route, const struct common *common,
		       const struct nlattr **table, enum route_place place)
{
	struct multipath multipath = multipath_of(table);

	while (next_of(&multipath, common, route)) {
		apply(nlh, route, place);
		if (route->hop.kind != ROUTE_NONE)
			place = ROUTE_APPEND;
	}
}

/* Notifications have the flags of the request that added an IPv4 route; parts of a dump do not. */
static enum route_place place_of(const struct nlmsghdr *nlh, uint8_t af)
{
	if (nlh->nlmsg_flags & NLM_F_REPLACE)
		return ROUTE_REPLACE;
	return af == AF_INET && nlh->nlmsg_flags & NLM_F_CREATE &&
			       !(nlh->nlmsg_flags & NLM_F_APPEND)
		       ? ROUTE_PREPEND
		       : ROUTE_APPEND;
}

void netlink_on_route(const struct nlmsghdr *nlh)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[RTA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, RTA_MAX};
	struct route route = {0};
	struct common common;

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
	route.nexthop = netlink_get_u32(table[RTA_NH_ID], 0);
	common = common_of(rtm, table);
	route.id = common.id;
	if (!routes_have_table(route.af, route.table))
		return;
	clear_host_bits(&route);
	if (route.af == AF_INET6 && rtm->rtm_type == RTN_UNICAST && table[RTA_MULTIPATH]) {
		apply_each(nlh, &route, &common, table, place_of(nlh, route.af));
	} else if (parse_hop(rtm, &common, table, &route)) {
		apply(nlh, &route, place_of(nlh, route.af));
		hop_group_put(route.hop.group);
	}
}

void netlink_on_nexthop(const struct nlmsghdr *nlh)
{
	const struct nlattr *table[NHA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, NHA_MAX};

	if (!netlink_has_body(nlh, sizeof(struct nhmsg)))
		return;
	netlink_parse(nlh, sizeof(struct nhmsg), &attrs);
	if (nexthop_is_used(netlink_get_u32(table[NHA_ID], 0)) || nexthops_left_out())
		netlink_resync();
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

	route_add(&route, ROUTE_APPEND);
	route.dst.v4 = UINT32_MAX;
	route.bits = 32;
	route_add(&route, ROUTE_APPEND);
	route6.dst.bytes[0] = 0xff;
	route6.bits = 8;
	route_add(&route6, ROUTE_APPEND);
	memcpy(route6.dst.bytes, "\xfe\x80", 2);
	route6.bits = 10;
	route_add(&route6, ROUTE_APPEND);
}
