/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_wait_list.h
 * The packets of a worker that wait for an SA (path/sa_wait.h).
 */
#ifndef CYGNETD_SA_WAIT_LIST_H
#define CYGNETD_SA_WAIT_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct cygnet_policy;
struct rte_mbuf;

#define SA_WAIT_PACKETS 256u	/* of a worker */
#define SA_WAIT_PER_POLICY 16u
#define SA_WAIT_SECONDS 30u	/* Linux's net.core.xfrm_acq_expires */

struct sa_wait_packet {
	struct rte_mbuf *m;	/* data at its IP header, its hop taken */
	const struct cygnet_policy *policy; /* compared, never followed: the policy may be gone */
	uint32_t generation;	/* of the policy, as its slot may be another policy's by now */
	bool asked;		/* charon has been asked, for this or another packet of that policy */
	uint64_t until;		/* clock_now */
};

struct sa_wait_list {
	unsigned int n;
	uint64_t changes;	/* cygnet_spd_changes() before sa_wait_retry() last looked up the policies */
	uint64_t second;	/* clock_seconds() of that lookup */
	struct sa_wait_packet packet[SA_WAIT_PACKETS];	/* the oldest first */
};

#endif
