/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file changes.h
 * A count of what changed about routes, neighbours, ports and crypto devices, so that an
 * lcore knows how long what it worked out from them holds (flow.h).
 */
#ifndef CYGNETD_CHANGES_H
#define CYGNETD_CHANGES_H

#include <stdint.h>

extern uint64_t changes_count;

/** Something has changed, and can be seen. Any thread. */
static inline void changes_note(void)
{
	__atomic_fetch_add(&changes_count, 1, __ATOMIC_RELEASE);
}

/** Before what is found afterwards. Any thread. */
static inline uint64_t changes_seen(void)
{
	return __atomic_load_n(&changes_count, __ATOMIC_ACQUIRE);
}

#endif
