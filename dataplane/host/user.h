/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file user.h
 * The user that the process becomes when it has started. Until then it is root, because devices, huge pages and sockets
 * are root's, but of the user's group: with it both share the folder of state and that of sockets.
 */
#ifndef CYGNETD_USER_H
#define CYGNETD_USER_H

#include <stdbool.h>

#include "conf/conf.h"

/**
 * Look the configured user up. The name service may have libraries that connect to programs: not after files_restrict().
 * @return 0; or -ENOENT, logged: there is none of the configured name. Without one of the default name the process stays
 *	   root
 */
int user_find(const struct conf *conf);
/** Whether the process will become another user: it is root now, and one has been found. */
bool user_will_change(void);
/**
 * Take the user's groups, give them access to the folder of state and through that of runtime files, and lift the limit of
 * locked memory, which would be the user's. If that cannot be and the user is the default, the process stays root, and
 * says so. Called from
 * main() after user_find(), while the process has all its capabilities. A process that takes over has them already.
 * @return 0 or -errno, logged
 */
int user_prepare(const struct conf *conf);
/**
 * Become the user, in all threads, and give up the rights to do so. The main thread keeps its other capabilities, and no
 * other thread that exists has one from then on. Called before the filter of system calls, which does not let it happen.
 * @return 0 or -errno, logged
 */
int user_become(const struct conf *conf);

#endif
