/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file table.h
 * Rows, as a JSON array of objects, printed as an aligned table.
 */
#ifndef CYGNETCTL_TABLE_H
#define CYGNETCTL_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/** How a column is shown; flags. */
enum column_flag {
	COLUMN_WIDE = 1,  /* only in a wide table */
	COLUMN_COUNT = 2, /* a counter: "12.3M" where the table is too wide */
	COLUMN_TIME = 4,  /* seconds: "2h05m" */
};

/** A column shows the field key of every row; numbers are right-aligned. */
struct column {
	const char *key;
	const char *title;
	unsigned int flags; /* enum column_flag */
};

#define TABLE_MAX_COLUMNS 32
/** Longest line of a table that is not wide. */
#define TABLE_WIDTH 100

/**
 * Print rows under a line of titles. null, and fields that a row lacks, are shown as "-"; control characters as "?".
 * A table that is not wide fits TABLE_WIDTH: counters become shorter, then a text of the last column continues in
 * further lines, then texts of the widest other columns are cut, with "~" at their end.
 * @param columns  ended by a key of NULL, TABLE_MAX_COLUMNS at most
 * @param wide     all columns, however wide they are
 */
void table_print(FILE *out, const json_t *rows, const struct column *columns, bool wide);
/** Print a row as a line for each of some fields: title and value. */
void table_print_fields(FILE *out, const json_t *row, const struct column *fields);
/** Print rows to standard output as JSON. */
void table_print_json(const json_t *rows);

#endif
