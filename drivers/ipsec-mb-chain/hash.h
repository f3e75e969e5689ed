/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file hash.h
 * The hash functions that HMAC is supported with.
 */
#ifndef CHAIN_HASH_H
#define CHAIN_HASH_H

#include <rte_crypto_sym.h>

#include "session.h"

/* DPDK's name, the library's name, and lengths in bytes: of a block, of a digest, and of a digest as
 * truncated by ESP and AH. */
#define CHAIN_HASHES(HASH) \
	HASH(SHA1, SHA_1, 64, 20, 12) \
	HASH(SHA256, SHA_256, 64, 32, 16) \
	HASH(SHA384, SHA_384, 128, 48, 24) \
	HASH(SHA512, SHA_512, 128, 64, 32)

struct chain_hash {
	enum rte_crypto_auth_algorithm algorithm;
	IMB_HASH_ALG hash;
	uint8_t block, digest, truncated; /* bytes */
};

/** Find a hash function. @return NULL if it is not supported */
const struct chain_hash *chain_hash_find(enum rte_crypto_auth_algorithm algorithm);

/**
 * Set a session's inner and outer state: those of the hash after the blocks of the key padded with
 * HMAC's two bytes (RFC 2104).
 * @param key      not stored
 * @param key_len  bytes, at most a block
 */
void chain_hash_key(const struct chain_hash *hash, const IMB_MGR *mgr, const uint8_t *key,
		    unsigned int key_len, struct chain_session *s);

#endif
