/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file slowdown.h
 * Time limits of tests on a slow or busy machine (testing/lib/wait.sh).
 */
#ifndef CYGNET_SLOWDOWN_H
#define CYGNET_SLOWDOWN_H

#include <stdlib.h>

/** What a time limit is multiplied by: CYGNET_SLOWDOWN of the environment, or 1. */
static inline unsigned int slowdown(void)
{
	const char *text = getenv("CYGNET_SLOWDOWN");
	long times = text ? strtol(text, NULL, 10) : 1;

	return times > 1 && times < 1000 ? (unsigned int)times : 1;
}

#endif
