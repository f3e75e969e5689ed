/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file finish.h
 * Packets that a crypto device has done go on, or are dropped: one place for all of them. What
 * comes out of an SA is collected in worker.decrypted; fast/decrypted.h has it go on.
 */
#ifndef CYGNETD_FINISH_H
#define CYGNETD_FINISH_H

#include "path/worker/worker.h"

/** Finish a packet that a device has done, as packet()->status says. Takes it over.
 * @param sa  NULL: it is gone */
void finish_packet(struct worker *w, struct rte_mbuf *m, struct session *s, struct cygnet_sa *sa);
/** Finish the packets of the crypto batch, which crypto_run() has done. It is empty then.
 * worker.decrypted has room for all of them. */
void finish_batch(struct worker *w);
/** Finish packets that came back from queues and crypto cores (crypto_ready()), as many as
 * worker.decrypted has room for. @return packets */
unsigned int finish_ready(struct worker *w);

#endif
