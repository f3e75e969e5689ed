/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "table.h"

#define CELL	  512
#define GAP	  2
#define LAST_LESS 28	 /* columns that the last one keeps */
#define TEXT_LESS 4	 /* the same of other texts */
#define SHORTENED 100000 /* counters from here on are shortened */

struct shown {
	const struct column *column;
	int width;
	bool number;
	bool shorter; /* shorten counters */
};

struct layout {
	struct shown shown[TABLE_MAX_COLUMNS];
	int n;
};

/* "12.3M": three digits and a factor. */
static void shorten(json_int_t count, char *text)
{
	static const char factors[] = "kMGTPE";
	double value = (double)count;
	int factor = -1;

	while (value >= 999.5 && factors[factor + 1]) {
		value /= 1000;
		factor++;
	}
	snprintf(text, CELL, "%.*f%c",
		 value < 9.995	 ? 2
		 : value < 99.95 ? 1
				 : 0,
		 value, factors[factor]);
}

/* "59s", "2m05s", "3h10m", "12d07h" */
static void put_time(json_int_t s, char *text)
{
	if (s < 60)
		snprintf(text, CELL, "%" JSON_INTEGER_FORMAT "s", s);
	else if (s < 3600)
		snprintf(text, CELL, "%" JSON_INTEGER_FORMAT "m%02ds", s / 60, (int)(s % 60));
	else if (s < 86400)
		snprintf(text, CELL, "%" JSON_INTEGER_FORMAT "h%02dm", s / 3600,
			 (int)(s / 60 % 60));
	else
		snprintf(text, CELL, "%" JSON_INTEGER_FORMAT "d%02dh", s / 86400,
			 (int)(s / 3600 % 24));
}

static void put_integer(const struct shown *shown, json_int_t value, char *text)
{
	if (shown->column->flags & COLUMN_TIME)
		put_time(value, text);
	else if (shown->shorter && shown->column->flags & COLUMN_COUNT && value >= SHORTENED)
		shorten(value, text);
	else
		snprintf(text, CELL, "%" JSON_INTEGER_FORMAT, value);
}

/* Control characters of ASCII, and those of Unicode from U+0080 to U+009F, of which terminals know sequences, too. */
static void replace_controls(unsigned char *c)
{
	for (; *c; c++) {
		if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			c[0] = c[1] = '?';
		else if (iscntrl(*c))
			*c = '?';
	}
}

/* The texts of an array, with commas between. */
static void put_list(const json_t *list, char *text)
{
	const json_t *item;
	size_t i, used = 0;

	json_array_foreach(list, i, item)
	{
		const char *one = json_string_value(item);

		if (one && used < CELL)
			used += (size_t)snprintf(text + used, CELL - used, "%s%s", used ? ", " : "",
						 one);
	}
	if (used >= CELL)
		strcpy(text + CELL - 4, "...");
}

