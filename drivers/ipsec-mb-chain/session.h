/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file session.h
 * Sessions: the expanded key of the cipher, the states of HMAC's two hashes, and the parameters of both.
 */
#ifndef CHAIN_SESSION_H
#define CHAIN_SESSION_H

#include <cryptodev_pmd.h>
#include <intel-ipsec-mb.h>

#define CHAIN_MAX_ROUND_KEYS 15
#define CHAIN_MAX_DIGEST     64 /* bytes; HMAC-SHA2-512 */
#define CHAIN_MAX_BLOCK	     128

/* The parameters that all texts of a batch have in common. */
struct chain_kind {
	uint8_t cipher;	   /* IMB_CIPHER_MODE; IMB_CIPHER_NULL: authentication only */
	uint8_t key_len;   /* of the cipher, bytes */
	uint8_t hash;	   /* IMB_HASH_ALG */
	uint8_t direction; /* IMB_CIPHER_DIRECTION; encrypt: generate ICVs, decrypt: verify them */
};

/* The private data of a session. It is in a mempool of the application, and wiped when the session
 * is cleared. Fields that each text needs come first. */
struct chain_session {
	uint8_t round_keys[CHAIN_MAX_ROUND_KEYS * 16] __rte_cache_aligned;
	struct chain_kind kind;
	uint16_t iv_offset; /* from the start of the operation, bytes */
	uint8_t digest_len; /* bytes */
	uint8_t unit;	    /* the length of an encrypted range is a multiple of it; bytes */
	/* States of HMAC's two hashes after the block of the padded key. */
	uint64_t inner[CHAIN_MAX_DIGEST / 8], outer[CHAIN_MAX_DIGEST / 8];
};

/* Whether texts of two sessions may be in the same batch. */
static inline bool chain_same_kind(const struct chain_session *a, const struct chain_session *b)
{
	return !memcmp(&a->kind, &b->kind, sizeof(a->kind));
}

/* Operations of struct rte_cryptodev_ops on sessions. Any thread, also while queue pairs are in use. */

/** Implements sym_session_get_size. @return bytes */
unsigned int chain_session_size(struct rte_cryptodev *dev);
/** Implements sym_session_configure.
 * @return 0, -ENOTSUP (an unsupported chain or algorithm), or -EINVAL (an unsupported length) */
int chain_session_configure(struct rte_cryptodev *dev, struct rte_crypto_sym_xform *xform,
			    struct rte_cryptodev_sym_session *session);
/** Implements sym_session_clear: wipe the session. */
void chain_session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session);

#endif
