/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file watchdog.h
 * systemd's watchdog (WatchdogSec= of the unit): it hears from cygnetd only while every worker and
 * the control thread run, and otherwise restarts cygnetd. Control thread only.
 */
#ifndef CYGNETD_WATCHDOG_H
#define CYGNETD_WATCHDOG_H

/** Read the watchdog's time limit from the environment ($WATCHDOG_USEC, $WATCHDOG_PID) and begin to
 * watch. Call when the workers have been launched. Without a limit only the status is reported.
 * @param workers  number of workers */
void watchdog_start(unsigned int workers);

/** Notify systemd that cygnetd is alive if every worker has begun a turn of its loop since the last
 * notification, at most four times within the time limit; report the status (STATUS=) once a second
 * if it has changed. Log a worker that has not moved for half of the limit. Call many times a second. */
void watchdog_turn(void);

#endif
