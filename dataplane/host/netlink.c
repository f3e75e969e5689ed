/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "base/log.h"
#include "host/interface.h"
#include "host/local_addr.h"
#include "host/macvlan.h"
#include "host/neigh.h"
#include "host/netlink.h"
#include "host/netlink_attr.h"
#include "host/netlink_kind.h"
#include "host/netlink_receive.h"
#include "host/route.h"

#define RECEIVE_BUFFER (4 << 20)
#define PAUSE_MS       100  /* least time between full dumps */
#define PAUSE_MOST_MS  1000 /* also after one that took longer, or failed */
#define ANSWER_S       2
#define HANG_US	       10000
#define SOLICIT_MAX    256 /* solicitations in one call; the others follow in the next one */

static struct mnl_socket *monitor, *query;
/* A full dump is needed: messages were lost, or a link or an address was removed. The kernel removes
 * the routes of such a link or address without a message. Atomic: telemetry reads it. */
static bool resync;
static uint64_t next_dump; /* earliest time of a full dump, as of clock_now_ms */
static void (*meanwhile)(void);
static uint32_t requests; /* sequence number of the last request on query */

static void set_due(bool due)
{
	__atomic_store_n(&resync, due, __ATOMIC_RELEASE);
}

void netlink_resync(void)
{
	set_due(true);
}

bool netlink_dump_is_due(void)
{
	return __atomic_load_n(&resync, __ATOMIC_ACQUIRE);
}

int netlink_message(const struct nlmsghdr *nlh, void *data)
{
	(void)data;
	switch (nlh->nlmsg_type) {
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		netlink_on_route(nlh);
		break;
	case RTM_NEWRULE:
	case RTM_DELRULE:
		/* Its place among the others is seen in a dump only. */
		if (nlh->nlmsg_flags & NLM_F_MULTI)
			netlink_on_rule(nlh);
		else
			netlink_resync();
		break;
	case RTM_NEWNEXTHOP:
	case RTM_DELNEXTHOP:
		netlink_on_nexthop(nlh);
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
		netlink_resync();
		break;
	case RTM_NEWNETCONF:
		netlink_on_netconf(nlh);
		break;
	}
	return MNL_CB_OK;
}

/* Discard the rest of an answer that was given up because the kernel's tables changed during the
 * dump. The next request must not receive it. Reading it also ends that dump in the kernel. */
static void forget_answers(void)
{
	char buffer[256];
	ssize_t n;

	do
		n = recv(mnl_socket_get_fd(query), buffer, sizeof(buffer), MSG_DONTWAIT);
	while (n >= 0 || errno == ENOBUFS || errno == EINTR);
}

static struct nlmsghdr *begin_request(char *buffer, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++requests;
	return nlh;
}

static int ask(const struct nlmsghdr *nlh)
{
	forget_answers();
	return mnl_socket_sendto(query, nlh, nlh->nlmsg_len) < 0 ? -errno : 0;
}

/* The end of a dump says whether it failed, to which libmnl pays no attention. */
static int on_done(const struct nlmsghdr *nlh, void *data)
{
	int err;

	(void)data;
	if (!netlink_has_body(nlh, sizeof(err)))
		return MNL_CB_STOP;
	memcpy(&err, mnl_nlmsg_get_payload(nlh), sizeof(err));
	if (err >= 0)
		return MNL_CB_STOP;
	errno = -err;
	return MNL_CB_ERROR;
}

static int dump(uint16_t type, uint8_t family, size_t body)
{
	mnl_cb_t controls[NLMSG_DONE + 1] = {[NLMSG_DONE] = on_done};
	char buffer[32768];
	struct nlmsghdr *nlh = begin_request(buffer, type, NLM_F_DUMP);
	ssize_t n;
	int ret;

	/* The fixed part of every request begins with the family. */
	*(uint8_t *)mnl_nlmsg_put_extra_header(nlh, body) = family;
	ret = ask(nlh);
	if (ret < 0)
		return ret;
	do {
		n = netlink_receive(mnl_socket_get_fd(query), buffer, sizeof(buffer), 0);
		if (n < 0)
			return (int)n;
		/* A million routes take seconds. */
		meanwhile();
		ret = mnl_cb_run2(buffer, (size_t)n, requests, mnl_socket_get_portid(query),
				  netlink_message, NULL, controls, RTE_DIM(controls));
	} while (ret > MNL_CB_STOP);
	return ret < 0 ? -errno : 0;
}

/* Whether the kernel has nothing of that kind or of that family. */
static bool is_unsupported(int err)
{
	return err == -EOPNOTSUPP || err == -EAFNOSUPPORT;
}

