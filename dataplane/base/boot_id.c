/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <unistd.h>

#include "base/boot_id.h"

void boot_id_read(char id[BOOT_ID_LEN + 1])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, id, BOOT_ID_LEN);

	id[len < 0 ? 0 : len] = '\0';
	if (fd >= 0)
		close(fd);
}
