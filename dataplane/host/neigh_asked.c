/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "host/neigh_asked.h"

#define LATELY 120u /* seconds */
#define SECOND 0xffffffull

/* The hash of the neighbour but for its low bits, which have the second, modulo 2^24, in which it was asked for.
 * One word, so that no reader sees one neighbour's hash with another one's time. */
static uint64_t asked[NEIGH_ASKED];

void neigh_asked_note(const struct neigh *n)
{
	uint64_t hash = neigh_hash(n);

	__atomic_store_n(&asked[hash % NEIGH_ASKED], (hash & ~SECOND) | (clock_seconds() & SECOND),
			 __ATOMIC_RELAXED);
}

bool neigh_asked(const struct neigh *n, unsigned int *place)
{
	uint64_t hash = neigh_hash(n), found;

	*place = hash % NEIGH_ASKED;
	found = __atomic_load_n(&asked[*place], __ATOMIC_RELAXED);
	return !((found ^ hash) & ~SECOND) && ((clock_seconds() - found) & SECOND) < LATELY;
}
