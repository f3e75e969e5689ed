/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file rates.h
 * Rates a second from two answers of cygnetd.
 */
#ifndef CYGNETCTL_RATES_H
#define CYGNETCTL_RATES_H

#include <jansson.h>

/**
 * Make rows with rates of two answers. A row of `after` that `before` lacks, or whose counters have
 * shrunk because cygnetd was restarted, has rates of 0.
 * @param id       the field that identifies a row
 * @param fields   counters, which become rates in packets or bytes a second; ended by NULL
 * @param seconds  between the answers
 * @return copies of the rows of `after`; NULL: no memory
 */
json_t *rates_between(const json_t *before, const json_t *after, const char *id,
		      const char *const *fields, double seconds);
/** Add a field `to` with the megabits a second of a field `from` in bytes a second. */
void rates_add_mbit(json_t *rows, const char *from, const char *to);
/** Add a field "busy": the share of busy cycles of each worker between two answers of /cygnet/stats, percent. */
void rates_add_busy(json_t *rows, const json_t *before, const json_t *after);
/** Keep only rows whose field is not 0. */
void rates_keep(json_t *rows, const char *field);

#endif
