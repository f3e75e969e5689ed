/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file measured.h
 * What has been measured of the crypto devices: by measure.c, or at an earlier start
 * (measured_file.h).
 */
#ifndef CYGNETD_MEASURED_H
#define CYGNETD_MEASURED_H

#include <stdint.h>

#include "base/stats.h"
#include "crypto/device/algorithm.h"

/** Packets in flight at which a device's throughput is measured. */
#define MEASURED_STEPS 3u
extern const uint16_t measured_in_flight[MEASURED_STEPS];

/** How one device does with one algorithm and length; all 0: not, or not measured. */
struct measured {
	float latency_us;		/* of a burst of a few packets, alone */
	float gbps[MEASURED_STEPS];	/* a worker's, with measured_in_flight[] packets */
	float cost_ns;			/* of the core's time, per packet at full load */
};
extern struct measured measured[STATS_MAX_DEVICES][ALGORITHMS_MAX][LENGTH_CLASSES];
/** Algorithms that have been measured completely, the first ones; the others are still to be measured. */
extern unsigned int measured_algorithms;

/** Times another, to be preferred to it. */
#define MEASURED_BETTER 1.1f

/** The most that a device does, Gbps. */
float measured_gbps(const struct measured *m);
/** With how many packets in flight: the index in measured_in_flight[]. */
unsigned int measured_step(const struct measured *m);

#endif
