/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file changes.h
 * Counts changes of routes, neighbours, interfaces and crypto devices. An lcore compares the count to
 * know whether its cached decisions are still valid (flow.h).
 */
#ifndef CYGNETD_CHANGES_H
#define CYGNETD_CHANGES_H

#include <stdint.h>

extern uint64_t changes_count;

/** Count a change, after lcores can see it. Any thread. */
static inline void changes_note(void)
{
	__atomic_fetch_add(&changes_count, 1, __ATOMIC_RELEASE);
}

/** The count; read it before looking up what is to be cached. Any thread. */
static inline uint64_t changes_seen(void)
{
	return __atomic_load_n(&changes_count, __ATOMIC_ACQUIRE);
}

#endif
