/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file report.h
 * Errors and notes on standard error: a line "cygnetctl: TEXT", with --json an object in one line with "error"; a note
 * is not told, as fields that are null say the same.
 */
#ifndef CYGNETCTL_REPORT_H
#define CYGNETCTL_REPORT_H

#include "options.h"

/** Report why a command fails. @param status  exit status. @return status */
int report_error(const struct options *options, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/**
 * Report a word that a list does not have: the nearest one that it has, or all of them.
 * @param what  that the word should be: "command"
 * @param list  ended by NULL
 * @return 2, the exit status for a wrong command line
 */
int report_word(const struct options *options, const char *what, const char *word,
		const char *const *list);
/** Report what the output lacks, and why. */
void report_note(const struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
