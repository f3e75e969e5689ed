/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file nap.h
 * When a polling lcore may sleep.
 */
#ifndef CYGNETD_NAP_H
#define CYGNETD_NAP_H

/** Loop iterations without a packet before a worker or a crypto core naps, if naps are allowed: some
 * 10 microseconds. Another process that shares the CPU may then send the next packets. */
#define NAP_TURNS   100u
#define IDLE_NAP_US 50

#endif
