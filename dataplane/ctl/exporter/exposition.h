/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file exposition.h
 * Metrics as text: OpenMetrics 1.0, or Prometheus's text format 0.0.4 for clients that do not ask for
 * OpenMetrics.
 */
#ifndef CYGNET_EXPORTER_EXPOSITION_H
#define CYGNET_EXPORTER_EXPOSITION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct exposition {
	FILE *out;
	bool openmetrics;
};

/** How a field of a row becomes a value. */
enum value {
	VALUE_NUMBER,
	VALUE_UP,      /* 1 for the text "up", otherwise 0 */
	VALUE_ANY,     /* 1 for a number other than 0 */
	VALUE_ONE,     /* always 1: the labels are what is said */
	VALUE_SECONDS, /* cycles, divided by the row's cycles_per_second */
};

/** A family of metrics, one sample for each row. */
struct family {
	const char *name;  /* ends in the unit; a counter's samples get "_total" */
	const char *unit;  /* "packets", "bytes", ..., or NULL */
	const char *field; /* of the row */
	const char *help;
	bool counter; /* otherwise a gauge */
	enum value value;
};

/** A label of all samples of a table. */
struct label {
	const char *name;
	const char *field; /* of the row: a text or an integer */
};

/** A table of cygnetd and the families that are made from it. */
struct table {
	const struct label *labels;    /* ended by a name of NULL */
	const struct family *families; /* ended by a name of NULL */
};

/** Content-Type of the format. */
const char *exposition_type(bool openmetrics);
/** Write all families of a table. @param rows  an array of objects; NULL: no samples */
void exposition_table(const struct exposition *exposition, const struct table *table,
		      const json_t *rows);
/** Write a gauge without labels. */
void exposition_gauge(const struct exposition *exposition, const char *name, const char *help,
		      long long value);
/** Write a counter without labels. */
void exposition_counter(const struct exposition *exposition, const char *name, const char *help,
			long long value);
/** Write the end. */
void exposition_end(const struct exposition *exposition);

#endif
