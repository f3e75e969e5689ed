/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "routes.h"

struct entry {
	uint64_t key; /* address and length; rows without an IPv4 prefix come last */
	json_t *row;
};

static uint64_t prefix_key(const json_t *row)
{
	const char *text = json_string_value(json_object_get(row, "prefix"));
	unsigned int a, b, c, d, bits;

	if (!text || sscanf(text, "%3u.%3u.%3u.%3u/%2u", &a, &b, &c, &d, &bits) != 5)
		return UINT64_MAX;
	return (uint64_t)a << 48 | (uint64_t)b << 40 | (uint64_t)c << 32 | d << 24 | bits;
}

static int compare(const void *one, const void *other)
{
	const struct entry *a = one, *b = other;

	return a->key < b->key ? -1 : a->key > b->key;
}

int routes_sort(json_t *rows)
{
	size_t n = json_array_size(rows);
	struct entry *entries = calloc(n + 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		json_t *row = json_array_get(rows, i);

		entries[i] = (struct entry){prefix_key(row), json_incref(row)};
	}
	qsort(entries, n, sizeof(*entries), compare);
	for (size_t i = 0; i < n; i++)
		json_array_set_new(rows, i, entries[i].row);
	free(entries);
	return 0;
}
