/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "hash.h"

#define HASH(name, library, block, digest, truncated) \
	{RTE_CRYPTO_AUTH_##name##_HMAC, IMB_AUTH_HMAC_##library, block, digest, truncated},
static const struct chain_hash hashes[] = {CHAIN_HASHES(HASH)};
#undef HASH

const struct chain_hash *chain_hash_find(enum rte_crypto_auth_algorithm algorithm)
{
	for (unsigned int i = 0; i < RTE_DIM(hashes); i++)
		if (hashes[i].algorithm == algorithm)
			return &hashes[i];
	return NULL;
}

static hash_one_block_t block_function(const struct chain_hash *hash, const IMB_MGR *mgr)
{
	switch (hash->hash) {
	case IMB_AUTH_HMAC_SHA_1:
		return mgr->sha1_one_block;
	case IMB_AUTH_HMAC_SHA_256:
		return mgr->sha256_one_block;
	case IMB_AUTH_HMAC_SHA_384:
		return mgr->sha384_one_block;
	default:
		return mgr->sha512_one_block;
	}
}

/* Hash the block of a padded key. @param[out] state  of the hash after this block */
static void padded(hash_one_block_t one_block, const uint8_t *key, unsigned int key_len,
		   uint8_t pad, void *state)
{
	uint8_t block[CHAIN_MAX_BLOCK];

	memset(block, pad, sizeof(block));
	for (unsigned int i = 0; i < key_len; i++)
		block[i] ^= key[i];
	one_block(block, state);
	explicit_bzero(block, sizeof(block));
}

void chain_hash_key(const struct chain_hash *hash, const IMB_MGR *mgr, const uint8_t *key,
		    unsigned int key_len, struct chain_session *s)
{
	hash_one_block_t one_block = block_function(hash, mgr);

	padded(one_block, key, key_len, 0x36, s->inner);
	padded(one_block, key, key_len, 0x5c, s->outer);
}
