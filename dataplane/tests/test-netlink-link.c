/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Netlink messages for links, macvlans and addresses. */
#include <net/if.h>
#include <linux/if.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>

#include "host/local_addr.h"
#include "host/macvlan.h"
#include "host/netlink.h"
#include "netlink_fixture.h"

static void address6(const char *text, uint8_t scope, uint32_t flags)
{
	struct ifaddrmsg *ifa;

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWADDR;
	ifa = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifa));
	ifa->ifa_family = AF_INET6;
	ifa->ifa_index = WAN_IFINDEX;
	ifa->ifa_scope = scope;
	put6(IFA_ADDRESS, text);
	mnl_attr_put_u32(nlh, IFA_FLAGS, flags);
	deliver();
}

/* The source address of errors: the first one that other hosts can answer and that is permanent. */
static void addresses6(void **state)
{
	struct cygnet_addr want = addr6("2001:db8::4"), none = {0}, got;

	(void)state;
	address6("fe80::1", RT_SCOPE_LINK, IFA_F_PERMANENT);
	address6("2001:db8::1", RT_SCOPE_UNIVERSE, IFA_F_TENTATIVE);
	address6("2001:db8::2", RT_SCOPE_UNIVERSE, IFA_F_TEMPORARY);
	address6("2001:db8::3", RT_SCOPE_UNIVERSE, IFA_F_DEPRECATED);
	got = local_addr_of(AF_INET6, 0);
	assert_memory_equal(&got, &none, sizeof(got));
	address6("2001:db8::4", RT_SCOPE_UNIVERSE, IFA_F_PERMANENT);
	address6("2001:db8::5", RT_SCOPE_UNIVERSE, IFA_F_PERMANENT);
	got = local_addr_of(AF_INET6, 0);
	assert_memory_equal(&got, &want, sizeof(got));
}

static void address4(const char *text, uint32_t ifindex, uint8_t scope)
{
	struct ifaddrmsg *ifa;

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWADDR;
	ifa = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifa));
	ifa->ifa_family = AF_INET;
	ifa->ifa_index = ifindex;
	ifa->ifa_scope = scope;
	ifa->ifa_prefixlen = 24;
	mnl_attr_put_u32(nlh, IFA_LOCAL, addr(text));
	mnl_attr_put_u32(nlh, IFA_ADDRESS, addr(text));
	deliver();
}

static unsigned int local_addresses(uint8_t af)
{
	struct local_addr own;
	unsigned int n = 0;

	for (unsigned int i = 0; local_addr_next(&i, &own);)
		n += own.af == af;
	return n;
}

/* The addresses of all interfaces, each once and in order, as long as the kernel has them. */
static void addresses4(void **state)
{
	const struct local_addr first = {cygnet_addr4(addr("192.0.2.1")), AF_INET, 0, 24};
	struct local_addr own;
	unsigned int i = 0;

	(void)state;
	local_addrs_mark();
	local_addrs_sweep();
	address4("127.0.0.1", 1, RT_SCOPE_HOST);
	address4("169.254.1.1", WAN_IFINDEX, RT_SCOPE_LINK);
	assert_false(local_addr_next(&i, &own));
	address4("192.0.2.1", WAN_IFINDEX, RT_SCOPE_UNIVERSE);
	address4("192.0.2.9", WAN_IFINDEX, RT_SCOPE_UNIVERSE);
	address4("192.0.2.1", WAN_IFINDEX, RT_SCOPE_UNIVERSE);
	address4("10.9.0.1", 1, RT_SCOPE_UNIVERSE);
	assert_int_equal(local_addresses(AF_INET), 3);
	assert_int_equal(local_addr_of(AF_INET, 0).v4, first.addr.v4);
	assert_int_equal(local_addr_of(AF_INET, LOCAL_ADDR_NO_INTERFACE).v4, addr("10.9.0.1"));
	/* A dump that contains one of them. */
	local_addrs_mark();
	address4("192.0.2.9", WAN_IFINDEX, RT_SCOPE_UNIVERSE);
	local_addrs_sweep();
	assert_int_equal(local_addresses(AF_INET), 1);
	assert_int_equal(local_addr_of(AF_INET, 0).v4, addr("192.0.2.9"));
	/* As many as fit. */
	for (uint32_t n = 0; n < 2 * LOCAL_ADDRS_MAX; n++)
		local_addr_add(&(struct local_addr){cygnet_addr4(n + 1), AF_INET,
						    LOCAL_ADDR_NO_INTERFACE, 32});
	assert_int_equal(local_addresses(AF_INET), LOCAL_ADDRS_MAX);
	assert_int_equal(local_addr_of(AF_INET, 0).v4, addr("192.0.2.9"));
	local_addrs_mark();
	local_addrs_sweep();
	assert_int_equal(local_addresses(AF_INET), 0);
}

