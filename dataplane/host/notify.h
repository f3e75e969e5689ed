/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file notify.h
 * Telling systemd that cygnetd is there: sd_notify(3), without its library.
 */
#ifndef CYGNETD_NOTIFY_H
#define CYGNETD_NOTIFY_H

/** If systemd waits for it ($NOTIFY_SOCKET), say that the ports are served. */
void notify_ready(void);

#endif
