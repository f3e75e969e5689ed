/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Netlink messages for routes, rules and neighbours, and malformed ones. */
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>

#include "base/clock.h"
#include "host/netlink.h"
#include "host/netlink_kind.h"
#include "netlink_fixture.h"

/* In place of the C library's, unless a sanitizer has one. */
static bool no_memory;

#ifndef __SANITIZE_ADDRESS__
void *__libc_calloc(size_t n, size_t size);

void *calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __libc_calloc(n, size);
}
#endif

static struct rtmsg *begin_route(uint16_t type, uint16_t flags, const char *dst, uint8_t bits)
{
	struct rtmsg *rtm;

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = flags;
	rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	rtm->rtm_family = AF_INET;
	rtm->rtm_dst_len = bits;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_type = RTN_UNICAST;
	if (bits)
		mnl_attr_put_u32(nlh, RTA_DST, addr(dst));
	return rtm;
}

static void out_of(uint32_t ifindex)
{
	mnl_attr_put_u32(nlh, RTA_OIF, ifindex);
}

static void by_way_of(const char *gateway, uint32_t ifindex)
{
	mnl_attr_put_u32(nlh, RTA_GATEWAY, addr(gateway));
	out_of(ifindex);
}

static void assert_next(const char *dst, enum route_kind kind, unsigned int interface,
			const char *gateway)
{
	uint32_t a = addr(dst);
	struct next_hop hop = route_lookup(AF_INET, &a);

	assert_int_equal(hop.kind, kind);
	if (kind == ROUTE_FORWARD) {
		assert_int_equal(hop.interface, interface);
		assert_int_equal(hop.gateway.v4, gateway ? addr(gateway) : 0);
	}
}

static void unicast(void **state)
{
	(void)state;
	begin_route(RTM_NEWROUTE, 0, NULL, 0);
	by_way_of("192.0.2.2", WAN_IFINDEX);
	deliver();
	begin_route(RTM_NEWROUTE, 0, "198.51.100.0", 24);
	out_of(LAN_IFINDEX);
	deliver();
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8);
	by_way_of("172.16.0.1", OTHER_IFINDEX);
	deliver();
	assert_next("203.0.113.1", ROUTE_FORWARD, 0, "192.0.2.2");
	assert_next("198.51.100.77", ROUTE_FORWARD, 1, NULL);
	assert_next("10.1.2.3", ROUTE_KERNEL, 0, NULL);
	begin_route(RTM_DELROUTE, 0, "198.51.100.0", 24);
	out_of(LAN_IFINDEX);
	deliver();
	assert_next("198.51.100.77", ROUTE_FORWARD, 0, "192.0.2.2");
}

static void nexthop(uint32_t id)
{
	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWNEXTHOP;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct nhmsg));
	mnl_attr_put_u32(nlh, NHA_ID, id);
	deliver();
}

/* Messages after which all is asked for: none of a next hop that no route uses, or of half a message; a route that
 * there is no memory for. This test is the first one: a dump is due until there is one. */
static void dumps(void **state)
{
	(void)state;
	nexthop(9);
	nlh->nlmsg_len = MNL_NLMSG_HDRLEN;
	deliver();
	assert_false(netlink_dump_is_due());
#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	begin_route(RTM_NEWROUTE, 0, "198.51.100.0", 24);
	out_of(WAN_IFINDEX);
	no_memory = true;
	deliver();
	no_memory = false;
	assert_next("198.51.100.1", ROUTE_NONE, 0, NULL);
	assert_true(netlink_dump_is_due());
	deliver();
	assert_next("198.51.100.1", ROUTE_FORWARD, 0, NULL);
}

