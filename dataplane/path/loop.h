/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file loop.h
 * The workers' main loop: receive, run stages and crypto, send.
 */
#ifndef CYGNETD_LOOP_H
#define CYGNETD_LOOP_H

#include <stdbool.h>

#include "conf/conf.h"

/** Packets that a worker may well have in its hands at a time: at crypto devices, in
 * its inbox, waiting for a neighbour, for an SA, as early ones, or for their other fragments. */
#define WORKER_PACKETS 12288u

/** Set by the control thread: workers drain what is in flight and return. */
extern bool workers_stopping;

/** Allocate the workers' rings, pools and tables. After engines and packet pools. @return 0 or -errno */
int workers_init(const struct conf *conf, unsigned int workers);
/** The main loop of one worker (for rte_eal_remote_launch); arg is its number.
 * Returns once workers_stopping is set and nothing is in flight. */
int worker_main(void *arg);
/** Say what the workers want said. Control thread. */
void workers_report(void);
void workers_free(void);

#endif
