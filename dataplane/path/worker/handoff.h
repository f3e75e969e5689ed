/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file handoff.h
 * Packets for other workers. They go in batches: a producer that puts one into a ring of several
 * producers waits for the cache line with the ring's head.
 */
#ifndef CYGNETD_HANDOFF_H
#define CYGNETD_HANDOFF_H

#include "path/worker/worker.h"

/** Have a packet pass a stage of a worker, which may be this one. Takes over the packet, of which
 * struct packet says what the stage asks. */
void handoff(struct worker *w, struct rte_mbuf *m, unsigned int to, enum stage stage);
/** Send what handoff() has collected. Once a turn. */
void handoff_flush(struct worker *w);

#endif
