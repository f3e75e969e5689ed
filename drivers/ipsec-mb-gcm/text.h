/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file text.h
 * One text with its AAD and ICV: encrypted, or decrypted and verified.
 */
#ifndef GCM_TEXT_H
#define GCM_TEXT_H

#include <errno.h>
#include <string.h>

#include "icv.h"
#include "session.h"

/* What the library leaves: parts of a key stream, and of a forged packet the right tag. */
struct gcm_scratch {
	struct gcm_context_data context;
	uint8_t icv[16];
} __rte_aligned(16);

/* Where its parts are. */
struct gcm_text {
	const struct rte_crypto_sgl *from, *to; /* to may be from */
	const uint8_t *iv, *aad;
	uint8_t *icv; /* written, or read */
};

typedef uint64_t gcm_word __attribute__((vector_size(16), may_alias));

/** After the last text of a call. A function for that, or the compiler's "rep stos", would take
 * longer than all else around a call for one packet. */
static inline void gcm_scratch_wipe(struct gcm_scratch *scratch)
{
	volatile gcm_word *words = (volatile gcm_word *)scratch;

#pragma GCC unroll 8
	for (unsigned int i = 0; i < sizeof(*scratch) / sizeof(*words); i++)
		words[i] = (gcm_word){0};
}

/** Whether all is there that the library wants beside the text: it does nothing without, and does
 * not say so. */
static inline bool gcm_text_whole(const struct gcm_session *s, const struct gcm_text *text)
{
	return text->iv && text->icv && (text->aad || !s->aad_len);
}

/**
 * A text that lies in one piece, by one call.
 * @return 0, EBADMSG: not the ICV that came with it, or EINVAL: a part is missing, nothing is done
 */
static inline int gcm_text_once(const struct gcm_session *s, struct gcm_scratch *scratch,
				uint8_t *to, const uint8_t *from, uint32_t len,
				const struct gcm_text *text)
{
	uint8_t *icv = s->decrypt ? scratch->icv : text->icv;

	if (unlikely(!gcm_text_whole(s, text) || (len && (!to || !from))))
		return EINVAL;
	if (s->decrypt)
		mb_icv_spoil(icv, text->icv, s->icv_len);
	s->once(&s->key, &scratch->context, to, from, len, text->iv, text->aad, s->aad_len, icv,
		s->icv_len);
	return !s->decrypt || mb_icv_same(icv, text->icv, s->icv_len) ? 0 : EBADMSG;
}

/**
 * A text in any number of segments, also none: in steps.
 * @return 0, EBADMSG, or EINVAL: the result does not fit where it shall go, or a part is missing;
 *	   nothing is done
 */
int gcm_text_steps(const struct gcm_session *s, struct gcm_scratch *scratch,
		   const struct gcm_text *text);

/** A text, however it lies. @return as gcm_text_steps() */
static inline int gcm_text(const struct gcm_session *s, struct gcm_scratch *scratch,
			   const struct gcm_text *text)
{
	const struct rte_crypto_vec *from = text->from->vec, *to = text->to->vec;

	if (likely(text->from->num == 1 && text->to->num == 1 && to->len >= from->len))
		return gcm_text_once(s, scratch, to->base, from->base, from->len, text);
	return gcm_text_steps(s, scratch, text);
}

#endif
