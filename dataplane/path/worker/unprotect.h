/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file unprotect.h
 * What each inbound packet of an SA passes, of a known flow or not.
 */
#ifndef CYGNETD_UNPROTECT_H
#define CYGNETD_UNPROTECT_H

#include "esp/ah.h"
#include "esp/esp.h"
#include "path/worker/verdict.h"

/**
 * Infer a received packet's sequence number, ask the replay window whether it may be new, and
 * describe the crypto job. The worker of the SA.
 * @param m    data at its outer IP header, packet()->esp set, the low half of the number in ->seq
 * @param job  receives what the device is to do
 * @return DROP_NONE or why the packet goes no further
 */
static inline enum drop_reason unprotect_prepare(struct rte_mbuf *m, struct cygnet_sa *sa,
						 struct session *s, struct esp_job *job)
{
	struct packet *p = packet(m);

	if (m->nb_segs != 1)
		return DROP_NO_BUFFER;
	p->seq = cygnet_replay_seq(sa, (uint32_t)p->seq);
	if (!verdict_may_be_new(sa, p->seq))
		return DROP_REPLAY;
	return s->ah ? ah_in_prepare(m, s, job) : esp_in_prepare(m, s, job);
}

#endif
