/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file netlink.h
 * Mirrors the kernel's links, routes, neighbours and addresses from rtnetlink. Control thread only.
 */
#ifndef CYGNETD_NETLINK_H
#define CYGNETD_NETLINK_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

/** Open the sockets and mirror the kernel's tables. If the dump fails, netlink_process() repeats it.
 * @param during_dump  called many times a second while large tables are read, by the same thread
 * @return             0 or -errno, logged */
int netlink_start(void (*during_dump)(void));
void netlink_stop(void);
/** A file descriptor to poll: readable when the kernel has sent messages. */
int netlink_fd(void);
/** Handle the kernel's messages. After a loss the tables are dumped again, though not all the time: a dump waits
 * until some time after the last one, and is repeated when it fails. So call this regularly, also without
 * messages. */
void netlink_process(void);
/** Whether messages have come that need a dump which has not begun. Any thread. */
bool netlink_dump_is_due(void);
/** Ask the kernel for the state of the neighbours that lcores solicited, and to resolve or confirm
 * them. */
void netlink_solicit_wanted(void);

/** Give a TAP carrier, or take it away. @return 0 or -errno */
int netlink_set_carrier(uint32_t ifindex, bool carrier);

/** Handle one message of the kernel; exposed for tests. @return MNL_CB_OK, or MNL_CB_STOP */
int netlink_message(const struct nlmsghdr *nlh, void *data);

#endif
