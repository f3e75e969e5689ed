/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file huge_pages.h
 * The host's huge pages.
 */
#ifndef CYGNETCTL_HUGE_PAGES_H
#define CYGNETCTL_HUGE_PAGES_H

#include <jansson.h>

/** What a cygnetd with the default configuration takes, MiB, as measured. */
#define HUGE_PAGES_MIB 340u
/** Pages of 2 MiB to reserve: for one, and for two, of which one takes over. The book has them, too (docs/tests/test-book). */
#define HUGE_PAGES_ONE 192u
#define HUGE_PAGES_TWO 384u

/** @param root  "", or a folder that stands for "/". @return rows with "size" (bytes), "pages" and "free", one for each size */
json_t *huge_pages_rows(const char *root);
/** A number of the row of one size. @param field  as above. @return 0: the host has no pages of that size */
long long huge_pages_number(const json_t *rows, long long size, const char *field);

#endif
