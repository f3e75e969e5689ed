/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "host/notify.h"

static int send_to(const char *path, const char *text)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	size_t len = strlen(path);
	int fd, err = 0;

	if (len > sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, len);
	if (path[0] == '@') /* an abstract name */
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&addr,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
		err = -errno;
	close(fd);
	return err;
}

bool notify_is_wanted(void)
{
	return getenv("NOTIFY_SOCKET") != NULL;
}

void notify_send(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	static bool failed;
	int err = path ? send_to(path, state) : 0;

	if (err && !failed)
		log_warn("NOTIFY_SOCKET is %s: cannot send %s to systemd: %s", path, state,
			 strerror(-err));
	failed = err != 0;
}
