/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file netlink_receive.h
 * Receives datagrams of the kernel from a netlink socket. A process with CAP_NET_ADMIN in this
 * network namespace can send to the socket as well; what it sends is discarded. Control thread only.
 */
#ifndef CYGNETD_NETLINK_RECEIVE_H
#define CYGNETD_NETLINK_RECEIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Receive one datagram of the kernel, in which mnl_cb_run() may walk.
 * @param buffer  aligned like struct nlmsghdr
 * @param size    its bytes
 * @param flags   of recvmsg()
 * @return bytes, or -errno of recvmsg(); -ENOBUFS: messages were lost, or this datagram was
 *         truncated; -EBADMSG: a length in it is wrong */
ssize_t netlink_receive(int fd, void *buffer, size_t size, int flags);

/** Whether the length of each message in a datagram is within the datagram. libmnl compares them as
 * int, in which 2^31 is negative and fits. For netlink_receive(); exposed for tests.
 * @param len  bytes of the datagram */
bool netlink_lengths_fit(const void *datagram, size_t len);

#endif
