/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "lengths.h"

static const struct {
	const char *name;
	uint32_t bytes, share;
} mixes[] = {
#define MIX_SIZE(name, bytes, share) {#name, bytes, share},
#include "mixes.def"
#undef MIX_SIZE
};

static void add(struct lengths *l, uint32_t bytes, uint32_t share)
{
	l->bytes[l->sizes] = RTE_ALIGN_CEIL(bytes, LENGTH_BLOCK);
	l->share[l->sizes++] = share;
	l->sum += share;
}

int lengths_find(struct lengths *l, const char *name)
{
	char *end;
	unsigned long bytes = strtoul(name, &end, 10);

	memset(l, 0, sizeof(*l));
	if (strcmp(name, "random") == 0) {
		l->low = 64;
		l->high = 1280;
		return 0;
	}
	if (*end == '\0' && bytes > 0 && bytes <= LENGTH_MAX)
		add(l, bytes, 1);
	for (unsigned int i = 0; i < RTE_DIM(mixes); i++) {
		if (strcmp(name, mixes[i].name) == 0)
			add(l, mixes[i].bytes, mixes[i].share);
	}
	return l->sizes ? 0 : -EINVAL;
}

uint32_t lengths_longest(const struct lengths *l)
{
	uint32_t longest = l->high;

	for (uint32_t i = 0; i < l->sizes; i++)
		longest = RTE_MAX(longest, l->bytes[i]);
	return longest;
}

uint32_t lengths_draw(const struct lengths *l, uint32_t random)
{
	uint32_t i = 0, x;

	if (l->high)
		return RTE_ALIGN_FLOOR(l->low + random % (l->high - l->low + 1), LENGTH_BLOCK);
	for (x = random % l->sum; x >= l->share[i]; i++)
		x -= l->share[i];
	return l->bytes[i];
}
