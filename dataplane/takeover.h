/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file takeover.h
 * Another cygnetd, such as one of a newer version, takes over from the running one. On SIGUSR2 the old
 * process has its program started again with the option --take-over. A socket pair connects the two; the new
 * process has its end as TAKEOVER_FD. The new process initialises what two processes can have at once
 * (EAL, crypto devices, measurements, packet pools, ports of net_af_packet) while the old one serves. Then:
 *
 *   new to old  READY    the new process has initialised
 *   old to new  GRANTED  the old one's workers have ended, and it does not hold the dataplane's role
 *   new to old  SERVING  the new one's TAPs and workers run
 *   old to new  SERVING  systemd knows
 *
 * Then the old process ends, without a change to the TAPs, which both have open: addresses, routes and
 * neighbours stay in the kernel. If the new process ends before SERVING, the old one serves on. If the
 * old process ends before, the new one serves. The old process may have loaded another configuration meanwhile,
 * or have been told to, so the new one reads it again after GRANTED, and once more when the old one has ended.
 * All functions are for the control thread.
 */
#ifndef CYGNETD_TAKEOVER_H
#define CYGNETD_TAKEOVER_H

#include <stdbool.h>

#define TAKEOVER_FD 3

/* --- the old process --- */

/** Remember how to start the program again. Call before the working directory changes.
 * @param program  argv[0]
 * @param conf     the value of option -c; lives as long as the process */
void takeover_init(const char *program, const char *conf);
/** Fork the process that will start the new one (starter.h). Call when rights have been given up, and before there
 * are other threads. @return 0 or -errno, logged */
int takeover_prepare(void);
/** Start the new process, unless one has been started that has not ended. Errors are logged. */
void takeover_begin(void);
/** Notice that the new process is ready, or that it has ended. Call many times a second while workers run.
 * @return whether the new process is ready: end the workers, and call takeover_grant() */
bool takeover_turn(void);
/** Whether takeover_turn() has returned true, and takeover_grant() has not been called since. */
bool takeover_wanted(void);
/**
 * Let the new process serve, and wait until it does. The workers have ended; the role of the dataplane has
 * been released.
 * @return 0: the new process serves, and systemd knows it as the main process: exit; -errno, logged: it has
 *	   ended or was killed: serve on
 */
int takeover_grant(void);
/** End the new process, because this one was told to end. */
void takeover_cancel(void);

/* --- the new process --- */

/** Take TAKEOVER_FD, as the option --take-over says. @return 0; -EBADF, printed: no cygnetd has started
 * this process */
int takeover_join(void);
/** Whether this process takes over, and takeover_serving() has not been called. */
bool takeover_joined(void);
/** Ask the old process to end its workers and release the role, and wait until it has or is gone. Without takeover_join()
 * nothing happens. @return 0 or -errno, logged */
int takeover_request(void);
/** End this process if the old one waits for it: it must not stop TAPs that the old one has open. Call
 * before interfaces_stop(). */
void takeover_abandon(void);
/** Tell the old process that this one serves, and wait until systemd knows. */
void takeover_serving(void);
/** Whether the old process has ended since takeover_serving(): true once. Signals to it are lost no more. */
bool takeover_old_ended(void);

#endif
