/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file busiest.h
 * The SAs with the most traffic between two looks at the SAD.
 */
#ifndef CYGNETCTL_BUSIEST_H
#define CYGNETCTL_BUSIEST_H

#include <jansson.h>

#include "cygnet.h"

/** Counters of an SA at one look. */
struct sa_look {
	uint32_t generation;
	bool live;
	uint64_t packets, bytes;
};

/** A look at all SAs. Begin with {0}. */
struct looks {
	uint32_t n;
	struct sa_look *sa; /* by slot */
};

/**
 * Look at the SAD again.
 * @param[in,out] looks  of the previous call; replaced by the counters of this call
 * @param most           rows wanted
 * @param seconds        since the previous call
 * @return the rows of the SAs with the highest rates, as `show sad` has them, with "packets" and "bytes"
 *	   as rates a second; NULL: no memory
 */
json_t *busiest_sas(struct cygnet_db *db, struct looks *looks, size_t most, double seconds);
void busiest_free(struct looks *looks);

#endif
