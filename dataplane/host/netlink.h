/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file netlink.h
 * The kernel's links, routes and neighbours, as rtnetlink tells them. The
 * control thread only.
 */
#ifndef CYGNETD_NETLINK_H
#define CYGNETD_NETLINK_H

#include <libmnl/libmnl.h>
#include <stdint.h>

/** Open the sockets and mirror everything there is now, or as soon as the kernel can tell it.
 * @return 0 or -errno, logged */
int netlink_start(void);
void netlink_stop(void);
/** To wait for: readable when the kernel has news. */
int netlink_fd(void);
/** Take the news in. If some were lost, everything is mirrored anew; if that
 * failed, again after a while: call it now and then without news, too. */
void netlink_process(void);
/** Ask the kernel to resolve or confirm what the workers want, and what it knows of it. */
void netlink_solicit_wanted(void);

/** One message of the kernel's; exposed for tests. @return MNL_CB_OK, or MNL_CB_STOP */
int netlink_message(const struct nlmsghdr *nlh, void *data);

#endif
