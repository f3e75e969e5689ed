/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "exporter/exposition.h"

const char *exposition_type(bool openmetrics)
{
	return openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			   : "text/plain; version=0.0.4; charset=utf-8";
}

/* Both formats escape in the same way in label values; in help texts there are no quotes to escape. */
static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\' || *text == '"')
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* In OpenMetrics the family of a counter has no "_total". */
static void put_header(const struct exposition *e, const char *name, const char *unit, bool counter,
		       const char *help)
{
	const char *suffix = counter && !e->openmetrics ? "_total" : "";

	fprintf(e->out, "# TYPE %s%s %s\n", name, suffix, counter ? "counter" : "gauge");
	if (unit && e->openmetrics)
		fprintf(e->out, "# UNIT %s %s\n", name, unit);
	fprintf(e->out, "# HELP %s%s ", name, suffix);
	put_escaped(e->out, help);
	fputc('\n', e->out);
}

static void put_labels(FILE *out, const struct label *labels, const json_t *row)
{
	const char *separator = "{";

	for (; labels->name; labels++) {
		const json_t *value = json_object_get(row, labels->field);

		fprintf(out, "%s%s=\"", separator, labels->name);
		if (json_is_integer(value))
			fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		else
			put_escaped(out, json_is_string(value) ? json_string_value(value) : "");
		fputc('"', out);
		separator = ",";
	}
	if (*separator == ',')
		fputc('}', out);
}

static void put_value(FILE *out, const struct family *family, const json_t *row)
{
	const json_t *value = json_object_get(row, family->field);
	const char *text = json_string_value(value);
	json_int_t number = json_integer_value(value), rate;

	switch (family->value) {
	case VALUE_NUMBER:
		fprintf(out, "%" JSON_INTEGER_FORMAT, number);
		break;
	case VALUE_UP:
		fputc(text && !strcmp(text, "up") ? '1' : '0', out);
		break;
	case VALUE_ANY:
		fputc(number ? '1' : '0', out);
		break;
	case VALUE_ONE:
		fputc('1', out);
		break;
	case VALUE_SECONDS:
		rate = json_integer_value(json_object_get(row, "cycles_per_second"));
		fprintf(out, "%.6f", rate > 0 ? (double)number / (double)rate : 0.0);
		break;
	}
}

static void put_family(const struct exposition *e, const struct family *family,
		       const struct label *labels, const json_t *rows)
{
	const json_t *row;
	size_t i;

	put_header(e, family->name, family->unit, family->counter, family->help);
	json_array_foreach(rows, i, row)
	{
		fprintf(e->out, "%s%s", family->name, family->counter ? "_total" : "");
		put_labels(e->out, labels, row);
		fputc(' ', e->out);
		put_value(e->out, family, row);
		fputc('\n', e->out);
	}
}

void exposition_table(const struct exposition *exposition, const struct table *table,
		      const json_t *rows)
{
	for (const struct family *family = table->families; rows && family->name; family++)
		put_family(exposition, family, table->labels, rows);
}

void exposition_gauge(const struct exposition *exposition, const char *name, const char *help,
		      long long value)
{
	put_header(exposition, name, NULL, false, help);
	fprintf(exposition->out, "%s %lld\n", name, value);
}

void exposition_counter(const struct exposition *exposition, const char *name, const char *help,
			long long value)
{
	put_header(exposition, name, NULL, true, help);
	fprintf(exposition->out, "%s_total %lld\n", name, value);
}

void exposition_end(const struct exposition *exposition)
{
	if (exposition->openmetrics)
		fputs("# EOF\n", exposition->out);
}
