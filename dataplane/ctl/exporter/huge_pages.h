/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file huge_pages.h
 * The host's huge pages.
 */
#ifndef CYGNET_EXPORTER_HUGE_PAGES_H
#define CYGNET_EXPORTER_HUGE_PAGES_H

#include <jansson.h>

/** @param folder  HUGE_PAGES_FOLDER. @return rows with "size" (bytes), "pages" and "free", one for each size */
json_t *huge_pages_rows(const char *folder);

#define HUGE_PAGES_FOLDER "/sys/kernel/mm/hugepages"

#endif
