/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file measure.h
 * How fast the crypto devices are, measured before they serve.
 */
#ifndef CYGNETD_MEASURE_H
#define CYGNETD_MEASURE_H

#include <rte_mempool.h>

/**
 * Measure all devices with all algorithms and lengths into measured[], on queue
 * pair 0 of each, within seconds. What encrypting costs stands for both directions.
 * Before the workers start.
 * @param packets  where to take packets from; all come back
 * @return 0; -ENOMEM, or -ETIME if the time ran out before all was measured, logged
 */
int measure_all(struct rte_mempool *packets);

#endif
