/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file stages.h
 * The rows of `show stages`: work of the stages between two requests to cygnetd.
 */
#ifndef CYGNETCTL_STAGES_H
#define CYGNETCTL_STAGES_H

#include <jansson.h>

/** Time for which `show stages` lets the workers count, ms. */
#define STAGES_MS 1000u

/**
 * Work of the stages between two answers of "/cygnet/stages".
 * @return rows with packets, vectors, packets per vector and cycles per packet; NULL: no memory, or cygnetd was
 *	   restarted between the answers
 */
json_t *stages_between(const json_t *before, const json_t *after);

#endif