/* Dump IPv4, then IPv6. A kernel without one of them is no error. */
static int dump_both(uint16_t type, size_t body)
{
	int err = dump(type, AF_INET, body);

	if (!err || is_unsupported(err))
		err = dump(type, AF_INET6, body);
	return is_unsupported(err) ? 0 : err;
}

static int mirror_addrs(void)
{
	int err;

	local_addrs_mark();
	err = dump_both(RTM_GETADDR, sizeof(struct ifaddrmsg));
	if (!err)
		local_addrs_sweep();
	return err;
}

static int mirror_links(void)
{
	int err;

	macvlans_mark();
	err = dump(RTM_GETLINK, AF_UNSPEC, sizeof(struct ifinfomsg));
	if (!err)
		macvlans_sweep();
	return err;
}

/* Before routes: those of tables that no rule names are left out. A kernel that is built without rules has none
 * to tell, but searches its tables in the usual order. */
static int mirror_rules(uint8_t family)
{
	int err;

	netlink_rules_begin(family);
	err = dump(RTM_GETRULE, family, sizeof(struct fib_rule_hdr));
	if (!err)
		netlink_rules_end(family);
	else if (is_unsupported(err))
		routes_set_usual_tables(family);
	return is_unsupported(err) ? 0 : err;
}

/* @return 0 or -errno */
static int dump_all(void)
{
	bool committed;
	int err;

	err = mirror_links();
	if (!err)
		err = dump_both(RTM_GETNETCONF, sizeof(struct netconfmsg));
	if (!err)
		err = mirror_addrs();
	if (!err)
		err = mirror_rules(AF_INET);
	if (!err)
		err = mirror_rules(AF_INET6);
	/* The links are up to date now. A change of a link from here on needs another dump. */
	set_due(false);
	routes_mark();
	if (!err)
		err = dump_both(RTM_GETROUTE, sizeof(struct rtmsg));
	netlink_add_multicast();
	/* After an incomplete dump, routes that it did not reach may still exist. */
	if (!err)
		routes_sweep();
	committed = routes_commit();
	neighs_mark();
	if (!err)
		err = dump_both(RTM_GETNEIGH, sizeof(struct ndmsg));
	if (!err)
		neighs_sweep();
	if (!err && committed && macvlans_end_quarantine())
		netlink_resync();
	return err;
}

/* Full dumps take half of the control thread's time at most, as long as one takes less than PAUSE_MOST_MS, however
 * many messages need one. */
static void mirror_all(void)
{
	uint64_t now = clock_now_ms, began = rte_get_timer_cycles(), took, pause;
	int err = dump_all();

	took = (rte_get_timer_cycles() - began) * 1000 / rte_get_timer_hz();
	pause = took < PAUSE_MS ? PAUSE_MS : took;
	if (err || pause > PAUSE_MOST_MS)
		pause = PAUSE_MOST_MS;
	if (err) {
		log_warn("reading the kernel's routes: %s; trying again", strerror(-err));
		netlink_resync();
	}
	next_dump = now + took + pause;
}

static struct mnl_socket *open_socket(unsigned int groups)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	const int room = RECEIVE_BUFFER;

	if (!socket)
		return NULL;
	/* Best effort: with a smaller buffer messages are lost earlier, and a dump follows. */
	setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (mnl_socket_bind(socket, groups, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(socket);
		return NULL;
	}
	return socket;
}

