/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file notify.h
 * Readiness notification to systemd: sd_notify(3) without libsystemd.
 */
#ifndef CYGNETD_NOTIFY_H
#define CYGNETD_NOTIFY_H

/** Send READY=1 to $NOTIFY_SOCKET, if set. */
void notify_ready(void);

#endif
