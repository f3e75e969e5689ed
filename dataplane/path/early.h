/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file early.h
 * ESP and AH that come before their SA. A peer that answers a negotiation may use the new SA at once, while charon here still
 * handles its answer: the SPI is reserved, and the SA is not installed yet. Such packets wait EARLY_SECONDS at the most, and are
 * processed in their order when the SA is there. Linux drops them. Their number is limited by SPI and by worker: a peer whose
 * negotiation fails holds few buffers. Only charon reserves SPIs.
 */
#ifndef CYGNETD_EARLY_H
#define CYGNETD_EARLY_H

#include "path/worker/worker.h"

#define EARLY_SECONDS 3

/** Keep a packet (packet()->esp, ->seq, ->udp, ->sport set) if its SPI is reserved and there is room.
 * @return false: it has no SA and is to get none, or there is no room; the packet stays the caller's */
bool early_keep(struct worker *w, struct rte_mbuf *m, const struct early_id *id);
/** A packet of an SA has come: those that were kept for it go first. */
void early_release(struct worker *w, const struct early_id *id, struct cygnet_sa *sa);
/** Process the packets of one SPI whose SA has come, drop those that have waited too long. Called in each turn in which packets
 * wait and crypto devices have room. */
void early_turn(struct worker *w);
/** Drop all: cygnetd ends. */
void early_drop(struct worker *w);

#endif
