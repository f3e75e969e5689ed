/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file measure.h
 * Measures throughput, latency and CPU cost of the crypto devices before the workers start.
 */
#ifndef CYGNETD_MEASURE_H
#define CYGNETD_MEASURE_H

/** The most packets in flight, for each worker. */
#define MEASURE_PACKETS 4096u
/** What it takes at the most, and what one measurement takes that has begun. */
#define MEASURE_MS 10000u

/**
 * Measure all devices with all algorithms and packet lengths into measured[]: on queue pair 0 of each
 * device, and for fast devices on the queue pairs of all workers at once, by their lcores. Only
 * encryption is measured; the result stands for both directions. To be called before the workers start.
 * Algorithms already measured (measured_algorithms) are skipped, unless all have been measured.
 * @param limit_ms  time limit
 * @return 0; -ETIME: time limit reached, the next call measures the remaining algorithms; -EAGAIN: a
 *	   device failed, or had failed before; -ENOMEM. The first two are logged, and the measurements so far are valid
 */
int measure_all(unsigned int workers, unsigned int limit_ms);

#endif
