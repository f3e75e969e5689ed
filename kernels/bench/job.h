/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file job.h
 * A measurement of bench-pmd: an algorithm, lengths, a direction.
 */
#ifndef BENCH_JOB_H
#define BENCH_JOB_H

#include <stdbool.h>

#include "lengths.h"

enum kind { CBC_SHA1, CBC, SHA1, GCM, CHACHA, KINDS };

/** cbc-sha1, cbc, sha1, gcm, chacha */
extern const char *const kind_name[KINDS];

struct job {
	enum kind kind;
	bool mix, decrypt;
	char size[16]; /* as it was asked for */
	struct lengths lengths;
};

/**
 * @param spec	ALGORITHM,LENGTHS or ALGORITHM,LENGTHS,decrypt
 * @return 0, or -EINVAL if that cannot be
 */
int job_parse(struct job *job, const char *spec);

#endif