static void types(void **state)
{
	static const struct {
		uint8_t type;
		enum route_kind kind;
	} cases[] = {
		{RTN_LOCAL, ROUTE_LOCAL},
		{RTN_BROADCAST, ROUTE_LOCAL},
		{RTN_MULTICAST, ROUTE_LOCAL},
		{RTN_ANYCAST, ROUTE_LOCAL},
		{RTN_BLACKHOLE, ROUTE_BLACKHOLE},
		{RTN_UNREACHABLE, ROUTE_BLACKHOLE},
		{RTN_PROHIBIT, ROUTE_BLACKHOLE},
		{RTN_THROW, ROUTE_NONE},
		{RTN_NAT, ROUTE_NONE},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8)->rtm_type = cases[i].type;
		deliver();
		assert_next("10.0.0.1", cases[i].kind, 0, NULL);
		begin_route(RTM_DELROUTE, 0, "10.0.0.0", 8)->rtm_type = cases[i].type;
		deliver();
		assert_next("10.0.0.1", ROUTE_NONE, 0, NULL);
	}
}

static void tables(void **state)
{
	(void)state;
	/* A table number may not fit into the header. Then the attribute has it. */
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8)->rtm_table = RT_TABLE_UNSPEC;
	mnl_attr_put_u32(nlh, RTA_TABLE, 1000);
	out_of(WAN_IFINDEX);
	deliver();
	assert_next("10.0.0.1", ROUTE_NONE, 0, NULL);
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8)->rtm_table = RT_TABLE_UNSPEC;
	mnl_attr_put_u32(nlh, RTA_TABLE, 220);
	by_way_of("192.0.2.9", WAN_IFINDEX);
	deliver();
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8);
	out_of(LAN_IFINDEX);
	deliver();
	assert_next("10.0.0.1", ROUTE_FORWARD, 0, "192.0.2.9");
	begin_route(RTM_NEWROUTE, 0, "10.0.0.1", 32)->rtm_table = RT_TABLE_LOCAL;
	((struct rtmsg *)mnl_nlmsg_get_payload(nlh))->rtm_type = RTN_LOCAL;
	deliver();
	assert_next("10.0.0.1", ROUTE_LOCAL, 0, NULL);
}

static void metric_and_replace(void **state)
{
	(void)state;
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8);
	mnl_attr_put_u32(nlh, RTA_PRIORITY, 100);
	by_way_of("192.0.2.1", WAN_IFINDEX);
	deliver();
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8);
	mnl_attr_put_u32(nlh, RTA_PRIORITY, 50);
	by_way_of("192.0.2.2", WAN_IFINDEX);
	deliver();
	assert_next("10.0.0.1", ROUTE_FORWARD, 0, "192.0.2.2");
	begin_route(RTM_NEWROUTE, NLM_F_REPLACE, "10.0.0.0", 8);
	mnl_attr_put_u32(nlh, RTA_PRIORITY, 50);
	by_way_of("198.51.100.3", LAN_IFINDEX);
	deliver();
	assert_next("10.0.0.1", ROUTE_FORWARD, 1, "198.51.100.3");
	begin_route(RTM_DELROUTE, 0, "10.0.0.0", 8);
	mnl_attr_put_u32(nlh, RTA_PRIORITY, 50);
	by_way_of("198.51.100.3", LAN_IFINDEX);
	deliver();
	assert_next("10.0.0.1", ROUTE_FORWARD, 0, "192.0.2.1");
}

static void add_nexthop(uint32_t ifindex, const char *gateway, uint8_t flags)
{
	struct rtnexthop *hop = (struct rtnexthop *)((char *)nlh + nlh->nlmsg_len);
	uint32_t start = nlh->nlmsg_len;

	memset(hop, 0, sizeof(*hop));
	hop->rtnh_ifindex = (int)ifindex;
	hop->rtnh_flags = flags;
	nlh->nlmsg_len += sizeof(*hop);
	mnl_attr_put_u32(nlh, RTA_GATEWAY, addr(gateway));
	hop->rtnh_len = (unsigned short)(nlh->nlmsg_len - start);
}

