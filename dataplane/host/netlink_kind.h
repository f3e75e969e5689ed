/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file netlink_kind.h
 * Handlers of rtnetlink messages about routes, neighbours, links and addresses. netlink.c calls
 * them. Control thread only.
 */
#ifndef CYGNETD_NETLINK_KIND_H
#define CYGNETD_NETLINK_KIND_H

#include <libmnl/libmnl.h>

void netlink_on_route(const struct nlmsghdr *nlh);
/** Add local routes for multicast, limited broadcast and IPv6 link-local addresses, which the kernel
 * does not report as routes. */
void netlink_add_multicast(void);

/** A routing rule, of a dump: between netlink_rules_begin() and netlink_rules_end(), which puts the order of the
 * tables of that family in force. */
void netlink_on_rule(const struct nlmsghdr *nlh);
void netlink_rules_begin(uint8_t family);
void netlink_rules_end(uint8_t family);

/** A next-hop object or a group was added, replaced or removed. If routes use it, a full dump follows. */
void netlink_on_nexthop(const struct nlmsghdr *nlh);

void netlink_on_neigh(const struct nlmsghdr *nlh);

/** A link was added, removed or changed. If it went up or down, a full dump follows. */
void netlink_on_link(const struct nlmsghdr *nlh);
/** A forwarding setting of an interface or of all interfaces. */
void netlink_on_netconf(const struct nlmsghdr *nlh);

/** An address of any interface, also a loopback: a policy may cover that one. */
void netlink_on_addr(const struct nlmsghdr *nlh);

/** Request a full dump soon, because the kernel removes routes without messages. Several requests are one, as long
 * as the dump has not begun. */
void netlink_resync(void);

#endif
