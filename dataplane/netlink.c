/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "changes.h"
#include "control.h"
#include "log.h"
#include "neigh.h"
#include "netlink.h"
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

/* Collects the attributes up to max; a type seen twice keeps its last one. */
struct attrs {
	const struct nlattr **table;
	uint16_t max;
};

static int collect(const struct nlattr *attr, void *data)
{
	struct attrs *attrs = data;

	if (mnl_attr_get_type(attr) <= attrs->max)
		attrs->table[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

/* Those behind the fixed part of a message. mnl_attr_parse() rounds the end of
 * the message up. */
static void parse_attrs(const struct nlmsghdr *nlh, size_t body, struct attrs *attrs)
{
	size_t len = mnl_nlmsg_get_payload_len(nlh);

	body = MNL_ALIGN(body);
	if (len > body)
		mnl_attr_parse_payload(mnl_nlmsg_get_payload_offset(nlh, body), len - body,
				       collect, attrs);
}

/* An attribute of exactly that many bytes, or NULL. */
static const void *payload(const struct nlattr *attr, size_t size)
{
	return attr && mnl_attr_get_payload_len(attr) == size ? mnl_attr_get_payload(attr) : NULL;
}

static uint32_t get_u32(const struct nlattr *attr, uint32_t otherwise)
{
	const void *at = payload(attr, sizeof(uint32_t));

	if (at)
		memcpy(&otherwise, at, sizeof(otherwise));
	return otherwise;
}

static unsigned int addr_size(uint8_t af)
{
	return af == AF_INET6 ? 16 : 4;
}

static bool is_zero(const struct cygnet_addr *addr)
{
	return !addr->words[0] && !addr->words[1];
}

/* An address of that family; zero if there is none. */
static struct cygnet_addr get_addr(const struct nlattr *attr, uint8_t af)
{
	const void *at = payload(attr, addr_size(af));
	struct cygnet_addr addr = {0};

	if (at)
		memcpy(&addr, at, addr_size(af));
	return addr;
}

/* Whether a message has room for the fixed part that its type begins with. */
static bool has_body(const struct nlmsghdr *nlh, size_t size)
{
	return mnl_nlmsg_get_payload_len(nlh) >= size;
}

/* A gateway of another family, or a tunnel on the way, is left to the kernel. */
static void set_hop(struct next_hop *hop, uint8_t af, uint32_t ifindex, const struct nlattr **table)
{
	int port = port_by_ifindex(ifindex);

	*hop = (struct next_hop){.kind = ROUTE_KERNEL};
	if (port >= 0 && !table[RTA_VIA] && !table[RTA_ENCAP])
		*hop = (struct next_hop){.kind = ROUTE_FORWARD,
					 .port = (uint8_t)port,
					 .gateway = get_addr(table[RTA_GATEWAY], af)};
}

/* Of several next hops the first that leads out of a port. */
static void set_multipath(struct next_hop *hop, uint8_t af, const struct nlattr *attr)
{
	const struct rtnexthop *rtnh = mnl_attr_get_payload(attr);
	int left = mnl_attr_get_payload_len(attr);

	for (; left >= (int)sizeof(*rtnh) && RTNH_OK(rtnh, left) && hop->kind != ROUTE_FORWARD;
	     left -= (int)NLMSG_ALIGN(rtnh->rtnh_len), rtnh = RTNH_NEXT(rtnh)) {
		const struct nlattr *table[RTA_MAX + 1] = {0};
		struct attrs attrs = {table, RTA_MAX};

		mnl_attr_parse_payload(RTNH_DATA(rtnh), rtnh->rtnh_len - RTNH_LENGTH(0), collect,
				       &attrs);
		if (!(rtnh->rtnh_flags & RTNH_F_DEAD))
			set_hop(hop, af, (uint32_t)rtnh->rtnh_ifindex, table);
	}
}

/* @return false if lookups are not to know of the route */
static bool parse_hop(const struct rtmsg *rtm, const struct nlattr **table, struct route *route)
{
	struct next_hop *hop = &route->hop;

	switch (rtm->rtm_type) {
	case RTN_UNICAST:
		if (table[RTA_MULTIPATH])
			set_multipath(hop, rtm->rtm_family, table[RTA_MULTIPATH]);
		else if (!(rtm->rtm_flags & RTNH_F_DEAD))
			set_hop(hop, rtm->rtm_family, get_u32(table[RTA_OIF], 0), table);
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

static bool known_family(uint8_t af)
{
	return af == AF_INET || af == AF_INET6;
}

static void clear_host_bits(struct route *route)
{
	for (unsigned int i = route->bits / 8; i < sizeof(route->dst); i++)
		route->dst.bytes[i] &= i == route->bits / 8 ? (uint8_t)(0xff00 >> route->bits % 8) : 0;
}

static void on_route(const struct nlmsghdr *nlh)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[RTA_MAX + 1] = {0};
	struct attrs attrs = {table, RTA_MAX};
	struct route route = {0};

	if (!has_body(nlh, sizeof(*rtm)) || !known_family(rtm->rtm_family) ||
	    rtm->rtm_dst_len > addr_size(rtm->rtm_family) * 8 || rtm->rtm_src_len ||
	    (rtm->rtm_flags & RTM_F_CLONED))
		return;
	parse_attrs(nlh, sizeof(*rtm), &attrs);
	route.af = rtm->rtm_family;
	route.dst = get_addr(table[RTA_DST], route.af);
	route.bits = rtm->rtm_dst_len;
	route.tos = rtm->rtm_tos;
	route.table = get_u32(table[RTA_TABLE], rtm->rtm_table);
	route.metric = get_u32(table[RTA_PRIORITY], 0);
	if (!known_table(route.table) || !parse_hop(rtm, table, &route))
		return;
	clear_host_bits(&route);
	route.hop.nobody = route.table == ROUTE_TABLE_CHARON &&
			   route.hop.kind == ROUTE_FORWARD && is_zero(&route.hop.gateway);
	if (nlh->nlmsg_type == RTM_DELROUTE)
		route_delete(&route);
	else if (route.throws || route.hop.kind != ROUTE_NONE)
		route_add(&route, nlh->nlmsg_flags & NLM_F_REPLACE);
}

static void on_neigh(const struct nlmsghdr *nlh)
{
	const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[NDA_MAX + 1] = {0};
	struct attrs attrs = {table, NDA_MAX};
	const struct rte_ether_addr *mac;
	struct neigh neigh;
	int port;

	if (!has_body(nlh, sizeof(*ndm)) || !known_family(ndm->ndm_family))
		return;
	port = port_by_ifindex((uint32_t)ndm->ndm_ifindex);
	parse_attrs(nlh, sizeof(*ndm), &attrs);
	neigh = (struct neigh){
		.addr = get_addr(table[NDA_DST], ndm->ndm_family),
		.af = ndm->ndm_family,
		.port = (uint8_t)port,
	};
	mac = payload(table[NDA_LLADDR], sizeof(*mac));
	if (port < 0 || is_zero(&neigh.addr))
		return;
	if (nlh->nlmsg_type == RTM_NEWNEIGH && mac &&
	    (ndm->ndm_state & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT |
			       NUD_NOARP)))
		neigh_set(&neigh, mac, ndm->ndm_state & NUD_STALE);
	else
		neigh_forget(&neigh);
}

/* A TAP with another MTU than its port would lose the packets in between, so
 * one that the device cannot have is taken back. */
static void follow_mtu(struct port *port, uint32_t mtu)
{
	int err = -EINVAL;

	if (!mtu || mtu == port->mtu)
		return;
	if (mtu <= PORT_MTU_MAX)
		err = rte_eth_dev_set_mtu(port->id, (uint16_t)mtu);
	if (err) {
		log_warn("port %s: its device cannot have MTU %u, %s goes back to %u: %s",
			 port->name, mtu, port->tap_name, port->mtu, strerror(-err));
		rte_eth_dev_set_mtu(port->tap_id, port->mtu);
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

static void on_link(const struct nlmsghdr *nlh)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[IFLA_MAX + 1] = {0};
	struct attrs attrs = {table, IFLA_MAX};
	struct port *port;
	bool up;
	int index;

	if (!has_body(nlh, sizeof(*ifi)))
		return;
	index = port_by_ifindex((uint32_t)ifi->ifi_index);
	if (index < 0)
		return;
	port = &ports[index];
	up = nlh->nlmsg_type == RTM_NEWLINK && (ifi->ifi_flags & IFF_UP);
	if (up != port->up)
		resync = true;
	__atomic_store_n(&port->up, up, __ATOMIC_RELAXED);
	parse_attrs(nlh, sizeof(*ifi), &attrs);
	if (nlh->nlmsg_type != RTM_NEWLINK)
		return;
	follow_mtu(port, get_u32(table[IFLA_MTU], 0));
	follow_mac(port, payload(table[IFLA_ADDRESS], sizeof(struct rte_ether_addr)));
}

/* One that a packet from far away may carry as its source, and that stays. */
static bool is_for_errors(const struct ifaddrmsg *ifa, uint32_t flags)
{
	if (ifa->ifa_family == AF_INET)
		return ifa->ifa_scope < RT_SCOPE_LINK;
	return ifa->ifa_scope == RT_SCOPE_UNIVERSE &&
	       !(flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED | IFA_F_TEMPORARY));
}

/* Of all interfaces: the address that a policy is about may be a loopback's. */
static void on_addr(const struct nlmsghdr *nlh)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[IFA_MAX + 1] = {0};
	struct attrs attrs = {table, IFA_MAX};
	struct own_addr own;
	int port;

	if (!has_body(nlh, sizeof(*ifa)) || !known_family(ifa->ifa_family))
		return;
	parse_attrs(nlh, sizeof(*ifa), &attrs);
	port = port_by_ifindex(ifa->ifa_index);
	own = (struct own_addr){
		.addr = get_addr(table[IFA_LOCAL], ifa->ifa_family),
		.af = ifa->ifa_family,
		.port = port < 0 ? OWN_NO_PORT : (uint8_t)port,
	};
	if (is_zero(&own.addr))
		own.addr = get_addr(table[IFA_ADDRESS], ifa->ifa_family);
	if (is_zero(&own.addr))
		return;
	if (is_for_errors(ifa, get_u32(table[IFA_FLAGS], ifa->ifa_flags)))
		own_addr_add(&own);
	else
		own_addr_forget(&own);
}

/* Whether the kernel would forward what comes in there. */
static void on_netconf(const struct nlmsghdr *nlh)
{
	const struct netconfmsg *ncm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[NETCONFA_MAX + 1] = {0};
	struct attrs attrs = {table, NETCONFA_MAX};
	uint32_t ifindex;
	bool forwards;
	int port;

	if (!has_body(nlh, sizeof(*ncm)) || !known_family(ncm->ncm_family))
		return;
	parse_attrs(nlh, sizeof(*ncm), &attrs);
	if (!table[NETCONFA_FORWARDING])
		return;
	ifindex = get_u32(table[NETCONFA_IFINDEX], 0);
	forwards = get_u32(table[NETCONFA_FORWARDING], 0) != 0;
	port = port_by_ifindex(ifindex);
	if (ncm->ncm_family == AF_INET && port >= 0)
		__atomic_store_n(&ports[port].forwards, forwards, __ATOMIC_RELAXED);
	else if (ncm->ncm_family == AF_INET6 && (int32_t)ifindex == NETCONFA_IFINDEX_ALL)
		__atomic_store_n(&ports_forward6, forwards, __ATOMIC_RELAXED);
	changes_note();
}

int netlink_message(const struct nlmsghdr *nlh, void *data)
{
	(void)data;
	switch (nlh->nlmsg_type) {
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		on_route(nlh);
		break;
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		on_neigh(nlh);
		break;
	case RTM_NEWLINK:
	case RTM_DELLINK:
		on_link(nlh);
		break;
	case RTM_NEWADDR:
		on_addr(nlh);
		break;
	case RTM_DELADDR:
		resync = true;
		break;
	case RTM_NEWNETCONF:
		on_netconf(nlh);
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

/* What no route message says: multicast, limited broadcast and what belongs to a link
 * are the kernel's. */
static void add_multicast(void)
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
	add_multicast();
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

/* As `ip neigh ... use` does: the kernel sends ARP or ND as if it had a packet. */
static void solicit(const struct neigh *neigh)
{
	char buffer[256];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct ndmsg *ndm;

	nlh->nlmsg_type = RTM_NEWNEIGH;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE;
	ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));
	ndm->ndm_family = neigh->af;
	ndm->ndm_ifindex = (int)ports[neigh->port].ifindex;
	ndm->ndm_flags = NTF_USE;
	mnl_attr_put(nlh, NDA_DST, addr_size(neigh->af), &neigh->addr);
	mnl_socket_sendto(query, nlh, nlh->nlmsg_len);
	/* Without NLM_F_ACK only an error is answered; the next dump would trip over it. */
	while (recv(mnl_socket_get_fd(query), buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
		;
}

void netlink_solicit_wanted(void)
{
	struct neigh neigh;

	for (unsigned int i = 0; i < SOLICIT_MAX && neigh_wanted(&neigh); i++)
		if (neigh.port < nports)
			solicit(&neigh);
}
