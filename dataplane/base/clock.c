/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <time.h>

#include "base/clock.h"

uint64_t clock_now;

void clock_update(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	__atomic_store_n(&clock_now, (uint64_t)ts.tv_sec, __ATOMIC_RELAXED);
}
