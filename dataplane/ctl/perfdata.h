/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file perfdata.h
 * Numbers of the gateway's state, as the performance data of Nagios's plugins.
 */
#ifndef CYGNETCTL_PERFDATA_H
#define CYGNETCTL_PERFDATA_H

#include <jansson.h>
#include <stdio.h>

#include "judge.h"

/** @return rows with "label", "value", "unit" ("c": a counter) and, of what has a limit, "warn", "crit" and "max" */
json_t *perfdata_rows(const struct answers *answers);
/** Print the rows in the format of Nagios's plugins: "sas=2;58982;65536;0;65536 dropped=17c". */
void perfdata_print(FILE *out, const json_t *rows);

#endif
