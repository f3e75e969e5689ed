/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stages.h"

static json_int_t grown(const json_t *before, const json_t *after, const char *key)
{
	return json_integer_value(json_object_get(after, key)) -
	       json_integer_value(json_object_get(before, key));
}

/* Rounded quotient; null without a divisor. */
static json_t *share(json_int_t part, json_int_t of)
{
	return of > 0 ? json_integer((part + of / 2) / of) : json_null();
}

static json_t *row_between(const json_t *before, const json_t *after)
{
	json_int_t packets = grown(before, after, "packets"),
		   vectors = grown(before, after, "vectors");
	json_t *row = json_object();

	if (row && (json_object_set(row, "stage", json_object_get(after, "stage")) ||
		    json_object_set_new(row, "packets", json_integer(packets)) ||
		    json_object_set_new(row, "vectors", json_integer(vectors)) ||
		    json_object_set_new(row, "packets_per_vector", share(packets, vectors)) ||
		    json_object_set_new(row, "cycles_per_packet",
					share(grown(before, after, "cycles"), packets)) ||
		    json_object_set(row, "help", json_object_get(after, "help")))) {
		json_decref(row);
		return NULL;
	}
	return row;
}

json_t *stages_between(const json_t *before, const json_t *after)
{
	json_t *rows = json_array();

	if (json_array_size(before) != json_array_size(after)) {
		json_decref(rows);
		return NULL;
	}
	for (size_t i = 0; rows && i < json_array_size(after); i++) {
		if (json_array_append_new(rows, row_between(json_array_get(before, i),
							    json_array_get(after, i)))) {
			json_decref(rows);
			return NULL;
		}
	}
	return rows;
}
