/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file session.h
 * What a worker knows about an SA beyond the shared file: the crypto device that
 * serves it, the session there, and everything about its packets that does not
 * change, worked out once. One table a worker; only that worker touches it.
 */
#ifndef CYGNETD_SESSION_H
#define CYGNETD_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

struct session {
	void *crypto;		/* of the cryptodev; NULL: no device takes the SA */
	uint32_t sa, generation;
	uint32_t in_flight;	/* packets at the device */
	uint64_t retry;		/* without crypto: not tried again before this second */
	uint32_t salt;		/* as it follows the key */
	uint8_t device;		/* index in engine_device[] */
	uint8_t iv_len;		/* bytes on the wire */
	uint8_t align;		/* ciphertext is a multiple of it, bytes */
	uint8_t icv_len;
	bool inbound, aead, esn;
	bool transport;		/* mode; else tunnel */
};

struct session_table;

/** @param slots of the SAD. @return NULL: no memory */
struct session_table *sessions_create(unsigned int worker, uint32_t slots);
void sessions_free(struct session_table *table);

/**
 * The session of an SA, made if there is none yet.
 * @return NULL if no device can serve the SA, or if the session of the slot's
 *         last SA still has packets in flight
 */
struct session *session_get(struct session_table *table, const struct cygnet_sa *sa,
			    uint32_t index);

/** Give up some sessions whose SA is gone and which have nothing in flight; call
 * it once in a while. All of the table is seen every 64 calls or so. */
void sessions_sweep(struct session_table *table);

#endif
