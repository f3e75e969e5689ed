/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file measured_file.h
 * What has been measured, in a file for the next start:
 *
 *   cygnet engines FORMAT
 *   device NAME|DRIVER|VERSION			(each, in the order of preference)
 *   next ALGORITHM				(if measuring was cut short: what to measure next)
 *   DEVICE|ALGORITHM|BYTES|LATENCY|GBPS,GBPS,GBPS|COST	(each that is served)
 *   end CRC
 *
 * FORMAT is a number: a file with another one is not used. DEVICE is the number of the line with
 * the device, from 0; the rest as in struct measured; CRC is that of Ethernet over all before its
 * line, as 8 hexadecimal digits.
 */
#ifndef CYGNETD_MEASURED_FILE_H
#define CYGNETD_MEASURED_FILE_H

#include <stddef.h>

/**
 * Read the file into measured[] and measured_algorithms.
 * @param[out] why  the reason, in words, if it is not used
 * @return 0; -ENOENT, -EINVAL (damaged), -ESTALE (of other devices or versions), or
 *	   what reading says. Both are all 0 then
 */
int measured_read(const char *path, char *why, size_t size);
/** Write it, whole or not at all. @return 0 or -errno */
int measured_write(const char *path);

#endif
