/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file role.h
 * The locks behind the roles.
 */
#ifndef CYGNET_ROLE_H
#define CYGNET_ROLE_H

/** Take all roles of a file that is open but not mapped, until fd is closed.
 * @return 0, -EBUSY, or -ESTALE: path names another file by now */
int role_lock_all(int fd, const char *path);

#endif
