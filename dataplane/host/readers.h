/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file readers.h
 * The group that may read the telemetry. A file cannot get another group once the filter of system calls is in force
 * (system_calls.h), and the EAL makes the socket later. So a folder is the group's, /run/dpdk/PREFIX-readers, which lets
 * nobody else pass, and the socket moves there, for everybody who can reach it: PREFIX-readers/PID. Where it was is a link.
 */
#ifndef CYGNETD_READERS_H
#define CYGNETD_READERS_H

#include "conf/conf.h"

/**
 * Look the configured group up. The name service may have libraries that connect to programs: not after files_restrict().
 * @return 0; or -ENOENT, logged: there is none of the configured name. Without one of the default name the socket stays
 *	   root's
 */
int readers_find(const struct conf *conf);
/**
 * Give the group its folder, if there is a group and the process is root. A process that takes over has the folder already.
 * Failures are logged, and then the socket stays root's. Called from main() after user_prepare(), before the filter of system
 * calls.
 */
void readers_prepare(const struct conf *conf);
/** Move the socket there. Called just before user_become(). Failures are logged. */
void readers_admit(const struct conf *conf);

#endif
