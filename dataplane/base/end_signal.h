/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file end_signal.h
 * The signals that end cygnetd, which control_init() has blocked, before the control thread serves them.
 */
#ifndef CYGNETD_END_SIGNAL_H
#define CYGNETD_END_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/** Whether this process was told to end while it initialised. */
static inline bool end_signal_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

#endif
