/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file engines.h
 * Crypto devices and cygnetd's measurements of them.
 */
#ifndef CYGNETCTL_ENGINES_H
#define CYGNETCTL_ENGINES_H

#include <jansson.h>

/**
 * Add to each device a field "measured": its measurements, without their field "device".
 * @param devices   rows of /cygnet/engines
 * @param measured  rows of /cygnet/measured, which have numbers as strings; the caller keeps them
 * @return 0, or -ENOMEM
 */
int engines_add_measured(json_t *devices, const json_t *measured);
/**
 * The measurements of all devices for some algorithms, grouped by algorithm and length.
 * @param devices    with "measured"
 * @param algorithm  prefix of the algorithms' names
 * @return rows with a field "device"; NULL: no memory
 */
json_t *engines_measured(const json_t *devices, const char *algorithm);
/**
 * The engines that serve each algorithm. The key of a field is the length of packets; its value is an engine
 * and its rate in Gbps, "cpu 11.9", or two if another engine serves full load, "cpu 11.9, opencl 58.2".
 * @return a row for each algorithm; NULL: no memory
 */
json_t *engines_chosen(const json_t *devices);

#endif
