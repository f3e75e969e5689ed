/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file info.h
 * Versions, processes and the configuration in force: show info.
 */
#ifndef CYGNETCTL_INFO_H
#define CYGNETCTL_INFO_H

#include <jansson.h>
#include <stdio.h>

#include "options.h"

/**
 * Add to the row of /cygnet/info what else is to be said.
 * @param fd    of cygnetd's telemetry
 * @param rows  an array with one row
 * @return 0, or -EPROTO with the reason in error
 */
int info_add(int fd, const struct options *options, json_t *rows, char *error, size_t size);
/** Print the row as two tables: a line for each field, and the keys of the configuration that are not as by default.
 * @param wide  all keys */
void info_print(FILE *out, const json_t *rows, bool wide);

#endif
