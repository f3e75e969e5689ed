/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file stages.h
 * The rows of `show stages`: what the stages did between two questions to cygnetd.
 */
#ifndef CYGNETCTL_STAGES_H
#define CYGNETCTL_STAGES_H

#include <jansson.h>

/** How long `show stages` lets the workers count, ms. */
#define STAGES_MS 1000u

/**
 * What stages did between two answers of "/cygnet/stages".
 * @return rows with packets, vectors, packets of a vector and cycles of a packet; NULL: no memory, or
 *	   the answers are not of the same cygnetd
 */
json_t *stages_between(const json_t *before, const json_t *after);

#endif
