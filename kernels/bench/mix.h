/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file mix.h
 * PIPSEA's six algorithms at random through the scheduler, time of the kernel alone.
 */
#ifndef BENCH_MIX_H
#define BENCH_MIX_H

#include "launch.h"

#define MIX_CHUNK 8192 /* packets of a launch, at most */

/**
 * Launch some chunks and print a line.
 * @param spec	CHUNK,BINS,GRANULARITY,LEVEL,LENGTHS: packets of a launch, work-groups,
 *		bytes that a range of lengths has, none | algorithm | length | all, and
 *		what lengths_find() takes
 * @return 0, or -EINVAL if that cannot be
 */
int mix_run(struct bench *b, const char *spec);

#endif
