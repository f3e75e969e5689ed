/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file batch.h
 * Packets of known flows that go into the crypto batch without a struct packet: everything that is
 * decided about them is known before the first byte is written, and a device of the CPU does them
 * when it is called. Their state is in the batch, in cache lines that stay in L1.
 */
#ifndef CYGNETD_BATCH_H
#define CYGNETD_BATCH_H

#include "esp/esp_tail.h"
#include "path/worker/worker.h"

/** Whether n ordinary packets of a session can go this way, if fast_batch_fits() says so of each. */
static inline bool fast_batch_takes(const struct crypto_worker *c, const struct session *s,
				    unsigned int n)
{
	/* Packets of the SA that are in flight otherwise have to leave before these. */
	return s->route.by_batch && !s->in_flight && !s->by_queue &&
	       c->batch.n + n <= CRYPTO_BATCH && crypto_may_call(c, s, s->device);
}
/** Whether the buffer of a packet has room for what is written around it. @param m  data at its IP
 * header, or at the frame's, which leaves less room than there will be */
static inline bool fast_batch_fits(const struct rte_mbuf *m, const struct session *s)
{
	return esp_front_writes_all(rte_pktmbuf_headroom(m), s->iv_len) &&
	       rte_pktmbuf_tailroom(m) >= ESP_TAIL_MAX;
}
/**
 * Put n packets of a session into the crypto batch, if fast_batch_takes() and fast_batch_fits() have
 * said yes: to be protected (data at their IP headers, the hop taken), or unprotected (data at
 * their outer headers, no options). Takes them over.
 * @param interface  that they came in by
 */
void fast_batch_add(struct worker *w, struct rte_mbuf *const *m, unsigned int n, struct session *s,
		    unsigned int interface);

#endif
