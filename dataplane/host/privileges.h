/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file privileges.h
 * The rights that the process keeps.
 */
#ifndef CYGNETD_PRIVILEGES_H
#define CYGNETD_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

#include "conf/conf.h"

/** Whether a capability (CAP_...) is in force in the calling thread. */
bool privileges_have(unsigned int capability);
/**
 * Give up what cygnetd does not need: programs that it executes get no more rights than it has
 * (no_new_privs), and of the capabilities CAP_NET_ADMIN, CAP_NET_RAW and CAP_IPC_LOCK stay, and CAP_SYS_ADMIN if
 * a port is of net_af_xdp or a card; until privileges_change_user() those that it needs, if
 * changes_user says that it will be called. A process that may not change its bounding set was started with chosen
 * capabilities, by systemd for example, and keeps the others. Called from main() before there are other threads.
 * @return 0 or -errno, logged
 */
int privileges_drop(const struct conf *conf, bool changes_user);
/** No core dump of this process, and no tracing by its own user. Its drivers keep keys in their sessions. To be called again
 * when user or group have changed, because the kernel takes it back then. */
void privileges_hide_memory(void);
/**
 * Make all threads a user's, which is not root. The calling thread keeps its capabilities but for those that change users
 * and signal processes of others; all other threads that exist lose theirs.
 * @return 0 or -errno; then the process has to end
 */
int privileges_change_user(uid_t uid);

#endif
