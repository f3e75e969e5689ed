/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file measure.h
 * How fast the crypto devices are, measured before they serve.
 */
#ifndef CYGNETD_MEASURE_H
#define CYGNETD_MEASURE_H

#include <rte_mempool.h>

/** Packets that it takes for each worker, and has in flight at most. */
#define MEASURE_PACKETS 4096u
/** What it takes at the most, and what one measurement takes that has begun. */
#define MEASURE_MS 10000u

/**
 * Measure all devices with all algorithms and lengths into measured[], within seconds: on queue
 * pair 0 of each, and where it is worth it on those of all workers at once, by their lcores.
 * What encrypting costs stands for both directions. Before the workers start. Algorithms that have
 * been measured already (measured_algorithms) are left as they are, unless all have been.
 * @param packets   where to take packets from, for each worker; all come back
 * @param limit_ms  when that is over the rest is not measured
 * @return 0; -ETIME: the time was over, the next call measures the rest; -EAGAIN: a device has
 *	   failed. Both are logged, and what there is may be used; -ENOMEM
 */
int measure_all(struct rte_mempool *const *packets, unsigned int workers, unsigned int limit_ms);

#endif
