/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file session.h
 * Sessions: the expanded key, the powers of the hash key, and what to do with them.
 */
#ifndef GCM_SESSION_H
#define GCM_SESSION_H

#include <cryptodev_pmd.h>
#include <rte_prefetch.h>

#include "library.h"

#define GCM_IV_LEN  12
#define GCM_MAX_AAD 1024

/* In the application's pool: wiped when it is cleared. The powers of the hash key end with the
 * first ones, which a short text needs: what a call needs besides follows in their cache line. */
struct gcm_session {
	struct gcm_key_data key __rte_cache_aligned;
	aes_gcm_enc_dec_t once;
	uint16_t aad_len;   /* bytes */
	uint16_t iv_offset; /* from the operation's start, bytes */
	uint8_t icv_len;    /* 8, 12 or 16 */
	bool decrypt;
	const struct gcm_library *library; /* for the key's size */
};

/* What a short text needs of it, all at once: an SA that has not had a packet for a while is in no
 * near cache, and the library asks for one after the other. */
static inline void gcm_session_prefetch(const struct gcm_session *s)
{
	const uint8_t *expanded = s->key.expanded_keys, *end = (const uint8_t *)&s->once;

	for (unsigned int at = 0; at < sizeof(s->key.expanded_keys); at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(expanded + at);
	rte_prefetch0(end - RTE_CACHE_LINE_SIZE);
	rte_prefetch0(end);
}

/* cryptodev's session operations; any thread, also while queue pairs run. */
unsigned int gcm_session_size(struct rte_cryptodev *dev);
/** @return 0; -ENOTSUP: not AES-GCM alone, -EINVAL: lengths that it has not got */
int gcm_session_configure(struct rte_cryptodev *dev, struct rte_crypto_sym_xform *xform,
			  struct rte_cryptodev_sym_session *session);
void gcm_session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session);

#endif