static void multipath(void **state)
{
	(void)state;
	for (int flags = 0; flags < 2; flags++) {
		struct nlattr *nest;

		begin_route(flags ? RTM_DELROUTE : RTM_NEWROUTE, 0, "10.0.0.0", 8);
		nest = mnl_attr_nest_start(nlh, RTA_MULTIPATH);
		add_nexthop(OTHER_IFINDEX, "172.16.0.1", 0);
		/* When a route is deleted other of its hops may be dead. */
		add_nexthop(WAN_IFINDEX, "192.0.2.2", flags ? 0 : RTNH_F_DEAD);
		add_nexthop(LAN_IFINDEX, "198.51.100.2", 0);
		mnl_attr_nest_end(nlh, nest);
		deliver();
		assert_next("10.0.0.1", flags ? ROUTE_NONE : ROUTE_FORWARD, 1, "198.51.100.2");
	}
}

static void not_for_us(void **state)
{
	(void)state;
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8)->rtm_family = AF_INET6;
	out_of(WAN_IFINDEX);
	deliver();
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 33);
	out_of(WAN_IFINDEX);
	deliver();
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8)->rtm_flags = RTM_F_CLONED;
	out_of(WAN_IFINDEX);
	deliver();
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8)->rtm_src_len = 8;
	out_of(WAN_IFINDEX);
	deliver();
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8)->rtm_flags = RTNH_F_DEAD;
	out_of(WAN_IFINDEX);
	deliver();
	assert_next("10.0.0.1", ROUTE_NONE, 0, NULL);
	/* Via a router of another protocol, or with an encapsulation. */
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8);
	mnl_attr_put(nlh, RTA_VIA, 18, "\013\000aaaaaaaaaaaaaaaa");
	out_of(WAN_IFINDEX);
	deliver();
	assert_next("10.0.0.1", ROUTE_KERNEL, 0, NULL);
	begin_route(RTM_NEWROUTE, 0, "11.0.0.0", 8);
	mnl_attr_put(nlh, RTA_ENCAP, 4, "aaaa");
	out_of(WAN_IFINDEX);
	deliver();
	assert_next("11.0.0.1", ROUTE_KERNEL, 0, NULL);
}

static void via_ipv6(void **state)
{
	struct next_hop hop;

	(void)state;
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8);
	mnl_attr_put(nlh, RTA_VIA, 18, "\012\000aaaaaaaaaaaaaaaa");
	out_of(WAN_IFINDEX);
	deliver();
	hop = route_lookup(AF_INET, &(uint32_t){addr("10.0.0.1")});
	assert_int_equal(hop.kind, ROUTE_FORWARD);
	assert_true(hop.via6);
	assert_memory_equal(&hop.gateway, "aaaaaaaaaaaaaaaa", 16);
}

static void host_bits(void **state)
{
	(void)state;
	begin_route(RTM_NEWROUTE, 0, "10.1.2.3", 8);
	out_of(LAN_IFINDEX);
	deliver();
	assert_next("10.200.0.1", ROUTE_FORWARD, 1, NULL);
	begin_route(RTM_DELROUTE, 0, "10.0.0.0", 8);
	out_of(LAN_IFINDEX);
	deliver();
	assert_next("10.200.0.1", ROUTE_NONE, 0, NULL);
}

static void neighbour(uint16_t type, uint32_t ifindex, const char *dst, uint16_t nud,
		      const char *mac)
{
	struct ndmsg *ndm;

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = type;
	ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));
	ndm->ndm_family = AF_INET;
	ndm->ndm_ifindex = (int)ifindex;
	ndm->ndm_state = nud;
	mnl_attr_put_u32(nlh, NDA_DST, addr(dst));
	if (mac)
		mnl_attr_put(nlh, NDA_LLADDR, strlen(mac), mac);
	deliver();
}

static struct neigh neigh_of(unsigned int interface, uint32_t a)
{
	return (struct neigh){
		.addr = cygnet_addr4(a),
		.af = AF_INET,
		.interface = (uint8_t)interface,
	};
}

static bool resolved(unsigned int interface, const char *dst, const char *mac)
{
	struct rte_ether_addr found;

	struct neigh n = neigh_of(interface, addr(dst));

	if (!neigh_lookup(&n, &found))
		return false;
	assert_memory_equal(&found, mac, sizeof(found));
	return true;
}

