/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file rate.h
 * A rate limit: at most a number of events in an interval.
 */
#ifndef CYGNETD_RATE_H
#define CYGNETD_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct rate {
	uint64_t second;    /* clock_seconds() when the interval began */
	unsigned int count; /* events in that interval */
};

/** Whether an interval of so many seconds has had so many events. */
static inline bool rate_is_spent(const struct rate *rate, unsigned int events, unsigned int seconds)
{
	return rate->count >= events && clock_seconds() - rate->second < seconds;
}

/** Count an event. @return whether it is within so many events in so many seconds */
static inline bool rate_allows_in(struct rate *rate, unsigned int events, unsigned int seconds)
{
	if (clock_seconds() - rate->second >= seconds) {
		rate->second = clock_seconds();
		rate->count = 0;
	}
	if (rate->count >= events)
		return false;
	rate->count++;
	return true;
}

/** The same in one second. */
static inline bool rate_allows(struct rate *rate, unsigned int per_second)
{
	return rate_allows_in(rate, per_second, 1);
}

#endif
