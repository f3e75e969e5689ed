/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file databases.h
 * The SAD and the SPD as rows. Rows are read from the shared file; cygnetd need not run.
 */
#ifndef CYGNETCTL_DATABASES_H
#define CYGNETCTL_DATABASES_H

#include <jansson.h>
#include <stdint.h>

#include "cygnet.h"
#include "sa_filter.h"

/** The row of one SA. @param sa  a snapshot. @param child  of charon_child(), may be NULL. @param now  as below */
json_t *databases_sa(const struct cygnet_sa *sa, const json_t *child, uint64_t now);
/**
 * @param children  of charon_children(); NULL: the names are null
 * @param now       seconds of CLOCK_MONOTONIC
 * @return an array of objects without keys
 */
json_t *databases_sad(struct cygnet_db *db, const struct sa_filter *filter, const json_t *children,
		      uint64_t now);
json_t *databases_spd(struct cygnet_db *db, uint64_t now);
/**
 * Fill in "passed" and "dropped" of each policy, which are null before.
 * @param rows    of databases_spd()
 * @param counts  rows of /cygnet/policies
 * @return 0 or -ENOMEM
 */
int databases_add_counts(json_t *rows, const json_t *counts);

#endif