static bool attached(const char *lo, const char *hi)
{
	const struct cygnet_addr first = cygnet_addr4(addr(lo)), last = cygnet_addr4(addr(hi));

	return local_addr_attaches(AF_INET, 0, &first, &last);
}

/* The networks of an interface's addresses. */
static void networks(void **state)
{
	const struct local_addr odd = {cygnet_addr4(addr("10.7.128.1")), AF_INET, 0, 17};
	const struct local_addr any = {cygnet_addr4(addr("10.8.0.1")), AF_INET, 0, 0};
	const struct cygnet_addr lo = addr6("2001:db8:7::"), hi = addr6("2001:db8:7::ffff"),
				 beyond = addr6("2001:db8:8::");
	const struct local_addr six = {addr6("2001:db8:7::1"), AF_INET6, 0, 64};

	(void)state;
	local_addrs_mark();
	local_addrs_sweep();
	address4("192.0.2.1", WAN_IFINDEX, RT_SCOPE_UNIVERSE);
	address4("10.9.0.1", 1, RT_SCOPE_UNIVERSE); /* of another interface */
	local_addr_add(&odd);
	local_addr_add(&any);
	local_addr_add(&six);
	assert_true(attached("192.0.2.0", "192.0.2.255"));
	assert_true(attached("192.0.2.7", "192.0.2.7"));
	assert_false(attached("192.0.2.0", "192.0.3.0"));
	assert_false(attached("192.0.1.255", "192.0.2.7"));
	assert_false(attached("10.9.0.0", "10.9.0.255"));
	assert_true(attached("10.7.128.0", "10.7.255.255"));
	assert_false(attached("10.7.127.255", "10.7.128.5"));
	assert_false(attached("0.0.0.0", "255.255.255.255"));
	assert_true(local_addr_attaches(AF_INET6, 0, &lo, &hi));
	assert_false(local_addr_attaches(AF_INET6, 0, &lo, &beyond));
	assert_false(local_addr_attaches(AF_INET6, 1, &lo, &hi));
	local_addrs_mark();
	local_addrs_sweep();
}

/* @param attribute  NETCONFA_FORWARDING, or one that says something else */
static void netconf(uint8_t family, uint16_t attribute, uint32_t ifindex, uint32_t value)
{
	struct netconfmsg *ncm;

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWNETCONF;
	ncm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ncm));
	ncm->ncm_family = family;
	mnl_attr_put_u32(nlh, NETCONFA_IFINDEX, ifindex);
	mnl_attr_put_u32(nlh, attribute, value);
	deliver();
}

static void netconf6(uint32_t ifindex, uint32_t forwarding)
{
	netconf(AF_INET6, NETCONFA_FORWARDING, ifindex, forwarding);
}

/* The kernel forwards IPv6 by the setting `all`. Settings of interfaces mean something else. */
static void forwarding6(void **state)
{
	(void)state;
	interfaces_forward6 = false;
	netconf6(WAN_IFINDEX, 1);
	assert_false(interfaces_forward6);
	assert_false(interfaces[0].forwards);
	netconf6((uint32_t)NETCONFA_IFINDEX_ALL, 1);
	assert_true(interfaces_forward6);
	netconf6((uint32_t)NETCONFA_IFINDEX_ALL, 0);
	assert_false(interfaces_forward6);
}

