/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_session.h
 * The SA of a packet that is to be protected or unprotected, and its session.
 */
#ifndef CYGNETD_SA_SESSION_H
#define CYGNETD_SA_SESSION_H

#include "path/worker/worker.h"

/** Of a worker's sessions, for sessions_create(); the user is the worker. */
extern const struct session_events sa_session_events;

enum sa_session {
	SA_SESSION_FOUND,
	SA_SESSION_NONE, /* there is none, and the packet has been taken over */
	SA_SESSION_BUSY, /* all sessions are in use, some by the crypto batch: try again after it */
};

/**
 * Find the SA that packet()->sa and ->generation name, and its session.
 * @param out  whether the packet is outbound: if its SA is gone, the policy may have another one
 * @param sa   receives the SA, valid in this turn
 * @param s    receives its session
 */
enum sa_session sa_session_find(struct worker *w, struct rte_mbuf *m, bool out,
				struct cygnet_sa **sa, struct session **s);

/** Check a packet against its SA and describe the crypto job. @return DROP_NONE or why it goes no
 * further */
typedef enum drop_reason (*sa_prepare)(struct rte_mbuf *m, struct cygnet_sa *sa, struct session *s,
				       struct esp_job *job);
/**
 * The stages PROTECT and UNPROTECT: prepare each packet of a vector, have its flow remembered if it is
 * accepted (inbound: once it is authentic, finish.c), and give it to a crypto device.
 * @param stage  to which packets are returned that have to wait for a session
 */
void sa_submit(struct worker *w, struct rte_mbuf **m, unsigned int n, enum stage stage,
	       sa_prepare prepare);

#endif