/* Join a group that has no bit in the mask of mnl_socket_bind(). */
static int join(struct mnl_socket *socket, int group)
{
	return mnl_socket_setsockopt(socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
}

/* Limit the wait for an answer, so that the control thread is not blocked. */
static int limit_wait(struct mnl_socket *socket)
{
	const struct timeval wait = {.tv_sec = ANSWER_S};

	return setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
}

int netlink_start(void (*during_dump)(void))
{
	meanwhile = during_dump;
	/* Open the monitor before the dump: a change during the dump is then reported twice, rather
	 * than missed. */
	monitor = open_socket(RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV4_IFADDR |
			      RTMGRP_IPV4_RULE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV6_IFADDR |
			      RTMGRP_NEIGH);
	query = open_socket(0);
	if (!monitor || !query || limit_wait(query) < 0 ||
	    join(monitor, RTNLGRP_IPV4_NETCONF) < 0 || join(monitor, RTNLGRP_IPV6_NETCONF) < 0 ||
	    join(monitor, RTNLGRP_IPV6_RULE) < 0) {
		int err = -errno;

		log_error("cannot open rtnetlink: %s", strerror(-err));
		netlink_stop();
		return err;
	}
	/* A kernel that does not know the group has no such objects. */
	join(monitor, RTNLGRP_NEXTHOP);
	/* A dump that fails, because tables change meanwhile, is repeated later. */
	mirror_all();
	return 0;
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

	/* A worker hangs, so routes cannot change: messages stay in the socket. */
	if (!routes_commit()) {
		usleep(HANG_US);
		return;
	}
	/* After a loss the remaining messages are discarded, because the dump that follows is newer:
	 * the deletion of a route that they add may be among the lost messages. */
	while ((n = netlink_receive(netlink_fd(), buffer, sizeof(buffer), MSG_DONTWAIT)) > 0 ||
	       n == -ENOBUFS || n == -EBADMSG || n == -EINTR) {
		lost |= n == -ENOBUFS || n == -EBADMSG;
		if (n > 0 && !lost)
			mnl_cb_run(buffer, (size_t)n, 0, 0, netlink_message, NULL);
	}
	if (lost)
		netlink_resync();
	if (resync && clock_now_ms >= next_dump)
		mirror_all();
	else
		routes_commit();
	if (routes_missed())
		netlink_resync();
}

/* A request about one neighbour. @return 0 or -errno */
static int ask_about(const struct neigh *neigh, uint16_t type, uint16_t nlm_flags, uint8_t flags)
{
	char buffer[256];
	struct nlmsghdr *nlh = begin_request(buffer, type, nlm_flags);
	struct ndmsg *ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));

	ndm->ndm_family = neigh->af;
	ndm->ndm_ifindex = (int)macvlan_ifindex(neigh->interface, neigh->macvlan);
	ndm->ndm_flags = flags;
	mnl_attr_put(nlh, NDA_DST, netlink_addr_size(neigh->af), &neigh->addr);
	return ask(nlh);
}

static int on_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
	uint16_t *state = data;

	if (nlh->nlmsg_type == RTM_NEWNEIGH && netlink_has_body(nlh, sizeof(*ndm)))
		*state = ndm->ndm_state;
	return netlink_message(nlh, NULL);
}

/* Ask for the kernel's state of a neighbour and mirror it. The kernel does not repeat messages for
 * an unchanged neighbour, and messages from two CPUs may have arrived in the wrong order.
 * @return the NUD_ state; NUD_NONE: the kernel does not know the neighbour */
static uint16_t look_up(const struct neigh *neigh)
{
	uint16_t state = NUD_NONE;
	char buffer[4096];
	ssize_t n;

	if (ask_about(neigh, RTM_GETNEIGH, 0, 0))
		return state;
	/* The kernel has queued the answer before sendto() returns. */
	n = netlink_receive(mnl_socket_get_fd(query), buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n > 0)
		mnl_cb_run(buffer, (size_t)n, requests, mnl_socket_get_portid(query), on_answer,
			   &state);
	return state;
}

/* Like `ip neigh ... use`: the kernel sends ARP or ND as if it had a packet. Done only for an
 * unknown, stale or failed neighbour. On Linux 5.16 and newer NTF_USE would turn a permanent entry
 * into one that is neither permanent nor has an address; a neighbour without ARP would be lost. */
static void solicit(const struct neigh *neigh)
{
	uint16_t state = look_up(neigh);

	if (state == NUD_NONE)
		ask_about(neigh, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_EXCL, NTF_USE);
	else if (state & (NUD_STALE | NUD_FAILED))
		ask_about(neigh, RTM_NEWNEIGH, 0, NTF_USE);
}

int netlink_set_carrier(uint32_t ifindex, bool carrier)
{
	char buffer[256];
	struct nlmsghdr *nlh = begin_request(buffer, RTM_SETLINK, NLM_F_ACK);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ssize_t n;
	int err;

	ifi->ifi_family = AF_UNSPEC;
	ifi->ifi_index = (int)ifindex;
	mnl_attr_put_u8(nlh, IFLA_CARRIER, carrier);
	err = ask(nlh);
	if (err)
		return err;
	/* The kernel has queued the answer before sendto() returns. */
	n = netlink_receive(mnl_socket_get_fd(query), buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n < 0)
		return (int)n;
	return mnl_cb_run(buffer, (size_t)n, requests, mnl_socket_get_portid(query), NULL, NULL) < 0
		       ? -errno
		       : 0;
}

void netlink_solicit_wanted(void)
{
	struct neigh neigh;

	for (unsigned int i = 0; i < SOLICIT_MAX && neigh_wanted(&neigh); i++)
		if (neigh.interface < ninterfaces && !interfaces[neigh.interface].removed &&
		    macvlan_ifindex(neigh.interface, neigh.macvlan))
			solicit(&neigh);
}
