/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file clock.h
 * The clock of lifetimes and use times, in whole seconds. The control thread reads the kernel's
 * clock, so that lcores make no system call.
 */
#ifndef CYGNETD_CLOCK_H
#define CYGNETD_CLOCK_H

#include <stdint.h>
#include <time.h>

/** A clock of the kernel, now, in microseconds: a system call. Any thread. */
static inline uint64_t clock_read_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/** Seconds of CLOCK_MONOTONIC. Written by the control thread; atomic. */
extern uint64_t clock_now;

/** Milliseconds of CLOCK_MONOTONIC. Control thread only. */
extern uint64_t clock_now_ms;

/** The time in seconds of CLOCK_MONOTONIC. Any thread. */
static inline uint64_t clock_seconds(void)
{
	return __atomic_load_n(&clock_now, __ATOMIC_RELAXED);
}

/** Read the kernel's clock. Control thread, many times a second. */
void clock_update(void);

#endif
