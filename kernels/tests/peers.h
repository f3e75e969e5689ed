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

/* A suite's sessions on the peers; NULL where it is not offered. */
struct peer_sessions {
	void *session[PEERS];
};

/** Open them. A peer that is missing is a failure. */
void peers_open(void);
void peers_close(void);
const char *peer_name(unsigned int peer);

void peers_sessions(struct peer_sessions *sessions, const struct suite *suite);
void peers_sessions_free(struct peer_sessions *sessions);

/** One encryption: what it reads, and what is expected of it. */
struct peer_job {
	const struct suite *suite;
	const struct rte_crypto_sym_op *ranges;
	const uint8_t *iv, *aad; /* aad: with the room in front that CCM wants */
	const uint8_t *before, *after;
	uint32_t len, digest_off; /* of before and after */
};

/** Run it on a peer and compare. */
void peer_check(unsigned int peer, void *session, const struct peer_job *job);

#endif
