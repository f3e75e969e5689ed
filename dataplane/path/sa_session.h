/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_session.h
 * The SA of a packet that is to be protected or unprotected, and its session.
 */
#ifndef CYGNETD_SA_SESSION_H
#define CYGNETD_SA_SESSION_H

#include "path/worker/worker.h"

enum sa_session {
	SA_SESSION_FOUND,
	SA_SESSION_NONE,	/* there is none, and the packet has been taken over */
	SA_SESSION_BUSY,	/* all sessions are in use, some by the crypto batch: try again after it */
};

/**
 * Find the SA that packet()->sa and ->generation name, and its session.
 * @param out  whether the packet is outbound: if its SA is gone, the policy may have another one
 * @param sa   receives the SA, valid in this turn
 * @param s    receives its session
 */
enum sa_session sa_session_find(struct worker *w, struct rte_mbuf *m, bool out,
				struct cygnet_sa **sa, struct session **s);

#endif
