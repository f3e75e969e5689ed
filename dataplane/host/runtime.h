/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file runtime.h
 * The EAL's runtime folder, /run/dpdk/PREFIX, which has the sockets of telemetry and capture. Two
 * processes cannot share it. A process that takes over from another one uses PREFIX-PID; once it serves, the
 * sockets' places in the usual folder are links to its sockets, so that cygnetctl finds them. Control thread
 * only.
 */
#ifndef CYGNETD_RUNTIME_H
#define CYGNETD_RUNTIME_H

#include <stddef.h>

#include "conf/conf.h"

/** Name of the socket in that folder. */
#define RUNTIME_TELEMETRY "dpdk_telemetry.v2"

/** The folder that has the folders of all prefixes, by the EAL's rule for the user that the process had at the first call. */
void runtime_parent(char *path, size_t size);
/** The folder of the configured prefix: that of the process that serves, or of links to its sockets. "": too long. */
void runtime_folder(const struct conf *conf, char *path, size_t size);
/** The --file-prefix of this process while another one has the configured one. */
void runtime_prefix(const struct conf *conf, char *prefix, size_t size);
/** Lead the usual sockets to this process, which was started with runtime_prefix(). Failures are logged. */
void runtime_link(const struct conf *conf);
/** Remove the folder of this process, if it was started with runtime_prefix(), and the links to it. */
void runtime_leave(const struct conf *conf);
/** Remove what processes have left that were killed, or could not remove it as another user than root. Call before the
 * EAL starts with the configured prefix. */
void runtime_clean(const struct conf *conf);
/** Let the group of this process use its folder, which the EAL has made. A failure is logged. */
void runtime_share(void);

#endif
