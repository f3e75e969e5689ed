/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "host/nexthop.h"

#define SIZE_LEAST 256u

/* An id of an object, and the number of routes by it. */
struct count {
	uint32_t id;	/* 0: the place is free, and was never taken */
	uint32_t routes;
};

/* A hash with open addressing. It grows, as the number of routes by objects has no bound that is known here. */
static struct count *counts;
static uint32_t size;	/* a power of two, or 0 */
static uint32_t taken;	/* places with an id, also of no route any more; at most half of them */

/* @param size  not 0 @return the place of an id, or a free one for it */
static struct count *place_of(struct count *in, uint32_t of, uint32_t id)
{
	uint32_t at = (uint32_t)((uint64_t)id * 0x9e3779b97f4a7c15 >> 32);

	while (in[at & (of - 1)].id && in[at & (of - 1)].id != id)
		at++;
	return &in[at & (of - 1)];
}

/* Move the ids that are used to a table in which they take a quarter of the places at most. */
static int make_room(void)
{
	uint32_t used = 0, wanted = SIZE_LEAST;
	struct count *larger;

	for (uint32_t i = 0; i < size; i++)
		used += counts[i].routes > 0;
	while (wanted / 4 < used + 1)
		wanted *= 2;
	larger = calloc(wanted, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	for (uint32_t i = 0; i < size; i++)
		if (counts[i].routes)
			*place_of(larger, wanted, counts[i].id) = counts[i];
	free(counts);
	counts = larger;
	size = wanted;
	taken = used;
	return 0;
}

void nexthops_free(void)
{
	free(counts);
	counts = NULL;
	size = taken = 0;
}

int nexthop_hold(uint32_t id)
{
	struct count *count;

	if (!id)
		return 0;
	if (taken >= size / 2 && make_room())
		return -ENOMEM;
	count = place_of(counts, size, id);
	taken += !count->id;
	count->id = id;
	count->routes++;
	return 0;
}

void nexthop_release(uint32_t id)
{
	if (nexthop_is_used(id))
		place_of(counts, size, id)->routes--;
}

bool nexthop_is_used(uint32_t id)
{
	return id && size && place_of(counts, size, id)->routes;
}