static void cell_text(const json_t *row, const struct shown *shown, char *text)
{
	const json_t *value = json_object_get(row, shown->column->key);

	if (json_is_string(value) && json_string_length(value))
		snprintf(text, CELL, "%s", json_string_value(value));
	else if (json_array_size(value))
		put_list(value, text);
	else if (json_is_integer(value))
		put_integer(shown, json_integer_value(value), text);
	else if (json_is_real(value))
		snprintf(text, CELL, "%.*f", json_real_value(value) < 10 ? 3 : 1,
			 json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(text, CELL, "%s", json_is_true(value) ? "yes" : "no");
	else
		snprintf(text, CELL, "-");
	replace_controls((unsigned char *)text);
}

/* Find the width that a column needs, and whether all of its values that are not null are numbers. */
static void measure(const json_t *rows, struct shown *shown)
{
	size_t width = strlen(shown->column->title), i;
	bool numbers = false, texts = false;
	const json_t *row;

	json_array_foreach(rows, i, row)
	{
		const json_t *value = json_object_get(row, shown->column->key);
		char text[CELL];

		cell_text(row, shown, text);
		width = strlen(text) > width ? strlen(text) : width;
		if (json_is_number(value))
			numbers = true;
		else if (value && !json_is_null(value))
			texts = true;
	}
	shown->width = (int)width;
	shown->number = numbers && !texts;
}

static int line_width(const struct layout *layout)
{
	int width = GAP * (layout->n - 1);

	for (int c = 0; c < layout->n; c++)
		width += layout->shown[c].width;
	return width;
}

static void shorten_counters(const json_t *rows, struct layout *layout)
{
	for (int c = 0; c < layout->n; c++) {
		if (!(layout->shown[c].column->flags & COLUMN_COUNT))
			continue;
		layout->shown[c].shorter = true;
		measure(rows, &layout->shown[c]);
	}
}

/* Take columns from a text that has more than it needs at least. */
static void narrow(struct shown *shown, int excess, int least)
{
	if (shown->number || excess <= 0 || shown->width <= least)
		return;
	shown->width = shown->width - excess > least ? shown->width - excess : least;
}

static void fit(const json_t *rows, struct layout *layout)
{
	struct shown *last = &layout->shown[layout->n - 1];

	if (line_width(layout) <= TABLE_WIDTH)
		return;
	shorten_counters(rows, layout);
	narrow(last, line_width(layout) - TABLE_WIDTH, LAST_LESS);
	while (line_width(layout) > TABLE_WIDTH) {
		struct shown *widest = NULL;

		for (int c = 0; c < layout->n - 1; c++)
			if (!layout->shown[c].number && layout->shown[c].width > TEXT_LESS &&
			    (!widest || layout->shown[c].width > widest->width))
				widest = &layout->shown[c];
		if (!widest)
			break;
		widest->width--;
	}
}

/* Cut a text to a width. */
static void cut(char *text, int width)
{
	if (strlen(text) <= (size_t)width)
		return;
	text[width - 1] = '~';
	text[width] = '\0';
}

/* Print as much of the last column as fits, to the end of a word if there is one. @return the rest */
static const char *print_part(FILE *out, const char *text, int width)
{
	int len = (int)strlen(text);

	if (len > width) {
		for (len = width; len > 0 && text[len] != ' ';)
			len--;
		if (!len)
			len = width;
	}
	fprintf(out, "%.*s\n", len, text);
	return text + len + (text[len] == ' ');
}

/* Do not pad the last column, so that no line ends in blanks. */
static void print_last(FILE *out, const struct layout *layout, const char *text)
{
	const struct shown *shown = &layout->shown[layout->n - 1];
	int indent = line_width(layout) - shown->width;

	if (shown->number) {
		fprintf(out, "%*s\n", shown->width, text);
		return;
	}
	text = print_part(out, text, shown->width);
	while (*text) {
		fprintf(out, "%*s", indent, "");
		text = print_part(out, text, shown->width);
	}
}

static void print_cell(FILE *out, const struct layout *layout, int c, char *text)
{
	const struct shown *shown = &layout->shown[c];

	if (c == layout->n - 1) {
		print_last(out, layout, text);
		return;
	}
	cut(text, shown->width);
	fprintf(out, "%*s%*s", shown->number ? shown->width : -shown->width, text, GAP, "");
}

void table_print(FILE *out, const json_t *rows, const struct column *columns, bool wide)
{
	struct layout layout = {0};
	char text[CELL];
	const json_t *row;
	size_t i;

	for (; columns->key && layout.n < TABLE_MAX_COLUMNS; columns++) {
		if (columns->flags & COLUMN_WIDE && !wide)
			continue;
		layout.shown[layout.n].column = columns;
		measure(rows, &layout.shown[layout.n++]);
	}
	if (!wide)
		fit(rows, &layout);
	for (int c = 0; c < layout.n; c++) {
		snprintf(text, sizeof(text), "%s", layout.shown[c].column->title);
		print_cell(out, &layout, c, text);
	}
	json_array_foreach(rows, i, row)
	{
		for (int c = 0; c < layout.n; c++) {
			cell_text(row, &layout.shown[c], text);
			print_cell(out, &layout, c, text);
		}
	}
}

void table_print_fields(FILE *out, const json_t *row, const struct column *fields)
{
	char text[CELL];
	int width = 0;

	for (const struct column *field = fields; field->key; field++)
		width = (int)strlen(field->title) > width ? (int)strlen(field->title) : width;
	for (; fields->key; fields++) {
		cell_text(row, &(struct shown){.column = fields}, text);
		fprintf(out, "%-*s  %s\n", width, fields->title, text);
	}
}

void table_print_json(const json_t *rows)
{
	json_dumpf(rows, stdout, JSON_INDENT(2));
	putchar('\n');
}
