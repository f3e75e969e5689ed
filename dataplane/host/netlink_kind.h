/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file netlink_kind.h
 * What becomes of a message, by what it is about: routes, neighbours, links, addresses.
 * For netlink.c, which takes them in; the control thread only.
 */
#ifndef CYGNETD_NETLINK_KIND_H
#define CYGNETD_NETLINK_KIND_H

#include <libmnl/libmnl.h>

void netlink_on_route(const struct nlmsghdr *nlh);
/** What no route message says: multicast, limited broadcast and what belongs to a link are
 * the kernel's. */
void netlink_add_multicast(void);

void netlink_on_neigh(const struct nlmsghdr *nlh);

/** A link came, went or changed. If packets may take another way now, all is read anew. */
void netlink_on_link(const struct nlmsghdr *nlh);
/** Whether the kernel would forward what comes in there. */
void netlink_on_netconf(const struct nlmsghdr *nlh);

/** An address of any interface: the one that a policy is about may be a loopback's. */
void netlink_on_addr(const struct nlmsghdr *nlh);

/** Read everything anew, soon: the kernel drops routes without a word. */
void netlink_resync(void);

#endif
