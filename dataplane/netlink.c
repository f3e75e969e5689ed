/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "log.h"
#include "neigh.h"
#include "netlink.h"
#include "netlink_kind.h"
#include "own_addr.h"
#include "port.h"
#include "route.h"

#define RECEIVE_BUFFER (4 << 20)
#define RETRY_S 1
#define HANG_US 10000
#define SOLICIT_MAX 256 /* a call; what is wanted beyond that waits */

static struct mnl_socket *monitor, *query;
/* Something is to be read anew: news were lost, or a link or an address went, for
 * which the kernel drops routes without a word. */
static bool resync;
static uint64_t retry; /* a failed one not before this, in control_now's seconds */

void netlink_resync(void)
{
	resync = true;
}

int netlink_message(const struct nlmsghdr *nlh, void *data)
{
	(void)data;
	switch (nlh->nlmsg_type) {
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		netlink_on_route(nlh);
		break;
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		netlink_on_neigh(nlh);
		break;
	case RTM_NEWLINK:
	case RTM_DELLINK:
		netlink_on_link(nlh);
		break;
	case RTM_NEWADDR:
		netlink_on_addr(nlh);
		break;
	case RTM_DELADDR:
		resync = true;
		break;
	case RTM_NEWNETCONF:
		netlink_on_netconf(nlh);
		break;
	}
	return MNL_CB_OK;
}

static int dump(uint16_t type, uint8_t family, size_t body)
{
	char buffer[32768];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	unsigned int seq = (unsigned int)time(NULL) ^ type;
	ssize_t n;
	int ret;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = seq;
	/* Every fixed part begins with the family. */
	*(uint8_t *)mnl_nlmsg_put_extra_header(nlh, body) = family;
	if (mnl_socket_sendto(query, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	do {
		n = mnl_socket_recvfrom(query, buffer, sizeof(buffer));
		if (n < 0)
			return -errno;
		ret = mnl_cb_run(buffer, (size_t)n, seq, mnl_socket_get_portid(query),
				 netlink_message, NULL);
	} while (ret > MNL_CB_STOP);
	return ret < 0 ? -errno : 0;
}

/* Of IPv4, then of IPv6, which a kernel need not have. */
static int dump_both(uint16_t type, size_t body)
{
	int err = dump(type, AF_INET, body);

	if (!err)
		err = dump(type, AF_INET6, body);
	return err == -EOPNOTSUPP || err == -EAFNOSUPPORT ? 0 : err;
}

static int mirror_addrs(void)
{
	int err;

	own_addrs_mark();
	err = dump_both(RTM_GETADDR, sizeof(struct ifaddrmsg));
	if (!err)
		own_addrs_sweep();
	return err;
}

static int mirror_all(void)
{
	int err;

	err = dump(RTM_GETLINK, AF_UNSPEC, sizeof(struct ifinfomsg));
	if (!err)
		err = dump_both(RTM_GETNETCONF, sizeof(struct netconfmsg));
	if (!err)
		err = mirror_addrs();
	/* What the links say now is what the routes below are read under. */
	resync = false;
	routes_mark();
	if (!err)
		err = dump_both(RTM_GETROUTE, sizeof(struct rtmsg));
	netlink_add_multicast();
	/* A dump that broke off says nothing about what it did not reach. */
	if (!err)
		routes_sweep();
	routes_commit();
	neighs_mark();
	if (!err)
		err = dump_both(RTM_GETNEIGH, sizeof(struct ndmsg));
	if (!err)
		neighs_sweep();
	if (err) {
		log_warn("reading the kernel's routes: %s; trying again", strerror(-err));
		retry = control_now + RETRY_S;
		resync = true;
	}
	return err;
}

static struct mnl_socket *open_socket(unsigned int groups)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	const int room = RECEIVE_BUFFER;

	if (!socket)
		return NULL;
	/* Best effort: without it the kernel loses news earlier, and we read anew. */
	setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (mnl_socket_bind(socket, groups, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(socket);
		return NULL;
	}
	return socket;
}

/* A group that the old bit mask does not reach. */
static int join(struct mnl_socket *socket, int group)
{
	return mnl_socket_setsockopt(socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
}

int netlink_start(void)
{
	/* The monitor first: what changes during the dump is told twice, not never. */
	monitor = open_socket(RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV4_IFADDR |
			      RTMGRP_IPV6_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_NEIGH);
	query = open_socket(0);
	if (!monitor || !query || join(monitor, RTNLGRP_IPV4_NETCONF) < 0 ||
	    join(monitor, RTNLGRP_IPV6_NETCONF) < 0) {
		int err = -errno;

		log_error("cannot open rtnetlink: %s", strerror(-err));
		netlink_stop();
		return err;
	}
	return mirror_all();
}

void netlink_stop(void)
{
	if (monitor)
		mnl_socket_close(monitor);
	if (query)
		mnl_socket_close(query);
	monitor = query = NULL;
}

int netlink_fd(void)
{
	return mnl_socket_get_fd(monitor);
}

void netlink_process(void)
{
	char buffer[32768];
	bool lost = false;
	ssize_t n;

	/* A worker hangs: what cannot be followed now waits in the socket. */
	if (!routes_commit()) {
		usleep(HANG_US);
		return;
	}
	/* After a loss the rest is from before the dump that makes up for it: an
	 * addition in there may be one whose deletion was lost. */
	while ((n = recv(netlink_fd(), buffer, sizeof(buffer), MSG_DONTWAIT)) > 0 ||
	       (n < 0 && (errno == ENOBUFS || errno == EINTR))) {
		lost |= n < 0 && errno == ENOBUFS;
		if (n > 0 && !lost)
			mnl_cb_run(buffer, (size_t)n, 0, 0, netlink_message, NULL);
	}
	if (lost || (resync && control_now >= retry))
		mirror_all();
	else
		routes_commit();
	if (routes_missed())
		resync = true;
}

void netlink_solicit_wanted(void)
{
	struct neigh neigh;

	for (unsigned int i = 0; i < SOLICIT_MAX && neigh_wanted(&neigh); i++)
		if (neigh.port < nports)
			netlink_solicit(query, &neigh);
}
