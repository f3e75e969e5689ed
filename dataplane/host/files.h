/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file files.h
 * The files that the process can still open, whoever it runs as: rules for paths (Landlock, landlock(7)), which the
 * processes that it starts and their successors have, too.
 */
#ifndef CYGNETD_FILES_H
#define CYGNETD_FILES_H

#include "conf/conf.h"

/**
 * Allow only what cygnetd needs from its start to its end. Programs and libraries can be read and executed, never
 * written. Written are the folders of the shared file, of the state, of DPDK's sockets, of OpenCL's caches, settings of
 * interfaces, and the devices of ports and crypto devices; beside them what the configuration names by absolute paths
 * in device, eal, opencl and paths, but for drivers (-d in eal). A missing folder that is to be written is made. Devices, sockets and files that are
 * open already are not concerned. Called from main() before there are other threads, and before the starter
 * (starter.h) is forked.
 * @return 0, also where the kernel has no Landlock, which is logged as a warning; or -errno, logged
 */
int files_restrict(const struct conf *conf);

#endif
