/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file policy_rows.h
 * Policies as samples: no two may have the same labels.
 */
#ifndef CYGNET_EXPORTER_POLICY_ROWS_H
#define CYGNET_EXPORTER_POLICY_ROWS_H

#include <jansson.h>

/** @param policies  rows of /cygnet/policies_named
 * @return rows, of which those with equal "dir", "selector", "action" and "reqid" are one, with the sum of "passed" and
 *	   "dropped"; NULL: no memory */
json_t *policy_rows(const json_t *policies);

#endif
