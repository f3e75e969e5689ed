/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file hash.h
 * The hashes that HMAC is made of here.
 */
#ifndef CHAIN_HASH_H
#define CHAIN_HASH_H

#include <rte_crypto_sym.h>

#include "session.h"

struct chain_hash {
	enum rte_crypto_auth_algorithm algorithm;
	IMB_HASH_ALG hash;
	uint8_t block, digest, truncated; /* bytes; truncated as ESP and AH have it */
};

/** @return NULL: not one of ours */
const struct chain_hash *chain_hash_find(enum rte_crypto_auth_algorithm algorithm);

/**
 * The states after the key, padded with HMAC's two bytes (RFC 2104).
 * @param key  of at most a block, bytes; not kept
 */
void chain_hash_key(const struct chain_hash *hash, const IMB_MGR *mgr, const uint8_t *key,
		    unsigned int key_len, struct chain_session *s);

#endif
