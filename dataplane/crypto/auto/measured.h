/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file measured.h
 * Measurements of the crypto devices, made by measure.c or read from the file of an earlier start
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

/** One device with one algorithm and packet length; all 0: not supported or not measured. */
struct measured {
	float latency_us;		/* of a short burst on an idle device */
	float gbps[MEASURED_STEPS];	/* of a worker, with measured_in_flight[] packets in flight */
	float cost_ns;			/* CPU time per packet at full load */
};
extern struct measured measured[STATS_MAX_DEVICES][ALGORITHMS_MAX][LENGTH_CLASSES];
/** Number of measured algorithms: those with a lower number have been measured completely. */
extern unsigned int measured_algorithms;

/** A device is preferred to another one if it is better by this factor. */
#define MEASURED_BETTER 1.1f

/** The highest throughput of a device, Gbps. */
float measured_gbps(const struct measured *m);
/** The index in measured_in_flight[] with the highest throughput. */
unsigned int measured_step(const struct measured *m);

#endif