static void neighbours(void **state)
{
	static const char a[] = "\002aaaaa", b[] = "\002bbbbb";

	(void)state;
	assert_false(resolved(0, "192.0.2.2", a));
	neighbour(RTM_NEWNEIGH, WAN_IFINDEX, "192.0.2.2", NUD_INCOMPLETE, NULL);
	assert_false(resolved(0, "192.0.2.2", a));
	neighbour(RTM_NEWNEIGH, WAN_IFINDEX, "192.0.2.2", NUD_REACHABLE, a);
	assert_true(resolved(0, "192.0.2.2", a));
	assert_false(resolved(1, "192.0.2.2", a));
	neighbour(RTM_NEWNEIGH, WAN_IFINDEX, "192.0.2.2", NUD_STALE, b);
	assert_true(resolved(0, "192.0.2.2", b));
	neighbour(RTM_NEWNEIGH, WAN_IFINDEX, "192.0.2.2", NUD_FAILED, NULL);
	assert_false(resolved(0, "192.0.2.2", b));
	neighbour(RTM_NEWNEIGH, LAN_IFINDEX, "192.0.2.2", NUD_PERMANENT, a);
	assert_true(resolved(1, "192.0.2.2", a));
	neighbour(RTM_DELNEIGH, LAN_IFINDEX, "192.0.2.2", NUD_PERMANENT, a);
	assert_false(resolved(1, "192.0.2.2", a));
	/* Not a port, and not Ethernet. */
	neighbour(RTM_NEWNEIGH, OTHER_IFINDEX, "192.0.2.3", NUD_REACHABLE, a);
	neighbour(RTM_NEWNEIGH, WAN_IFINDEX, "192.0.2.3", NUD_REACHABLE, "short");
	assert_false(resolved(0, "192.0.2.3", a));
	assert_false(resolved(1, "192.0.2.3", a));
}

/* The mirror asks for a stale neighbour in use, and for an unknown one, once a second. */
static void solicited(void **state)
{
	struct neigh n;

	(void)state;
	clock_now = 100;
	neighbour(RTM_NEWNEIGH, LAN_IFINDEX, "10.0.0.1", NUD_REACHABLE, "\002aaaaa");
	assert_true(resolved(1, "10.0.0.1", "\002aaaaa"));
	assert_false(neigh_wanted(&n));
	neighbour(RTM_NEWNEIGH, LAN_IFINDEX, "10.0.0.1", NUD_STALE, "\002aaaaa");
	for (int i = 0; i < 10; i++)
		assert_true(resolved(1, "10.0.0.1", "\002aaaaa"));
	assert_true(neigh_wanted(&n));
	assert_int_equal(n.interface, 1);
	assert_int_equal(n.addr.v4, addr("10.0.0.1"));
	assert_false(neigh_wanted(&n));
	clock_now++;
	assert_true(resolved(1, "10.0.0.1", "\002aaaaa"));
	assert_true(neigh_wanted(&n));
	/* More than the queue has room for: the others are lost, and asked for again. */
	for (uint32_t i = 0; i < 100000; i++) {
		n = neigh_of(0, htonl(0x0b000000 + i));
		neigh_solicit(&n);
	}
	for (unsigned int i = 0; neigh_wanted(&n); i++)
		assert_true(i < 5000);
	n = neigh_of(0, htonl(0x0b000000 + 99999));
	neigh_solicit(&n);
	assert_true(neigh_wanted(&n));
}

