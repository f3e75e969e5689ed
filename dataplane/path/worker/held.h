/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file held.h
 * The packets of a worker that wait for an SA (path/hold.h).
 */
#ifndef CYGNETD_HELD_H
#define CYGNETD_HELD_H

#include <stdbool.h>
#include <stdint.h>

struct cygnet_policy;
struct rte_mbuf;

#define HOLD_PACKETS 256u	/* of a worker */
#define HOLD_PER_POLICY 16u
#define HOLD_SECONDS 30u	/* Linux's net.core.xfrm_acq_expires */

struct held_packet {
	struct rte_mbuf *m;	/* data at its IP header, its hop taken */
	const struct cygnet_policy *policy; /* never followed: the policy may be gone. With */
	uint32_t generation;	/* of it the policy's name */
	bool asked;		/* charon has been asked, for this or another of that policy */
	uint64_t until;		/* clock_now */
};

struct hold {
	unsigned int n;
	uint64_t changes;	/* of the SPD before it was last looked at, and */
	uint64_t second;	/* when; clock_now */
	struct held_packet packet[HOLD_PACKETS];	/* in the order in which they came */
};

#endif
