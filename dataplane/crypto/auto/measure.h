/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file measure.h
 * Measures throughput, latency and CPU cost of the crypto devices, on queue pairs of their own: workers may use the
 * devices at the same time, which makes them slower than they are.
 */
#ifndef CYGNETD_MEASURE_H
#define CYGNETD_MEASURE_H

/** The most packets in flight, for each thread. */
#define MEASURE_PACKETS 4096u
/** What it takes at the most. */
#define MEASURE_MS 60000u

/**
 * Allocate what measuring needs, in huge pages: 12 MiB for each thread. Not thread-safe.
 * @param threads  that measure at once how devices are shared, as many as there are workers; 1: that is not measured
 * @return 0 or -ENOMEM
 */
int measure_begin(unsigned int threads);
/**
 * Measure all devices with all algorithms and packet lengths into measured[]: with one thread, and fast devices with all
 * threads at once. Only encryption is measured; the result stands for both directions. Algorithms already measured
 * (measured_algorithms) are skipped, unless all had been measured when measure_begin() was called. By any thread that is no
 * lcore; the others are made by it.
 * @param limit_ms  time limit, beside that of the measurement under way
 * @return 0; -ETIME: time limit reached or measure_stop(), the next call measures the remaining algorithms; -EAGAIN: a
 *	   device failed, which is logged, or had failed before. In all cases the algorithms before measured_algorithms are measured
 */
int measure_all(unsigned int limit_ms);
/** Let measure_all() return soon. Any thread. */
void measure_stop(void);
/** Free what measure_begin() has allocated, but for what a lost device may still write to. */
void measure_end(void);

#endif
