/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file complete.h
 * The words that may be next on the command line, for the shells.
 */
#ifndef CYGNETCTL_COMPLETE_H
#define CYGNETCTL_COMPLETE_H

#include <stdio.h>

/**
 * Print the words that begin as the last one, a line each.
 * @param options  with "--" or "-", ended by NULL
 * @param argv     the words of the command line behind "cygnetctl"; the last one may be empty, or not complete
 */
void complete_words(FILE *out, const char *const *options, int argc, char **argv);

#endif
