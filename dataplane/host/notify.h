/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file notify.h
 * Notifications to systemd: sd_notify(3) without libsystemd.
 */
#ifndef CYGNETD_NOTIFY_H
#define CYGNETD_NOTIFY_H

#include <stdbool.h>

/** Whether systemd has started this process, by a unit of Type=notify. */
bool notify_is_wanted(void);
/** Send an assignment such as "READY=1" to $NOTIFY_SOCKET, if set. The first of consecutive failures
 * is logged. Control thread. */
void notify_send(const char *state);

#endif
