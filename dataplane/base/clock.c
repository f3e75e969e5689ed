/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <time.h>

#include "base/clock.h"

uint64_t clock_now, clock_now_ms;

void clock_update(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	clock_now_ms = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
	__atomic_store_n(&clock_now, (uint64_t)ts.tv_sec, __ATOMIC_RELAXED);
}
