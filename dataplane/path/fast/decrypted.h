/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file decrypted.h
 * Packets that came out of SAs. They are collected, so that their flows are prefetched when they go
 * on.
 */
#ifndef CYGNETD_FAST_DECRYPTED_H
#define CYGNETD_FAST_DECRYPTED_H

#include "path/worker/worker.h"

/**
 * Collect a packet (data at its IP header, checked), which is taken over. worker.decrypted has
 * room.
 * @param s          session of the SA
 * @param interface       that the protected packet came in by
 * @param described  its struct packet is filled in
 */
void fast_decrypted_add(struct worker *w, struct rte_mbuf *m, const struct session *s,
			unsigned int interface, bool described);
/** Have the collected packets go on: packets of known flows leave, or go into the crypto batch, which
 * is empty; the others go to STAGE_DECRYPTED. In the turn in which their SAs were there. */
void fast_decrypted(struct worker *w);

#endif
