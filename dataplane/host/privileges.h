/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file privileges.h
 * The rights that the process keeps.
 */
#ifndef CYGNETD_PRIVILEGES_H
#define CYGNETD_PRIVILEGES_H

#include <stdbool.h>

#include "conf/conf.h"

/** Whether a capability (CAP_...) is in force in the calling thread. */
bool privileges_have(unsigned int capability);
/**
 * Give up what cygnetd does not need: programs that it executes get no more rights than it has
 * (no_new_privs), and of the capabilities CAP_NET_ADMIN, CAP_NET_RAW and CAP_IPC_LOCK stay, and CAP_SYS_ADMIN if
 * a port is of net_af_xdp or a card. A process that may not change its bounding set was started with chosen
 * capabilities, by systemd for example, and keeps the others. Called from main() before there are other threads.
 * @return 0 or -errno, logged
 */
int privileges_drop(const struct conf *conf);

#endif
