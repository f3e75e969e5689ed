/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file control.h
 * The control thread (EAL's main lcore): netlink, events to charon, signals.
 */
#ifndef CYGNETD_CONTROL_H
#define CYGNETD_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

/** The open SAD/SPD; set before the workers start. */
extern struct cygnet_db *sadb;

/** Seconds of CLOCK_MONOTONIC, kept by the control thread for the lcores. */
extern uint64_t control_now;
/** How everybody else reads it. */
static inline uint64_t control_time(void)
{
	return __atomic_load_n(&control_now, __ATOMIC_RELAXED);
}

/** Process id of charon, 0 if there is none; kept by the control thread for the lcores. */
extern int control_charon;

/** Set by SIGTERM and SIGINT: workers drain what is in flight and return. */
extern bool control_stopping;

/**
 * Hand an event to the control thread, which posts it to charon. Lcores; never
 * blocks. @return false if the queue is full: raise it again later
 */
bool control_event(const struct cygnet_event *event);

/* Parts of the control thread's work; exposed for tests. */
/** @return 0 or -ENOMEM, logged */
int control_events_init(void);
void control_events_free(void);
/** Post to charon what lcores have handed over, as far as the file has room. What was
 * raised before the role of charon changed hands is dropped. */
void control_post_events(void);

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
