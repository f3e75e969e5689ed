/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file system_calls.h
 * A filter (seccomp(2)) that lets the process make only the system calls that it needs while packets flow. It
 * executes no program then, has no child, reads no other process's memory and makes no memory executable.
 */
#ifndef CYGNETD_SYSTEM_CALLS_H
#define CYGNETD_SYSTEM_CALLS_H

#include <stdbool.h>

#include "conf/conf.h"

/**
 * Put the filter in force for all threads, those to come as well, as conf->seccomp says. It stays until the process
 * ends. Call when all that starts programs, loads libraries or compiles is done. Control thread.
 * @param foreign  there are crypto devices whose system calls are not known: with "auto" calls that are not needed
 *		   are then logged by the kernel, not forbidden; so they are if a port's device is not a virtual one
 * @return 0 or -errno, logged
 */
int system_calls_restrict(const struct conf *conf, bool foreign);
/** Whether a device can be opened under the filter. @param device  as in struct conf_port. Control thread. */
bool system_calls_suffice(const char *device);

#endif