static void many_neighbours(void **state)
{
	unsigned int found = 0;
	struct neigh last;

	(void)state;
	/* Always other addresses, as in a scan of a large network. */
	for (uint32_t i = 0; i < 200000; i++) {
		struct neigh n = neigh_of(0, htonl(0x0a000000 + i));
		struct neigh old = neigh_of(0, htonl(0x0a000000 + i - 10000));
		struct rte_ether_addr mac = {{2}}, got;

		memcpy(&mac.addr_bytes[2], &i, sizeof(i));
		neigh_set(&n, &mac, false);
		if (neigh_lookup(&n, &got))
			found += rte_is_same_ether_addr(&mac, &got);
		if (i >= 10000)
			neigh_forget(&old);
	}
	assert_int_equal(found, 200000);
	neighs_mark();
	last = neigh_of(1, 5);
	neigh_set(&last, &(struct rte_ether_addr){{2}}, false);
	neighs_sweep();
	assert_false(resolved(0, "10.3.13.63", ""));
	assert_true(resolved(1, "5.0.0.0", "\002\0\0\0\0\0"));
}

/* --- IPv6 --- */

static struct rtmsg *begin_route6(uint16_t type, const char *dst, uint8_t bits, uint32_t ifindex)
{
	struct rtmsg *rtm = begin_route(type, 0, NULL, 0);

	rtm->rtm_family = AF_INET6;
	rtm->rtm_dst_len = bits;
	if (bits)
		put6(RTA_DST, dst);
	out_of(ifindex);
	return rtm;
}

static void assert_next6(const char *dst, enum route_kind kind, unsigned int interface,
			 const char *gateway)
{
	struct cygnet_addr to = addr6(dst), by = addr6(gateway);
	struct next_hop hop = route_lookup(AF_INET6, &to);

	assert_int_equal(hop.kind, kind);
	assert_int_equal(hop.interface, interface);
	assert_memory_equal(&hop.gateway, &by, sizeof(by));
}

static void routes6(void **state)
{
	(void)state;
	begin_route6(RTM_NEWROUTE, "::", 0, WAN_IFINDEX);
	put6(RTA_GATEWAY, "fe80::1");
	deliver();
	begin_route6(RTM_NEWROUTE, "2001:db8:1::", 64, LAN_IFINDEX);
	deliver();
	begin_route6(RTM_NEWROUTE, "2001:db8:1::1", 128, LAN_IFINDEX)->rtm_type = RTN_LOCAL;
	deliver();
	/* Host bits are ignored. */
	begin_route6(RTM_NEWROUTE, "2001:db8:3::ffff", 33, OTHER_IFINDEX);
	deliver();
	assert_next6("2001:db8:2::1", ROUTE_KERNEL, 0, "::");
	assert_next6("2001:db8:1::2", ROUTE_FORWARD, 1, "::");
	assert_next6("2001:db8:1::1", ROUTE_LOCAL, 0, "::");
	assert_next6("2001:db8:8000::1", ROUTE_FORWARD, 0, "fe80::1");
	begin_route6(RTM_DELROUTE, "2001:db8:1::", 64, LAN_IFINDEX);
	deliver();
	assert_next6("2001:db8:1::2", ROUTE_KERNEL, 0, "::");
	/* A prefix longer than an IPv6 address. */
	begin_route6(RTM_NEWROUTE, "2001:db8:1::", 129, WAN_IFINDEX);
	deliver();
	assert_next6("2001:db8:1::2", ROUTE_KERNEL, 0, "::");
}

static void add_nexthop6(uint32_t ifindex, const char *gateway)
{
	struct rtnexthop *hop = (struct rtnexthop *)((char *)nlh + nlh->nlmsg_len);
	uint32_t start = nlh->nlmsg_len;

	memset(hop, 0, sizeof(*hop));
	hop->rtnh_ifindex = (int)ifindex;
	nlh->nlmsg_len += sizeof(*hop);
	put6(RTA_GATEWAY, gateway);
	hop->rtnh_len = (unsigned short)(nlh->nlmsg_len - start);
}

