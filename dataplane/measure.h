/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file measure.h
 * How fast the crypto devices are, measured before they serve.
 */
#ifndef CYGNETD_MEASURE_H
#define CYGNETD_MEASURE_H

#include <rte_mempool.h>

/** Packets that it takes, and has in flight at most. */
#define MEASURE_PACKETS 1024u

/**
 * Measure all devices with all algorithms and lengths into measured[], on queue
 * pair 0 of each, within seconds. What encrypting costs stands for both directions.
 * Before the workers start.
 * @param packets  where to take packets from; all come back
 * When the time runs out before all is measured, the rest is not; logged.
 * @return 0 or -ENOMEM
 */
int measure_all(struct rte_mempool *packets);

#endif
