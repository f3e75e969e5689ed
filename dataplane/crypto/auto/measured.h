/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file measured.h
 * Measurements of the crypto devices, made by measure.c, and their file for later starts:
 *
 *   cygnet engines FORMAT DEVICES
 *   device NAME|DRIVER|VERSION			(each, in the order of preference)
 *   next ALGORITHM				(only if the time limit was reached: the first one not measured)
 *   DEVICE|ALGORITHM|BYTES|LATENCY|GBPS|COST	(each supported combination, in the order of measured[])
 *
 * FORMAT is a number: a file with another one is not used. DEVICE is the index of the device line, from
 * 0. The other values are those of struct measured. base/state_file.h has the checksum behind them.
 */
#ifndef CYGNETD_MEASURED_H
#define CYGNETD_MEASURED_H

#include "base/stats.h"
#include "crypto/device/algorithm.h"

/** One device with one algorithm and packet length; all 0: not supported or not measured. */
struct measured {
	float latency_us; /* of a short burst on an idle device */
	float gbps;	  /* of a worker at full load */
	float cost_ns;	  /* CPU time per packet at full load */
};
extern struct measured measured[STATS_MAX_DEVICES][ALGORITHMS_MAX][LENGTH_CLASSES];
/** Atomic: number of measured algorithms. Those with a lower number have been measured completely; the rows of others may
 * change, and are for the thread that measures only. */
extern unsigned int measured_algorithms;

/** A device is preferred to another one if it is better by this factor. */
#define MEASURED_BETTER 1.1f
/** The fewest packets in flight of a measurement at full load. */
#define MEASURED_BATCH 32u

/**
 * Read the file into measured[] and measured_algorithms.
 * @return 0; -ENOENT, -EINVAL (damaged), -ESTALE (of other devices or versions), or an error of
 *	   reading; after an error measured[] and measured_algorithms are 0
 */
int measured_read(const char *path);
/** Replace the file atomically. @return 0 or -errno */
int measured_write(const char *path);

#endif