/* Several next hops of one message are several routes; the kernel deletes them one by one. */
static void multipath6(void **state)
{
	struct nlattr *nest;

	(void)state;
	begin_route(RTM_NEWROUTE, 0, NULL, 0)->rtm_family = AF_INET6;
	((struct rtmsg *)mnl_nlmsg_get_payload(nlh))->rtm_dst_len = 48;
	put6(RTA_DST, "2001:db8:9::");
	nest = mnl_attr_nest_start(nlh, RTA_MULTIPATH);
	add_nexthop6(OTHER_IFINDEX, "fe80::7");
	add_nexthop6(WAN_IFINDEX, "fe80::1");
	add_nexthop6(LAN_IFINDEX, "fe80::2");
	mnl_attr_nest_end(nlh, nest);
	deliver();
	begin_route6(RTM_DELROUTE, "2001:db8:9::", 48, OTHER_IFINDEX);
	put6(RTA_GATEWAY, "fe80::7");
	deliver();
	assert_next6("2001:db8:9::1", ROUTE_FORWARD, 0, "fe80::1");
	begin_route6(RTM_DELROUTE, "2001:db8:9::", 48, WAN_IFINDEX);
	put6(RTA_GATEWAY, "fe80::1");
	deliver();
	assert_next6("2001:db8:9::1", ROUTE_FORWARD, 1, "fe80::2");
	begin_route6(RTM_DELROUTE, "2001:db8:9::", 48, LAN_IFINDEX);
	put6(RTA_GATEWAY, "fe80::2");
	deliver();
	assert_next6("2001:db8:9::1", ROUTE_NONE, 0, "::");
}

static void add_by(uint8_t protocol, uint32_t ifindex, const char *gateway)
{
	struct rtmsg *rtm;

	begin_route6(RTM_NEWROUTE, "2001:db8:9::", 48, ifindex);
	rtm = mnl_nlmsg_get_payload(nlh);
	rtm->rtm_protocol = protocol;
	put6(RTA_GATEWAY, gateway);
	deliver();
}

/* Routes by two routers are one with two next hops, unless the routers have advertised them. */
static void siblings6(void **state)
{
	struct cygnet_addr to = addr6("2001:db8:9::1");

	(void)state;
	add_by(RTPROT_RA, WAN_IFINDEX, "fe80::1");
	add_by(RTPROT_RA, LAN_IFINDEX, "fe80::2");
	assert_int_equal(route_lookup(AF_INET6, &to).group, 0);
	add_by(RTPROT_STATIC, WAN_IFINDEX, "fe80::1");
	add_by(RTPROT_STATIC, LAN_IFINDEX, "fe80::2");
	assert_int_not_equal(route_lookup(AF_INET6, &to).group, 0);
}

static void neighbours6(void **state)
{
	struct neigh n = {.addr = addr6("fe80::1"), .af = AF_INET6, .interface = 0};
	struct rte_ether_addr found;
	struct ndmsg *ndm;

	(void)state;
	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWNEIGH;
	ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));
	ndm->ndm_family = AF_INET6;
	ndm->ndm_ifindex = WAN_IFINDEX;
	ndm->ndm_state = NUD_STALE;
	put6(NDA_DST, "fe80::1");
	mnl_attr_put(nlh, NDA_LLADDR, 6, "\002aaaaa");
	deliver();
	assert_true(neigh_lookup(&n, &found));
	assert_memory_equal(&found, "\002aaaaa", 6);
	/* The same address on another link is a different neighbour. */
	n.interface = 1;
	assert_false(neigh_lookup(&n, &found));
	assert_true(neigh_wanted(&n));
	assert_int_equal(n.af, AF_INET6);
	assert_int_equal(n.interface, 0);
	assert_int_equal(n.addr.bytes[15], 1);
	/* So is an IPv4 address with the same bytes. */
	n.af = AF_INET;
	assert_false(neigh_lookup(&n, &found));
	nlh->nlmsg_type = RTM_DELNEIGH;
	deliver();
	n.af = AF_INET6;
	assert_false(neigh_lookup(&n, &found));
}

