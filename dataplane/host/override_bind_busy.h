/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file override_bind_busy.h
 * bind() of the whole process waits for AF_XDP queues of a process that has just been killed: the kernel
 * releases them a moment after its end.
 */
#ifndef CYGNETD_OVERRIDE_BIND_BUSY_H
#define CYGNETD_OVERRIDE_BIND_BUSY_H

#include "conf/conf.h"

/** Seconds that ports wait for busy queues, all together. */
#define BUSY_QUEUE_S 10u

/** From now on wait if a queue of a port is busy; the first one is logged. Control thread.
 * @param conf  has the ports; NULL: do not wait from now on */
void busy_queue_wait(const struct conf *conf);

#endif
