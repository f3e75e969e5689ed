/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file text.h
 * Encrypts, or decrypts and verifies, a text with its AAD and ICV.
 */
#ifndef GCM_TEXT_H
#define GCM_TEXT_H

#include <errno.h>
#include <string.h>

#include "icv.h"
#include "session.h"

/* Working memory of the library. It must be wiped: afterwards it has parts of a key stream and the
 * correct ICV of a forged packet. */
struct gcm_scratch {
	struct gcm_context_data context;
	uint8_t icv[16]; /* computed from a received text */
} __rte_aligned(16);

/* The addresses of a text and its parameters. */
struct gcm_text {
	const struct rte_crypto_sgl *from, *to; /* source and destination; may be the same */
	const uint8_t *iv, *aad;
	uint8_t *icv; /* written when encrypting, read when decrypting */
};

typedef uint64_t gcm_word __attribute__((vector_size(16), may_alias));

/** Wipe the working memory after the last text of a call. A function call, or the compiler's "rep
 * stos", would take longer than the rest of the driver's work for a call with one packet. */
static inline void gcm_scratch_wipe(struct gcm_scratch *scratch)
{
	volatile gcm_word *words = (volatile gcm_word *)scratch;

#pragma GCC unroll 8
	for (unsigned int i = 0; i < sizeof(*scratch) / sizeof(*words); i++)
		words[i] = (gcm_word){0};
}

/** Whether IV, ICV and AAD are not NULL. If one is, the library does nothing and returns no error. */
static inline bool gcm_text_whole(const struct gcm_session *s, const struct gcm_text *text)
{
	return text->iv && text->icv && (text->aad || !s->aad_len);
}

/**
 * Process a text of one segment, with one call of the faster function.
 * @param to    destination; may be from
 * @param len   bytes
 * @param text  IV, AAD and ICV; its segments are not used
 * @return      0, EBADMSG (wrong ICV), or EINVAL (an address is missing; the text is not processed)
 */
static inline int gcm_text_once(const struct gcm_session *s, struct gcm_scratch *scratch,
				uint8_t *to, const uint8_t *from, uint32_t len,
				const struct gcm_text *text)
{
	uint8_t *icv = s->decrypt ? scratch->icv : text->icv;

	if (unlikely(!gcm_text_whole(s, text) || (len && (!to || !from))))
		return EINVAL;
	if (s->decrypt)
		mb_icv_invert(icv, text->icv, s->icv_len);
	(len < s->own_below ? s->own : s->once)(&s->key.library, &scratch->context, to, from, len,
						text->iv, text->aad, s->aad_len, icv, s->icv_len);
	return !s->decrypt || mb_icv_equal(icv, text->icv, s->icv_len) ? 0 : EBADMSG;
}

/**
 * Process a text of any number of segments, including none, with several calls of the library.
 * @return 0, EBADMSG (wrong ICV), or EINVAL (the destination is too short or an address is missing;
 *	   the text is not processed)
 */
int gcm_text_steps(const struct gcm_session *s, struct gcm_scratch *scratch,
		   const struct gcm_text *text);

/** Process a text of any number of segments by the fastest function. @return as gcm_text_steps() */
static inline int gcm_text(const struct gcm_session *s, struct gcm_scratch *scratch,
			   const struct gcm_text *text)
{
	const struct rte_crypto_vec *from = text->from->vec, *to = text->to->vec;

	if (likely(text->from->num == 1 && text->to->num == 1 && to->len >= from->len))
		return gcm_text_once(s, scratch, to->base, from->base, from->len, text);
	return gcm_text_steps(s, scratch, text);
}

#endif
