/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tunnels.h
 * The tunnels of the SAD (base/tunnels.h) as rows, with names, counters and lifetimes.
 */
#ifndef CYGNETCTL_TUNNELS_H
#define CYGNETCTL_TUNNELS_H

#include <jansson.h>
#include <stdint.h>

#include "cygnet.h"
#include "sa_filter.h"

/**
 * @param children  of charon_children(); NULL: the names are null
 * @param now       seconds of CLOCK_MONOTONIC
 * @return an array of objects; NULL: no memory
 */
json_t *tunnels_rows(struct cygnet_db *db, const struct sa_filter *filter, const json_t *children,
		     uint64_t now);

#endif
