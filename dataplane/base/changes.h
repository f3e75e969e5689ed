/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file changes.h
 * Counts changes of routes, neighbours, interfaces and crypto devices. An lcore compares the count to
 * know whether it has to look at its cached decisions (flow.h).
 */
#ifndef CYGNETD_CHANGES_H
#define CYGNETD_CHANGES_H

#include <stdint.h>

extern uint64_t changes_count;	       /* of all changes */
extern uint64_t changes_general_count; /* of those that may concern any decision */

/** Count a change that has another count or value beside this one, by which a decision sees that it is concerned: of
 * a neighbour (neigh_changes()), or of an SA's path MTU. After lcores can see the change and that count. Any thread. */
static inline void changes_note_one(void)
{
	__atomic_fetch_add(&changes_count, 1, __ATOMIC_RELEASE);
}

/** Count a change that may concern any decision, after lcores can see it. Any thread. */
static inline void changes_note(void)
{
	__atomic_fetch_add(&changes_general_count, 1, __ATOMIC_RELEASE);
	changes_note_one();
}

/** The count; read it before looking up what is to be cached. Any thread. */
static inline uint64_t changes_seen(void)
{
	return __atomic_load_n(&changes_count, __ATOMIC_ACQUIRE);
}

/** The count of changes_note() alone, read after changes_seen(). Any thread. */
static inline uint64_t changes_general(void)
{
	return __atomic_load_n(&changes_general_count, __ATOMIC_ACQUIRE);
}

#endif
