/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file worker.h
 * The lcores that carry packets. Worker 0 to n-1; worker w polls every queue q
 * of a port with q % workers == w (a port with one queue is worker port % n's)
 * and the TAPs likewise. An SA belongs to the worker its slot number names, so
 * that its sequence numbers, replay window and order have one owner; packets
 * of others' SAs are handed over through rings.
 */
#ifndef CYGNETD_WORKER_H
#define CYGNETD_WORKER_H

#include <stdbool.h>

#include "conf/conf.h"

/** Packets that a worker may well have in its hands at a time: at crypto devices, in
 * its inbox, waiting for a neighbour, for an SA or for their other fragments. */
#define WORKER_PACKETS 12288u

/** Turns without a packet before a worker or a crypto core naps, if naps are allowed: some 10
 * microseconds. Who shares the CPU may be who has the next packets. */
#define NAP_TURNS 100u
#define IDLE_NAP_US 50

/** Set by the control thread: workers drain what is in flight and return. */
extern bool workers_stopping;

/** Allocate the workers' rings, pools and tables. After ports and engines. @return 0 or -errno */
int workers_init(const struct conf *conf, unsigned int workers);
/** The main loop of one worker (for rte_eal_remote_launch); arg is its number.
 * Returns once workers_stopping is set and nothing is in flight. */
int worker_main(void *arg);
/** Say what the workers want said. Control thread. */
void workers_report(void);
void workers_free(void);

#endif
