/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file conf_lines.h
 * Line numbers of the sections and keys of an INI file. DPDK's rte_cfgfile does not report them, and
 * silently skips or truncates lines that it does not understand.
 */
#ifndef CYGNETD_CONF_LINES_H
#define CYGNETD_CONF_LINES_H

#include <stddef.h>

#define CONF_COMMENT '#'

struct conf_lines {
	unsigned int nsections, nkeys;	/* in the file */
	unsigned int *section;		/* line numbers, in order of appearance */
	unsigned int *key;
};

/**
 * Find the lines of all sections and keys, and refuse lines that rte_cfgfile would skip, truncate or
 * misread.
 * @param error  receives "file:line: reason"
 * @return 0 or -errno; free with conf_lines_free() in either case
 */
int conf_lines_read(struct conf_lines *lines, const char *path, char *error, size_t size);
void conf_lines_free(struct conf_lines *lines);

#endif
