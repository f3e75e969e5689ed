/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file measured_file.h
 * The file of the measurements, for later starts:
 *
 *   cygnet engines FORMAT
 *   device NAME|DRIVER|VERSION			(each, in the order of preference)
 *   next ALGORITHM				(only if the time limit was reached: the first one not measured)
 *   DEVICE|ALGORITHM|BYTES|LATENCY|GBPS,GBPS,GBPS|COST	(each supported combination)
 *
 * FORMAT is a number: a file with another one is not used. DEVICE is the index of the device line, from
 * 0. The other values are those of struct measured. base/state_file.h has the checksum behind them.
 */
#ifndef CYGNETD_MEASURED_FILE_H
#define CYGNETD_MEASURED_FILE_H

#include <stddef.h>

/**
 * Read the file into measured[] and measured_algorithms.
 * @param[out] why  reason in words if the file is not used
 * @return 0; -ENOENT, -EINVAL (damaged), -ESTALE (of other devices or versions), or an error of
 *	   reading; after an error measured[] and measured_algorithms are 0
 */
int measured_read(const char *path, char *why, size_t size);
/** Replace the file atomically. @return 0 or -errno */
int measured_write(const char *path);

#endif
