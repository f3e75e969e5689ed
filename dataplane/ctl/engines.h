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
/** All of that as rows by algorithm and length, with "device" again. @return NULL: no memory */
json_t *engines_measured(const json_t *devices);

#endif
