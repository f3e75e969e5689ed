/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file hash.h
 * The hashes that HMAC is made of here.
 */
#ifndef CHAIN_HASH_H
#define CHAIN_HASH_H

#include <rte_crypto_sym.h>

#include "session.h"

/* Name, the library's, and bytes of a block, of a digest, and of one as ESP and AH truncate it. */
#define CHAIN_HASHES(HASH)                                                                         \
	HASH(SHA1, SHA_1, 64, 20, 12)                                                              \
	HASH(SHA256, SHA_256, 64, 32, 16)                                                          \
	HASH(SHA384, SHA_384, 128, 48, 24)                                                         \
	HASH(SHA512, SHA_512, 128, 64, 32)

struct chain_hash {
	enum rte_crypto_auth_algorithm algorithm;
	IMB_HASH_ALG hash;
	uint8_t block, digest, truncated; /* bytes */
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
