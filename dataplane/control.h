/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file control.h
 * The control thread (EAL's main lcore): netlink, events to charon, signals.
 */
#ifndef CYGNETD_CONTROL_H
#define CYGNETD_CONTROL_H

/** Block the signals that end us. Before EAL makes threads. @return 0 or -errno */
int control_init(void);
/** Open netlink and mirror the kernel. After the ports. @return 0 or -errno, logged */
int control_start(void);
/** Serve netlink, events and signals until one of those says stop.
 * @param report  called each time */
void control_run(void (*report)(void));
void control_stop(void);
/** Keep the control thread from changing ports and routes meanwhile; for the
 * threads that answer cygnetctl. */
void control_lock(void);
void control_unlock(void);

#endif
