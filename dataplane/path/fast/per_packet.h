/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file per_packet.h
 * Packets of known flows one at a time, with a struct packet: for devices that have queues, for SAs of
 * other workers, and for packets that other workers hand off.
 */
#ifndef CYGNETD_PER_PACKET_H
#define CYGNETD_PER_PACKET_H

#include "path/worker/worker.h"

/** Protect a packet (data at its IP header, the hop taken) with session s of its flow. The crypto
 * batch is not full; takes over the packet, as all of these. */
void fast_protect(struct worker *w, struct rte_mbuf *m, struct session *s);
/** Unprotect a packet (data at its outer IP header, no options) with session s of its flow. */
void fast_unprotect(struct worker *w, struct rte_mbuf *m, struct session *s);
/** Hand a packet to the owner of the SA of its flow. */
void fast_handoff(struct worker *w, struct rte_mbuf *m, const struct flow *f);
/** Take a packet that another worker has handed off, if the route of its SA is known and the packet
 * is ordinary. @return false: it has to pass packet()->stage */
bool fast_handed(struct worker *w, struct rte_mbuf *m);

#endif
