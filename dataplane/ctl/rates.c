/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rates.h"

static const json_t *find_row(const json_t *rows, const char *id, const json_t *value)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i,
			   row) if (json_equal(json_object_get(row, id), value)) return row;
	return NULL;
}

static json_int_t growth(const json_t *before, const json_t *after, const char *field)
{
	json_int_t then = json_integer_value(json_object_get(before, field));
	json_int_t now = json_integer_value(json_object_get(after, field));

	return before && now > then ? now - then : 0;
}

json_t *rates_between(const json_t *before, const json_t *after, const char *id,
		      const char *const *fields, double seconds)
{
	json_t *rows = json_array(), *now;
	size_t i;

	json_array_foreach(after, i, now)
	{
		const json_t *then = find_row(before, id, json_object_get(now, id));
		json_t *row = json_copy(now);

		for (const char *const *field = fields; row && *field; field++) {
			double rate = (double)growth(then, now, *field) / seconds;

			json_object_set_new(row, *field, json_integer((json_int_t)(rate + 0.5)));
		}
		if (json_array_append_new(rows, row)) {
			json_decref(rows);
			return NULL;
		}
	}
	return rows;
}

void rates_add_mbit(json_t *rows, const char *from, const char *to)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		double bytes = (double)json_integer_value(json_object_get(row, from));

		json_object_set_new(row, to, json_real(bytes * 8 / 1e6));
	}
}

void rates_add_busy(json_t *rows, const json_t *before, const json_t *after)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const json_t *id = json_object_get(row, "worker");
		const json_t *then = find_row(before, "worker", id);
		const json_t *now = find_row(after, "worker", id);
		json_int_t busy = growth(then, now, "busy_cycles"),
			   all = growth(then, now, "cycles");
		double share = all > 0 ? 100.0 * (double)busy / (double)all : 0;

		/* The counted iteration may have begun before the first answer, so limit the share. */
		json_object_set_new(row, "busy", json_real(share < 100 ? share : 100));
	}
}

void rates_keep(json_t *rows, const char *field)
{
	for (size_t i = json_array_size(rows); i-- > 0;)
		if (!json_integer_value(json_object_get(json_array_get(rows, i), field)))
			json_array_remove(rows, i);
}
