/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file system_calls.h
 * Two filters (seccomp(2)): from the start one that refuses what no part of cygnetd needs, and while packets flow one
 * that lets the process make only the system calls that it needs then. It executes no program then, has no child,
 * reads no other process's memory and makes no memory executable.
 */
#ifndef CYGNETD_SYSTEM_CALLS_H
#define CYGNETD_SYSTEM_CALLS_H

#include <stdbool.h>

#include "conf/conf.h"

/**
 * Refuse system calls that no part of cygnetd needs, from its start on, and to the processes that it starts: they fail with
 * EACCES. A process that takes over has the filter already, and adds none. Nothing is done with seccomp = no. Call
 * from main() while there is one thread.
 * @return 0 or -errno, logged
 */
int system_calls_refuse(const struct conf *conf);
/**
 * Put the second filter in force for all threads, those to come as well, as conf->seccomp says. It stays until the process
 * ends. Call when all that starts programs, loads libraries or compiles is done. Control thread.
 * @param foreign  there are crypto devices whose system calls are not known: with "auto" calls that are not needed
 *		   are then logged by the kernel, not forbidden; so they are if a port's device is not a virtual one.
 *		   Programs are not executed and connections not made in any case
 * @return 0 or -errno, logged
 */
int system_calls_restrict(const struct conf *conf, bool foreign);
/** Whether a device can be opened under the filter. @param device  as in struct conf_port. Control thread. */
bool system_calls_suffice(const char *device);

#endif
