/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "perfdata.h"

static json_int_t number_of(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

/* What is used of a limit: a warning from nine tenths on, critical when it is full, as judge() has it. */
static void add_used(json_t *rows, const json_t *info, const char *used, const char *most)
{
	json_int_t max = number_of(info, most);

	json_array_append_new(rows, json_pack("{s:s, s:I, s:s, s:I, s:I, s:I}", "label", used,
					      "value", number_of(info, used), "unit", "", "warn",
					      (max * JUDGE_NEARLY_FULL + 99) / 100, "crit", max,
					      "max", max));
}

static void add(json_t *rows, const char *label, json_int_t value, const char *unit)
{
	json_array_append_new(rows, json_pack("{s:s, s:I, s:s, s:n, s:n, s:n}", "label", label,
					      "value", value, "unit", unit, "warn", "crit", "max"));
}

static json_int_t count_up(const json_t *rows)
{
	json_int_t up = 0;
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *state = json_string_value(json_object_get(row, "state"));
		const char *link = json_string_value(json_object_get(row, "link"));
		const char *kind = json_string_value(json_object_get(row, "kind"));

		if (kind && !strcmp(kind, "tunnel"))
			continue;
		up += state && !strcmp(state, "up") && (!link || !strcmp(link, "up"));
	}
	return up;
}

static json_int_t sum(const json_t *rows, const char *key)
{
	json_int_t total = 0;
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) total += number_of(row, key);
	return total;
}

json_t *perfdata_rows(const struct answers *answers)
{
	static const char *const counters[] = {"forwarded", "encapsulated", "decapsulated",
					       "dropped"};
	const json_t *info = json_array_get(answers->info, 0);
	json_t *rows = json_array();

	add_used(rows, info, "sas", "sas_max");
	add_used(rows, info, "policies", "policies_max");
	add(rows, "policies_held", number_of(info, "policies_held"), "");
	add(rows, "ports_up", count_up(answers->ports), "");
	add(rows, "engines_up", count_up(answers->engines), "");
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		add(rows, counters[i], sum(answers->stats_later, counters[i]), "c");
	return rows;
}

void perfdata_print(FILE *out, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		fprintf(out, "%s%s=%" JSON_INTEGER_FORMAT "%s", i ? " " : "",
			json_string_value(json_object_get(row, "label")), number_of(row, "value"),
			json_string_value(json_object_get(row, "unit")));
		if (json_is_integer(json_object_get(row, "max")))
			fprintf(out,
				";%" JSON_INTEGER_FORMAT ";%" JSON_INTEGER_FORMAT
				";0;%" JSON_INTEGER_FORMAT,
				number_of(row, "warn"), number_of(row, "crit"),
				number_of(row, "max"));
	}
}