/* IPv4 is forwarded by the setting of the interface. Other messages change nothing. */
static void forwarding4(void **state)
{
	(void)state;
	netconf(AF_INET, NETCONFA_FORWARDING, WAN_IFINDEX, 1);
	assert_true(interfaces[0].forwards);
	netconf(AF_INET, NETCONFA_FORWARDING, OTHER_IFINDEX, 0);
	netconf(AF_INET, NETCONFA_FORWARDING, (uint32_t)NETCONFA_IFINDEX_ALL, 0);
	netconf(AF_INET, NETCONFA_RP_FILTER, WAN_IFINDEX, 0);
	netconf(AF_BRIDGE, NETCONFA_FORWARDING, WAN_IFINDEX, 0);
	nlh->nlmsg_len = MNL_NLMSG_HDRLEN;
	deliver();
	assert_true(interfaces[0].forwards);
	assert_false(interfaces[1].forwards);
	netconf(AF_INET, NETCONFA_FORWARDING, WAN_IFINDEX, 0);
	assert_false(interfaces[0].forwards);
}

static void mtu_of(uint32_t ifindex, uint32_t mtu)
{
	struct ifinfomsg *ifi;

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWLINK;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = (int)ifindex;
	ifi->ifi_flags = IFF_UP;
	mnl_attr_put_u32(nlh, IFLA_MTU, mtu);
	deliver();
}

/* An interface has the MTU of its TAP, unless its device cannot have it. */
static void mtus(void **state)
{
	(void)state;
	interfaces[0].device = DEVICE_NONE;
	mtu_of(WAN_IFINDEX, 1400);
	assert_int_equal(interfaces[0].mtu, 1400);
	mtu_of(WAN_IFINDEX, 0);
	assert_int_equal(interfaces[0].mtu, 1400);
	interfaces[1].device = 0; /* there is no such device */
	mtu_of(LAN_IFINDEX, 1400);
	assert_int_equal(interfaces[1].mtu, 1500);
}

/* A message without the whole header of a link, and a macvlan that says nothing about itself. */
static void incomplete_links(void **state)
{
	struct ifinfomsg *ifi;

	(void)state;
	mtu_of(WAN_IFINDEX, 1500);
	nlh->nlmsg_len = MNL_NLMSG_HDRLEN + 4;
	nlh->nlmsg_type = RTM_DELLINK;
	deliver();
	assert_true(interfaces[0].up);
	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWLINK;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = OTHER_IFINDEX;
	ifi->ifi_flags = IFF_UP | IFF_LOWER_UP;
	mnl_attr_put_u32(nlh, IFLA_LINK, LAN_IFINDEX);
	mnl_attr_put(nlh, IFLA_ADDRESS, 6, "\0\0\x5e\0\1\x0a");
	deliver();
	assert_int_equal(macvlan_find(OTHER_IFINDEX).interface, -1);
}

static void links(void **state)
{
	struct ifinfomsg *ifi;

	(void)state;
	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWLINK;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = WAN_IFINDEX;
	ifi->ifi_flags = IFF_UP;
	mnl_attr_put_u32(nlh, IFLA_MTU, 1500);
	deliver();
	assert_true(interfaces[0].up);
	assert_false(interfaces[1].up);
	ifi->ifi_flags = 0;
	deliver();
	assert_false(interfaces[0].up);
	ifi->ifi_flags = IFF_UP;
	deliver();
	nlh->nlmsg_type = RTM_DELLINK;
	deliver();
	assert_false(interfaces[0].up);
}

/* A macvlan in all that it takes. */
struct link_case {
	uint16_t type;
	uint8_t family;
	uint32_t flags;
	const char *kind;
	uint16_t more; /* another attribute; 0: none */
	bool known;
};

static void macvlan_link(const struct link_case *c)
{
	struct ifinfomsg *ifi;
	struct nlattr *nest;

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = c->type;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_family = c->family;
	ifi->ifi_index = OTHER_IFINDEX;
	ifi->ifi_flags = c->flags;
	mnl_attr_put_u32(nlh, IFLA_LINK, LAN_IFINDEX);
	mnl_attr_put(nlh, IFLA_ADDRESS, 6, "\0\0\x5e\0\1\x0a");
	if (c->more)
		mnl_attr_put_u32(nlh, c->more, 1);
	nest = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	if (c->kind)
		mnl_attr_put_strz(nlh, IFLA_INFO_KIND, c->kind);
	mnl_attr_nest_end(nlh, nest);
	deliver();
}