/* @param size  bytes of the attribute */
static void route_mtu(uint8_t af, uint32_t mtu, size_t size, uint16_t expected)
{
	struct rtmsg *rtm = begin_route(RTM_NEWROUTE, NLM_F_REPLACE, NULL, 0);
	const struct cygnet_addr any = {.bytes = {1}};
	struct nlattr *nest;

	rtm->rtm_family = af;
	out_of(WAN_IFINDEX);
	nest = mnl_attr_nest_start(nlh, RTA_METRICS);
	mnl_attr_put_u32(nlh, RTAX_LOCK, 1 << RTAX_MTU);
	mnl_attr_put(nlh, RTAX_MTU, size, &mtu);
	mnl_attr_nest_end(nlh, nest);
	deliver();
	assert_int_equal(route_lookup(af, &any).kind, ROUTE_FORWARD);
	assert_int_equal(route_lookup(af, &any).mtu, expected);
}

/* The MTU of a route, locked, with values that no link has. */
static void route_mtus(void **state)
{
	(void)state;
	route_mtu(AF_INET, 1400, 4, 1400);
	route_mtu(AF_INET, 0, 4, 0);
	route_mtu(AF_INET, 1, 4, 68);
	route_mtu(AF_INET, 1400, 2, 0);
	route_mtu(AF_INET, 65535, 4, 65535);
	route_mtu(AF_INET, 65536, 4, 65535);
	route_mtu(AF_INET, UINT32_MAX, 4, 65535);
	route_mtu(AF_INET6, 1400, 4, 1400);
	route_mtu(AF_INET6, 600, 4, 1280);
	begin_route(RTM_NEWROUTE, NLM_F_REPLACE, NULL, 0);
	out_of(WAN_IFINDEX);
	deliver();
	assert_int_equal(route_lookup(AF_INET, &(uint32_t){1}).mtu, 0);
}

/* A rule for table 77, by one more attribute. @return whether it is followed */
static bool rule_is_followed(uint16_t type, uint32_t value, uint32_t flags)
{
	struct fib_rule_hdr *frh;

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWRULE;
	nlh->nlmsg_flags = NLM_F_MULTI;
	frh = mnl_nlmsg_put_extra_header(nlh, sizeof(*frh));
	*frh = (struct fib_rule_hdr){.family = AF_INET,
				     .table = 77,
				     .action = FR_ACT_TO_TBL,
				     .flags = flags};
	mnl_attr_put_u32(nlh, FRA_PRIORITY, 100);
	mnl_attr_put_u32(nlh, FRA_SUPPRESS_PREFIXLEN, UINT32_MAX);
	if (type)
		mnl_attr_put_u32(nlh, type, value);
	netlink_rules_begin(AF_INET);
	deliver();
	netlink_rules_end(AF_INET);
	return routes_have_table(AF_INET, 77);
}

/* Only a rule for all packets is followed. One with an attribute of a newer kernel may be for some. */
static void rules(void **state)
{
	(void)state;
	assert_true(rule_is_followed(0, 0, 0));
	assert_true(rule_is_followed(FRA_SUPPRESS_IFGROUP, UINT32_MAX, 0));
	assert_false(rule_is_followed(FRA_SUPPRESS_IFGROUP, 1, 0));
	assert_false(rule_is_followed(FRA_FWMARK, 1, 0));
	assert_true(rule_is_followed(FRA_FWMARK, 1, FIB_RULE_INVERT));
	assert_false(rule_is_followed(FRA_IP_PROTO, 6, 0));
	for (uint16_t type = FRA_DPORT_RANGE; type < FRA_DPORT_RANGE + 10; type++) {
		assert_false(rule_is_followed(type, 0, 0));
		assert_false(rule_is_followed(type, 0, FIB_RULE_INVERT));
	}
	/* A family without rules has the usual tables again, and the other one was not touched. */
	assert_false(routes_have_table(AF_INET, RT_TABLE_MAIN));
	assert_true(routes_have_table(AF_INET6, RT_TABLE_MAIN));
	routes_set_usual_tables(AF_INET);
	assert_true(routes_have_table(AF_INET, RT_TABLE_LOCAL));
	assert_true(routes_have_table(AF_INET, ROUTE_TABLE_CHARON));
	assert_true(routes_have_table(AF_INET, RT_TABLE_MAIN));
	assert_true(routes_have_table(AF_INET, RT_TABLE_DEFAULT));
}

