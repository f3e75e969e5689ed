/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file rate.h
 * So many a second, and no more.
 */
#ifndef CYGNETD_RATE_H
#define CYGNETD_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"


struct rate {
	uint64_t second;	/* clock_seconds() */
	unsigned int count;	/* in it */
};

/** Whether one more is within the rate; it counts. */
static inline bool rate_allows(struct rate *rate, unsigned int per_second)
{
	if (rate->second != clock_seconds()) {
		rate->second = clock_seconds();
		rate->count = 0;
	}
	return rate->count++ < per_second;
}

#endif
