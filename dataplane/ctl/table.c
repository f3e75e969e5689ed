/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "table.h"

#define CELL 128

static void cell_text(const json_t *row, const char *key, char *text)
{
	const json_t *value = json_object_get(row, key);

	if (json_is_string(value) && json_string_length(value))
		snprintf(text, CELL, "%s", json_string_value(value));
	else if (json_is_integer(value))
		snprintf(text, CELL, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		snprintf(text, CELL, "%.*f", json_real_value(value) < 10 ? 3 : 1,
			 json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(text, CELL, "%s", json_is_true(value) ? "yes" : "no");
	else
		snprintf(text, CELL, "-");
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
}

/* Whether all values of a column that are not null are numbers. */
static bool is_number(const json_t *rows, const char *key)
{
	const json_t *row;
	bool some = false;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const json_t *value = json_object_get(row, key);

		if (json_is_number(value))
			some = true;
		else if (value && !json_is_null(value))
			return false;
	}
	return some;
}

static int column_width(const json_t *rows, const struct column *column)
{
	size_t width = strlen(column->title), i;
	const json_t *row;

	json_array_foreach(rows, i, row)
	{
		char text[CELL];

		cell_text(row, column->key, text);
		if (strlen(text) > width)
			width = strlen(text);
	}
	return (int)width;
}

/* Do not pad the last column, so that no line ends in blanks. */
static void print_cell(FILE *out, const char *text, int width, bool number, bool last)
{
	if (number)
		fprintf(out, "%*s", width, text);
	else if (last)
		fputs(text, out);
	else
		fprintf(out, "%-*s", width, text);
	fputs(last ? "\n" : "  ", out);
}

void table_print(FILE *out, const json_t *rows, const struct column *columns)
{
	int width[TABLE_MAX_COLUMNS];
	bool number[TABLE_MAX_COLUMNS];
	const json_t *row;
	size_t i;
	int n;

	for (n = 0; columns[n].key && n < TABLE_MAX_COLUMNS; n++) {
		width[n] = column_width(rows, &columns[n]);
		number[n] = is_number(rows, columns[n].key);
	}
	for (int c = 0; c < n; c++)
		print_cell(out, columns[c].title, width[c], number[c], c == n - 1);
	json_array_foreach(rows, i, row)
	{
		for (int c = 0; c < n; c++) {
			char text[CELL];

			cell_text(row, columns[c].key, text);
			print_cell(out, text, width[c], number[c], c == n - 1);
		}
	}
}

void table_output(const json_t *rows, const struct column *columns, bool json)
{
	if (json) {
		json_dumpf(rows, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		table_print(stdout, rows, columns);
	}
}
