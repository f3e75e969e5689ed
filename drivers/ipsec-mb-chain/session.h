/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file session.h
 * Sessions: the expanded key of a cipher, the states of HMAC's two hashes, and what to do with them.
 */
#ifndef CHAIN_SESSION_H
#define CHAIN_SESSION_H

#include <cryptodev_pmd.h>
#include <intel-ipsec-mb.h>

#define CHAIN_MAX_ROUND_KEYS 15
#define CHAIN_MAX_DIGEST     64 /* bytes; HMAC-SHA2-512 */
#define CHAIN_MAX_BLOCK	     128

/* What the library is told once for all the texts that it works on at a time. */
struct chain_kind {
	uint8_t cipher;	   /* IMB_CIPHER_MODE; IMB_CIPHER_NULL: only authenticated */
	uint8_t key_len;   /* bytes */
	uint8_t hash;	   /* IMB_HASH_ALG */
	uint8_t direction; /* IMB_CIPHER_DIRECTION: also of what is only authenticated or verified */
};

/* In the application's pool: wiped when it is cleared. What a usual text needs comes first. */
struct chain_session {
	uint8_t round_keys[CHAIN_MAX_ROUND_KEYS * 16] __rte_cache_aligned;
	struct chain_kind kind;
	uint16_t iv_offset;   /* from the operation's start, bytes */
	uint8_t digest_len;   /* bytes */
	uint8_t unit;	      /* bytes that a text of the cipher is a multiple of */
	uint64_t inner[CHAIN_MAX_DIGEST / 8], outer[CHAIN_MAX_DIGEST / 8]; /* after the padded key's block */
};

static inline bool chain_same_kind(const struct chain_session *a, const struct chain_session *b)
{
	return !memcmp(&a->kind, &b->kind, sizeof(a->kind));
}

/* cryptodev's session operations; any thread, also while queue pairs run. */
unsigned int chain_session_size(struct rte_cryptodev *dev);
/** @return 0; -ENOTSUP: not such a chain, -EINVAL: lengths that it has not got */
int chain_session_configure(struct rte_cryptodev *dev, struct rte_crypto_sym_xform *xform,
			    struct rte_cryptodev_sym_session *session);
void chain_session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session);

#endif
