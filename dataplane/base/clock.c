/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/clock.h"

uint64_t clock_now, clock_now_ms;

void clock_update(void)
{
	clock_now_ms = clock_read_us(CLOCK_MONOTONIC) / 1000;
	__atomic_store_n(&clock_now, clock_now_ms / 1000, __ATOMIC_RELAXED);
}
