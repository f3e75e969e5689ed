/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file crypt_row.h
 * Packets of whatever SAs for crypto devices that work when they are called. A multi-buffer
 * library works on several packets at a time: those of a call, which are all of one SA, or of
 * whatever SAs there are in a queue. A call for one packet of a chain takes as long as one for
 * sixteen, and even 32 of mixed lengths are slower by a call than 64 together. So chains are
 * called for where all packets are of one SA; else they go through the device's queue and back,
 * the longest first, before anything else is done: what comes of them keeps its order.
 */
#ifndef CYGNETD_CRYPT_ROW_H
#define CYGNETD_CRYPT_ROW_H

#include "crypto/crypt_call.h"

struct worker;

/** What is to be done; the arrays are by packet. */
struct crypt_row {
	unsigned int n;
	struct rte_mbuf *const *m;	/* in one segment, with what crypt_vectors_set() was told */
	struct session *const *s;
	const uint8_t *device;		/* that has the session */
	struct crypt_vectors *v;
	uint8_t *run;			/* receives how many, of one session and device, begin there;
					 * nothing for those behind the first */
};

/** Have devices do packets of their sessions: crypt_call_status() says what came of them.
 * Worker. */
void crypt_row(struct worker *w, const struct crypt_row *row);
/**
 * Those that a device has not given back in time have failed for whoever waited; its operation,
 * packet and session stay until it does. Of what a worker gets out of a device's queue,
 * whoever asks, take such late ones away, and free them.
 * @param op  n operations
 * @return how many of them are others; the first in op[], in their order
 */
uint16_t crypt_late(struct worker *w, unsigned int device, struct rte_crypto_op **op, uint16_t n);

#endif
