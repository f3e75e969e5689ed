/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file control.h
 * The control thread (EAL's main lcore): netlink, events to charon, signals.
 */
#ifndef CYGNETD_CONTROL_H
#define CYGNETD_CONTROL_H

/** Block the signals that end cygnetd, SIGHUP and SIGUSR2. Call before the EAL creates threads. @return 0 or -errno */
int control_init(void);
/** Open netlink and mirror the kernel's tables. Call after interfaces_start().
 * @return 0 or -errno, logged */
int control_start(void);
/** Serve netlink, events and signals until a signal ends cygnetd or another process takes over.
 * @param turn    called in each iteration
 * @param reload  called for SIGHUP, and when the process that this one has taken over from has ended, which may have
 *                lost a SIGHUP; takes control_lock() */
void control_run(void (*turn)(void), void (*reload)(void));
void control_stop(void);
/** Prevent the control thread from changing interfaces and routes; for telemetry threads. */
void control_lock(void);
void control_unlock(void);

#endif