static void macvlan_links(void **state)
{
	const uint32_t up = IFF_UP | IFF_LOWER_UP;
	const struct link_case whole = {RTM_NEWLINK, AF_UNSPEC, up, "macvlan", 0, true},
			       cases[] = {
				       {RTM_NEWLINK, AF_UNSPEC, IFF_UP, "macvlan", 0, false},
				       {RTM_NEWLINK, AF_UNSPEC, IFF_LOWER_UP, "macvlan", 0, false},
				       {RTM_NEWLINK, AF_UNSPEC, up, "macvlan", IFLA_MASTER, false},
				       {RTM_NEWLINK, AF_UNSPEC, up, "macvlan", IFLA_LINK_NETNSID,
					false},
				       {RTM_NEWLINK, AF_UNSPEC, up, "macvtap", 0, false},
				       {RTM_NEWLINK, AF_UNSPEC, up, NULL, 0, false},
				       {RTM_DELLINK, AF_UNSPEC, up, "macvlan", 0, false},
				       /* Of a bridge, and of IPv6's settings. */
				       {RTM_NEWLINK, AF_BRIDGE, up, NULL, 0, true},
				       {RTM_NEWLINK, AF_INET6, up, NULL, 0, true},
				       {RTM_DELLINK, AF_BRIDGE, 0, NULL, 0, true},
			       };
	uint64_t mac = 0, other = 0;

	(void)state;
	memcpy(&mac, "\0\0\x5e\0\1\x0a??", sizeof(mac));
	memcpy(&other, "\0\0\x5e\0\1\x0b", 6);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		macvlan_link(&whole);
		assert_true(macvlan_has_mac(1, mac));
		assert_false(macvlan_has_mac(0, mac));
		assert_false(macvlan_has_mac(1, other));
		assert_false(macvlan_has_mac(1, 0));
		assert_int_equal(macvlan_find(OTHER_IFINDEX).interface, 1);
		assert_int_equal(macvlan_find(OTHER_IFINDEX).macvlan, 1);
		macvlan_link(&cases[i]);
		assert_int_equal(macvlan_has_mac(1, mac), cases[i].known);
		assert_int_equal(macvlan_find(OTHER_IFINDEX).interface, cases[i].known ? 1 : -1);
		macvlans_end_quarantine();
	}
	/* Gone without a message. */
	macvlan_link(&whole);
	macvlans_mark();
	macvlan_link(&whole);
	macvlans_sweep();
	assert_true(macvlan_has_mac(1, mac));
	macvlans_mark();
	macvlans_sweep();
	assert_false(macvlan_has_mac(1, mac));
	assert_int_equal(macvlan_find(OTHER_IFINDEX).interface, -1);
}

/* As many as there is room for. */
static void many_macvlans(void **state)
{
	struct rte_ether_addr mac = {{2}};
	uint64_t word = 0;

	(void)state;
	for (uint8_t i = 0; i <= MACVLANS_MAX; i++) {
		mac.addr_bytes[5] = i;
		memcpy(&word, &mac, sizeof(mac));
		assert_int_equal(macvlan_set(0, 100u + i, &mac), i < MACVLANS_MAX);
		assert_int_equal(macvlan_has_mac(0, word), i < MACVLANS_MAX);
	}
	/* Routes may have the number of the one that is gone, until they have been dumped. */
	assert_false(macvlans_end_quarantine());
	assert_true(macvlan_forget(103));
	assert_true(macvlan_set(0, 100 + MACVLANS_MAX, &mac)); /* another dump is needed */
	assert_int_equal(macvlan_ifindex(0, 4), 0);
	assert_false(macvlan_has_mac(0, word));
	assert_true(macvlans_end_quarantine());
	assert_false(macvlans_end_quarantine());
	assert_true(macvlan_set(0, 100 + MACVLANS_MAX, &mac));
	assert_int_equal(macvlan_ifindex(0, 4), 100 + MACVLANS_MAX);
	assert_true(macvlan_has_mac(0, word));
	/* One that is there again, or with another address, has another number. */
	assert_true(macvlan_forget(105));
	macvlans_end_quarantine();
	assert_true(macvlan_forget(107));
	assert_true(macvlan_set(0, 107, &mac));
	assert_int_equal(macvlan_find(107).macvlan, 6);
	macvlans_mark();
	macvlans_sweep();
	macvlans_end_quarantine();
	assert_int_equal(macvlans[0].used, 0);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(links),	   TEST(addresses6),	   TEST(addresses4),	TEST(networks),
		TEST(forwarding6), TEST(macvlan_links),	   TEST(many_macvlans), TEST(forwarding4),
		TEST(mtus),	   TEST(incomplete_links),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
