/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file role.h
 * Locking of roles, for files that are not mapped.
 */
#ifndef CYGNET_ROLE_H
#define CYGNET_ROLE_H

#include <stdbool.h>

/** Take all roles of a file, until fd is closed.
 * @return 0, -EBUSY (another process holds a role), -ESTALE (path names another file), or
 *         another -errno */
int role_lock_all(int fd, const char *path);
/** Whether another process holds a role of a file. An error counts as one. */
bool role_held_any(int fd);

#endif
