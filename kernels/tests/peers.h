/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file peers.h
 * DPDK's own drivers as peers: each processes the operations that its capabilities
 * include, and has to get the same result as the driver under test.
 */
#ifndef PEERS_H
#define PEERS_H

#include "harness.h"

#define PEERS 4

/* The sessions of a suite on the peers; NULL: not supported. */
struct peer_sessions {
	void *session[PEERS];
};

/** Open the peers. A missing peer is a failure. */
void peers_open(void);
void peers_close(void);
const char *peer_name(unsigned int peer);

void peers_sessions(struct peer_sessions *sessions, const struct suite *suite);
void peers_sessions_free(struct peer_sessions *sessions);

/** One encryption: its input and expected result. */
struct peer_job {
	const struct suite *suite;
	const struct rte_crypto_sym_op *ranges;
	const uint8_t *iv, *aad; /* aad: with the room in front that CCM requires */
	const uint8_t *before, *after;
	uint32_t len, digest_off; /* lengths of before and after */
};

/** Process it by a peer and compare. */
void peer_check(unsigned int peer, void *session, const struct peer_job *job);

#endif
