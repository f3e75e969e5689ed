/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"

static const char *const reals[] = {
	"gbps", "packet_ns", "core_ns", "latency_us", "pays_from_gbps", NULL,
};

static void set_real(json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	if (text)
		json_object_set_new(row, key, json_real(strtod(text, NULL)));
}

static int add_rows(json_t *device, const json_t *measured)
{
	const char *name = json_string_value(json_object_get(device, "device"));
	json_t *own = json_array(), *row;
	size_t i;

	if (!own || json_object_set_new(device, "measured", own))
		return -ENOMEM;
	json_array_foreach(measured, i, row)
	{
		const char *of = json_string_value(json_object_get(row, "device"));
		json_t *copy;

		if (!name || !of || strcmp(name, of))
			continue;
		copy = json_copy(row);
		if (json_array_append_new(own, copy))
			return -ENOMEM;
		json_object_del(copy, "device");
		for (const char *const *key = reals; *key; key++)
			set_real(copy, *key);
	}
	return 0;
}

int engines_add_measured(json_t *devices, const json_t *measured)
{
	json_t *device;
	size_t i;

	json_array_foreach(devices, i, device)
	{
		int err = add_rows(device, measured);

		if (err)
			return err;
	}
	return 0;
}

/* The place behind the last row with the same algorithm and length, or behind all rows. */
static size_t place_of(const json_t *rows, const json_t *like)
{
	size_t i = json_array_size(rows);

	while (i--) {
		const json_t *row = json_array_get(rows, i);

		if (json_equal(json_object_get(row, "algorithm"),
			       json_object_get(like, "algorithm")) &&
		    json_equal(json_object_get(row, "length"), json_object_get(like, "length")))
			return i + 1;
	}
	return json_array_size(rows);
}

static int add_row(json_t *rows, const json_t *device, json_t *measured)
{
	json_t *row = json_copy(measured);

	if (json_array_insert_new(rows, place_of(rows, measured), row))
		return -ENOMEM;
	return json_object_set(row, "device", json_object_get(device, "device"));
}

static bool has_prefix(const json_t *row, const char *algorithm)
{
	const char *name = json_string_value(json_object_get(row, "algorithm"));

	return name && !strncmp(name, algorithm, strlen(algorithm));
}

json_t *engines_measured(const json_t *devices, const char *algorithm)
{
	json_t *rows = json_array(), *device, *row;
	size_t i, j;
	int err = rows ? 0 : -ENOMEM;

	json_array_foreach(devices, i, device)
		json_array_foreach(json_object_get(device, "measured"), j,
				   row) if (!err && has_prefix(row, algorithm))
			err = add_row(rows, device, row);
	if (err) {
		json_decref(rows);
		return NULL;
	}
	return rows;
}

/* Find the row of an algorithm, or add one. @return NULL: no memory */
static json_t *row_of(json_t *rows, json_t *algorithm)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) if (json_equal(json_object_get(row, "algorithm"),
							algorithm)) return row;
	row = json_object();
	if (json_array_append_new(rows, row) || json_object_set(row, "algorithm", algorithm))
		return NULL;
	return row;
}

/* Add the engine for light load before the engine for full load. */
static int add_chosen(json_t *rows, const json_t *device, const json_t *measured)
{
	const char *engine = json_string_value(json_object_get(device, "engine"));
	const char *chosen = json_string_value(json_object_get(measured, "chosen"));
	double gbps = json_real_value(json_object_get(measured, "gbps"));
	char length[32], text[64];
	const char *other;
	json_t *row;

	if (!engine || !chosen || !chosen[0])
		return 0;
	row = row_of(rows, json_object_get(measured, "algorithm"));
	snprintf(length, sizeof(length), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(json_object_get(measured, "length")));
	other = json_string_value(json_object_get(row, length));
	if (!other)
		snprintf(text, sizeof(text), "%s %.1f", engine, gbps);
	else if (chosen[0] == 'l')
		snprintf(text, sizeof(text), "%s %.1f, %s", engine, gbps, other);
	else
		snprintf(text, sizeof(text), "%s, %s %.1f", other, engine, gbps);
	return json_object_set_new(row, length, json_string(text)) ? -ENOMEM : 0;
}

json_t *engines_chosen(const json_t *devices)
{
	json_t *rows = json_array(), *device, *measured;
	size_t i, j;
	int err = rows ? 0 : -ENOMEM;

	json_array_foreach(devices, i, device)
		json_array_foreach(json_object_get(device, "measured"), j, measured) if (!err)
			err = add_chosen(rows, device, measured);
	if (err) {
		json_decref(rows);
		return NULL;
	}
	return rows;
}
