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

/**
 * Measure all devices with all algorithms and lengths into measured[], within seconds: on queue
 * pair 0 of each, and where it is worth it on those of all workers at once, by their lcores.
 * What encrypting costs stands for both directions. Before the workers start.
 * @param packets  where to take packets from, for each worker; all come back
 * When the time runs out before all is measured, the rest is not; logged.
 * @return 0 or -ENOMEM
 */
int measure_all(struct rte_mempool *const *packets, unsigned int workers);

#endif
