/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded into cygnetd: no netlink socket of libmnl can be bound. */
#include <errno.h>

#include <libmnl/libmnl.h>

__attribute__((visibility("default"))) int mnl_socket_bind(struct mnl_socket *socket,
							   unsigned int groups, pid_t pid)
{
	(void)socket;
	(void)groups;
	(void)pid;
	errno = EPERM;
	return -1;
}
