/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file session.h
 * Sessions: the expanded key, the powers of the hash key, and the parameters of AES-GCM.
 */
#ifndef GCM_SESSION_H
#define GCM_SESSION_H

#include <cryptodev_pmd.h>
#include <rte_prefetch.h>

#include "library.h"
#include "vaes.h"

#define GCM_IV_LEN  12
#define GCM_MAX_AAD 1024

/* The private data of a session. It is in a mempool of the application, and wiped when the session
 * is cleared. The library's key ends with the lowest powers of the hash key, which short texts need. The other
 * fields that a call needs follow in the same cache lines. */
struct gcm_session {
	struct gcm_key key __rte_cache_aligned;
	aes_gcm_enc_dec_t once, own; /* ipsec_mb's function, and that of vaes.h */
	uint32_t own_below;	     /* of the device */
	uint16_t aad_len;	     /* bytes */
	uint16_t iv_offset;	     /* from the start of the operation, bytes */
	uint8_t icv_len;	     /* 8, 12 or 16 bytes */
	bool decrypt;
	const struct gcm_library *library; /* functions for the size of the key */
};

static inline void gcm_prefetch(const void *from, size_t size)
{
	for (size_t offset = 0; offset < size; offset += RTE_CACHE_LINE_SIZE)
		rte_prefetch0((const uint8_t *)from + offset);
}

/* Prefetch the cache lines that a short text needs, so that their misses overlap. The session of an
 * SA without recent packets is not in the cache, and one line is read after the other.
 * @param own_below  of the device */
static inline void gcm_session_prefetch(const struct gcm_session *s, uint32_t own_below)
{
	const uint8_t *end = (const uint8_t *)&s->once;
	const void *few = s->key.power[VAES_POWERS - VAES_POWERS_FEW];

	gcm_prefetch(s->key.library.expanded_keys, sizeof(s->key.library.expanded_keys));
	if (own_below)
		gcm_prefetch(few, (const uint8_t *)&s->key.library - (const uint8_t *)few);
	if (own_below != UINT32_MAX)
		rte_prefetch0(end - RTE_CACHE_LINE_SIZE);
	rte_prefetch0(end);
}

/* Operations of struct rte_cryptodev_ops on sessions. Any thread, also while queue pairs are in use. */

/** Implements sym_session_get_size. @return bytes */
unsigned int gcm_session_size(struct rte_cryptodev *dev);
/** Implements sym_session_configure.
 * @return 0, -ENOTSUP (not AES-GCM alone), or -EINVAL (an unsupported length) */
int gcm_session_configure(struct rte_cryptodev *dev, struct rte_crypto_sym_xform *xform,
			  struct rte_cryptodev_sym_session *session);
/** Implements sym_session_clear: wipe the session. */
void gcm_session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session);

#endif