/* Real messages, each damaged in each way: no read beyond the end of the message, which is the
 * end of its memory, so that the sanitizers see it. */
static void damaged(void **state)
{
	struct nlattr *nest;
	size_t len;

	(void)state;
	srandom(3);
	begin_route(RTM_NEWROUTE, 0, "10.0.0.0", 8);
	by_way_of("192.0.2.2", WAN_IFINDEX);
	nest = mnl_attr_nest_start(nlh, RTA_MULTIPATH);
	add_nexthop(WAN_IFINDEX, "192.0.2.2", 0);
	add_nexthop(LAN_IFINDEX, "198.51.100.2", 0);
	mnl_attr_nest_end(nlh, nest);
	mnl_attr_put_u32(nlh, RTA_PRIORITY, 7);
	len = nlh->nlmsg_len;
	for (unsigned int i = 0; i < 200000; i++) {
		static const uint16_t kinds[] = {RTM_NEWROUTE, RTM_DELROUTE,  RTM_NEWNEIGH,
						 RTM_DELNEIGH, RTM_NEWLINK,   RTM_DELLINK,
						 RTM_NEWADDR,  RTM_NEWNETCONF};
		size_t cut = NLMSG_HDRLEN + (size_t)random() % (len - NLMSG_HDRLEN + 1);
		struct nlmsghdr *copy = malloc(cut);

		assert_non_null(copy);
		memcpy(copy, buffer, cut);
		copy->nlmsg_len = (uint32_t)cut;
		copy->nlmsg_type = kinds[random() % (long)RTE_DIM(kinds)];
		for (int k = 0; k < 3 && cut > NLMSG_HDRLEN; k++)
			((uint8_t *)copy)[NLMSG_HDRLEN + (size_t)random() % (cut - NLMSG_HDRLEN)] =
				(uint8_t)random();
		mnl_cb_run(copy, cut, 0, 0, netlink_message, NULL);
		free(copy);
	}
	routes_commit();
}

/* Datagrams of one or two messages: the length field of each, and the bytes received. */
static void lengths(void **state)
{
	static const struct {
		uint32_t first, second;
		size_t received;
		bool fit;
	} cases[] = {
		{16, 0, 16, true},
		{16, 16, 32, true},
		{18, 12, 18, true},
		{18, 16, 36, true},
		{0, 0, 0, true},
		{16, 0, 15, false},
		{15, 0, 16, false},
		{0, 0, 16, false},
		{17, 0, 16, false},
		{16, 17, 32, false},
		{16, 0, 32, false},
		{16, 16, 31, false},
		{0x7fffffff, 0, 64, false},
		{0x80000000, 0, 64, false},
		{0xffffffff, 0, 64, false},
		{16, 0x80000000, 64, false},
		{16, 0xfffffffd, 64, false},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		/* Exactly as long, so that the sanitizers see a read beyond. */
		char *datagram = calloc(1, cases[i].received + !cases[i].received);
		size_t second = NLMSG_ALIGN(cases[i].first);

		assert_non_null(datagram);
		if (cases[i].received >= sizeof(uint32_t))
			memcpy(datagram, &cases[i].first, sizeof(uint32_t));
		if (second && second + sizeof(uint32_t) <= cases[i].received)
			memcpy(datagram + second, &cases[i].second, sizeof(uint32_t));
		assert_int_equal(netlink_lengths_fit(datagram, cases[i].received), cases[i].fit);
		free(datagram);
	}
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(dumps),
		TEST(multipath6),
		TEST(siblings6),
		TEST(unicast),
		TEST(types),
		TEST(tables),
		TEST(metric_and_replace),
		TEST(multipath),
		TEST(not_for_us),
		TEST(host_bits),
		TEST(neighbours),
		TEST(solicited),
		TEST(many_neighbours),
		TEST(damaged),
		TEST(routes6),
		TEST(neighbours6),
		TEST(lengths),
		TEST(route_mtus),
		TEST(via_ipv6),
		TEST(rules),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
