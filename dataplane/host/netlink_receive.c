/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "host/netlink_receive.h"

bool netlink_lengths_fit(const void *datagram, size_t len)
{
	const char *message = datagram;
	struct nlmsghdr header;

	while (len) {
		size_t step;

		if (len < sizeof(header))
			return false;
		memcpy(&header, message, sizeof(header));
		if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > len)
			return false;
		/* The last message may lack its padding. */
		step = NLMSG_ALIGN((size_t)header.nlmsg_len);
		if (step >= len)
			return true;
		message += step;
		len -= step;
	}
	return true;
}

static bool is_kernel(const struct sockaddr_nl *from, socklen_t len)
{
	return len == sizeof(*from) && from->nl_family == AF_NETLINK && from->nl_pid == 0;
}

ssize_t netlink_receive(int fd, void *buffer, size_t size, int flags)
{
	struct iovec iov = {.iov_base = buffer, .iov_len = size};
	struct sockaddr_nl from;
	struct msghdr msg;
	ssize_t n;

	do {
		msg = (struct msghdr){
			.msg_name = &from,
			.msg_namelen = sizeof(from),
			.msg_iov = &iov,
			.msg_iovlen = 1,
		};
		n = recvmsg(fd, &msg, flags);
		if (n < 0)
			return -errno;
	} while (!is_kernel(&from, msg.msg_namelen));
	if (msg.msg_flags & MSG_TRUNC)
		return -ENOBUFS;
	return netlink_lengths_fit(buffer, (size_t)n) ? n : -EBADMSG;
}
