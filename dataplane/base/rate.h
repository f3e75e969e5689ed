/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file rate.h
 * A rate limit: at most a number of events a second.
 */
#ifndef CYGNETD_RATE_H
#define CYGNETD_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"


struct rate {
	uint64_t second;	/* clock_seconds() */
	unsigned int count;	/* events in that second */
};

/** Count an event. @return whether it is within the rate */
static inline bool rate_allows(struct rate *rate, unsigned int per_second)
{
	if (rate->second != clock_seconds()) {
		rate->second = clock_seconds();
		rate->count = 0;
	}
	return rate->count++ < per_second;
}

#endif
