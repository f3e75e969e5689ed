/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two interfaces, and netlink messages for them. */
#ifndef NETLINK_FIXTURE_H
#define NETLINK_FIXTURE_H

#include <arpa/inet.h>
#include <string.h>

#include "eal_fixture.h"
#include "host/interface.h"
#include "host/neigh.h"
#include "host/netlink_receive.h"
#include "host/route.h"

#define OTHER_IFINDEX 7 /* of an interface that is not a port */
#define WAN_IFINDEX   10
#define LAN_IFINDEX   11

static char buffer[4096];
static struct nlmsghdr *nlh;

static uint32_t addr(const char *text)
{
	uint32_t a;

	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
	return a;
}

static struct cygnet_addr addr6(const char *text)
{
	struct cygnet_addr a;

	assert_int_equal(inet_pton(AF_INET6, text, &a), 1);
	return a;
}

static void put6(uint16_t type, const char *text)
{
	struct cygnet_addr a = addr6(text);

	mnl_attr_put(nlh, type, sizeof(a), &a);
}

static void deliver(void)
{
	assert_int_equal(mnl_cb_run(nlh, nlh->nlmsg_len, 0, 0, netlink_message, NULL), MNL_CB_OK);
	routes_commit();
}

static int setup(void **state)
{
	(void)state;
	memset(interfaces, 0, sizeof(interfaces[0]) * 2);
	interfaces[0] = (struct interface){.name = "wan", .tap.ifindex = WAN_IFINDEX, .mtu = 1500};
	interfaces[1] = (struct interface){.name = "lan", .tap.ifindex = LAN_IFINDEX, .mtu = 1500};
	ninterfaces = 2;
	return routes_init(1, 1024) || neighs_init();
}

static int teardown(void **state)
{
	(void)state;
	ninterfaces = 0;
	routes_free();
	neighs_free();
	return 0;
}

#endif
