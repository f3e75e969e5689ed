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

/** A column shows the field key of every row; numbers are right-aligned. */
struct column {
	const char *key;
	const char *title;
};

#define TABLE_MAX_COLUMNS 24

/**
 * Print rows under a line of titles. null, and fields that a row lacks, are
 * shown as "-"; control characters as "?".
 * @param columns  ended by a key of NULL, TABLE_MAX_COLUMNS at most
 */
void table_print(FILE *out, const json_t *rows, const struct column *columns);
/** Print rows to standard output, as a table or as JSON. */
void table_output(const json_t *rows, const struct column *columns, bool json);

#endif
