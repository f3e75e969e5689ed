/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded into cygnetd: no netlink socket of libmnl can be bound; with NETLINK_FAULT=groups none that listens to
 * changes. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include <libmnl/libmnl.h>

__attribute__((visibility("default"))) int mnl_socket_bind(struct mnl_socket *socket,
							   unsigned int groups, pid_t pid)
{
	static int (*real)(struct mnl_socket *, unsigned int, pid_t);

	if (getenv("NETLINK_FAULT") && !groups) {
		if (!real)
			*(void **)&real = dlsym(RTLD_NEXT, "mnl_socket_bind");
		return real(socket, groups, pid);
	}
	errno = EPERM;
	return -1;
}
