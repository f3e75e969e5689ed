/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ini.h
 * Lines of an INI file: [section], key = value, and comments from '#' on; "\#" is the character.
 * DPDK's rte_cfgfile reports no line numbers, skips or truncates lines that it does not understand,
 * and ends at the first error.
 */
#ifndef CYGNETD_INI_H
#define CYGNETD_INI_H

enum ini_kind {
	INI_SECTION, /* name: without the brackets */
	INI_KEY,     /* name and value */
	INI_WRONG,   /* name: the reason. After a wrong [section] its keys are skipped. */
};

/** Called for each line that is not empty. The texts are valid during the call. */
typedef void ini_take(void *arg, unsigned int line, enum ini_kind kind, const char *name,
		      const char *value);

/** Read a file. @return 0 or -errno: the file cannot be read */
int ini_read(const char *path, ini_take *take, void *arg);

#endif
