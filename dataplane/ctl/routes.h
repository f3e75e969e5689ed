/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file routes.h
 * Sort the rows of `show routes`, which cygnetd sends in the order of its hash table.
 */
#ifndef CYGNETCTL_ROUTES_H
#define CYGNETCTL_ROUTES_H

#include <jansson.h>

/** Sort rows by their field "prefix": by address, the shorter prefix first.
 * @return 0 or -ENOMEM */
int routes_sort(json_t *rows);

#endif
