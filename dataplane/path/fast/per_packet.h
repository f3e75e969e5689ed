/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file per_packet.h
 * Packets of known flows one at a time, with a struct packet: for devices that have queues, and for SAs of
 * other workers.
 */
#ifndef CYGNETD_PER_PACKET_H
#define CYGNETD_PER_PACKET_H

#include "path/fast/fast.h"

/** Protect a packet (data at its IP header, the hop taken) with session s of its flow. The crypto
 * batch is not full; takes over the packet, as all of these. */
void fast_protect(struct worker *w, struct rte_mbuf *m, struct session *s);
/** Unprotect a packet (data at its outer IP header, no options) with session s of its flow. */
void fast_unprotect(struct worker *w, struct rte_mbuf *m, struct session *s);
/** Hand a packet to the owner of the SA of its flow. */
void fast_handoff(struct worker *w, struct rte_mbuf *m, const struct flow *f);

#endif
