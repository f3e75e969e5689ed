/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file nap.h
 * When a polling lcore may sleep.
 */
#ifndef CYGNETD_NAP_H
#define CYGNETD_NAP_H

/** Turns without a packet before a worker or a crypto core naps, if naps are allowed: some 10
 * microseconds. The CPU may be shared with the process that sends the next packets. */
#define NAP_TURNS 100u
#define IDLE_NAP_US 50

#endif
