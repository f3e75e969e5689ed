/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file routes.h
 * The rows of `show routes`, which come as cygnetd's hash table has them.
 */
#ifndef CYGNETCTL_ROUTES_H
#define CYGNETCTL_ROUTES_H

#include <jansson.h>

/** Sort rows by their field "prefix": by address, the shorter prefix first.
 * @return 0 or -ENOMEM */
int routes_sort(json_t *rows);

#endif
