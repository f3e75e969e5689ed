/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "job.h"

const char *const kind_name[KINDS] = {"cbc-sha1", "cbc", "sha1", "gcm", "chacha"};

int job_parse(struct job *job, const char *spec)
{
	char algorithm[16], direction[16] = "";

	memset(job, 0, sizeof(*job));
	if (sscanf(spec, "%15[^,],%15[^,],%15s", algorithm, job->size, direction) < 2)
		return -EINVAL;
	job->mix = strcmp(algorithm, "mix") == 0;
	job->decrypt = strcmp(direction, "decrypt") == 0;
	while (!job->mix && job->kind < KINDS && strcmp(algorithm, kind_name[job->kind]) != 0)
		job->kind++;
	/* A mix decrypts, half of the time, packets that it has encrypted. */
	if (job->kind == KINDS || (direction[0] && !job->decrypt) || (job->mix && job->decrypt))
		return -EINVAL;
	return lengths_find(&job->lengths, job->size);
}
