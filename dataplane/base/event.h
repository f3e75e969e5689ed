/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file event.h
 * Events for charon (acquire, expire, NAT mapping). An lcore queues an event, the control thread
 * posts it to the event ring of the shared file.
 */
#ifndef CYGNETD_EVENT_H
#define CYGNETD_EVENT_H

#include <stdbool.h>

#include "cygnet.h"

/**
 * Queue an event. Any lcore; never blocks.
 * @return false if the queue is full: raise the event again later
 */
bool event_raise(const struct cygnet_event *event);

/* --- control thread only --- */

/** @return 0 or -ENOMEM, logged */
int events_init(void);
void events_free(void);
/**
 * Post queued events in order, until the event ring is full; the others stay queued. Events that were
 * raised for an earlier charon process are discarded, because its SAs and policies are gone.
 */
void events_post(void);

#endif
