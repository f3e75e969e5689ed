/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file engines.h
 * Crypto devices, and how fast cygnetd found them.
 */
#ifndef CYGNETCTL_ENGINES_H
#define CYGNETCTL_ENGINES_H

#include <jansson.h>

/**
 * Give each device a field "measured" with its rows, without their "device".
 * @param devices   rows of /cygnet/engines
 * @param measured  rows of /cygnet/measured, whose numbers are strings; not kept
 * @return 0, or -ENOMEM
 */
int engines_add_measured(json_t *devices, const json_t *measured);
/** Of that the rows of the algorithms whose names begin so, by algorithm and length, with "device"
 * again. @return NULL: no memory */
json_t *engines_measured(const json_t *devices, const char *algorithm);
/**
 * Which engine serves what, as rows by algorithm. The length of packets is the key of a field such as
 * "cpu 11.9" or, if another one serves full load, "cpu 11.9, opencl 58.2", in Gbps.
 * @return NULL: no memory
 */
json_t *engines_chosen(const json_t *devices);

#endif
