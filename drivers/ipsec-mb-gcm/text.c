/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

/* A position in a list of segments. */
struct place {
	const struct rte_crypto_vec *vec; /* the segment */
	uint32_t left;			  /* bytes from the position to the segment's end */
};

/* The sum of the lengths of all segments, bytes. */
static uint64_t length(const struct rte_crypto_sgl *sgl)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < sgl->num; i++)
		sum += sgl->vec[i].len;
	return sum;
}

/* Whether all segments that are not empty have an address. */
static bool is_there(const struct rte_crypto_sgl *sgl)
{
	for (uint32_t i = 0; i < sgl->num; i++) {
		if (sgl->vec[i].len && !sgl->vec[i].base)
			return false;
	}
	return true;
}

static struct place begin(const struct rte_crypto_sgl *sgl)
{
	return (struct place){.vec = sgl->vec, .left = sgl->num ? sgl->vec->len : 0};
}

/* Skip empty segments. The caller knows that there are bytes left. @return address of the next byte */
static uint8_t *next_byte(struct place *p)
{
	while (!p->left)
		p->left = (++p->vec)->len;
	return (uint8_t *)p->vec->base + p->vec->len - p->left;
}

/* Process all segments. Segments of source and destination may have different lengths.
 * @param len  length of text->from */
static void update_all(const struct gcm_session *s, struct gcm_context_data *context,
		       const struct gcm_text *text, uint64_t len)
{
	struct place from = begin(text->from), to = begin(text->to);

	while (len) {
		const uint8_t *source = next_byte(&from);
		uint8_t *target = next_byte(&to);
		uint32_t n = RTE_MIN(from.left, to.left);

		s->library->update[s->decrypt](&s->key.library, context, target, source, n);
		from.left -= n;
		to.left -= n;
		len -= n;
	}
}

int gcm_text_steps(const struct gcm_session *s, struct gcm_scratch *scratch,
		   const struct gcm_text *text)
{
	uint8_t *icv = s->decrypt ? scratch->icv : text->icv;
	uint64_t len = length(text->from);

	if (text->to != text->from && length(text->to) < len)
		return EINVAL;
	if (!gcm_text_whole(s, text) || !is_there(text->from) || !is_there(text->to))
		return EINVAL;
	if (s->decrypt)
		mb_icv_invert(icv, text->icv, s->icv_len);
	s->library->init(&s->key.library, &scratch->context, text->iv, text->aad, s->aad_len);
	update_all(s, &scratch->context, text, len);
	s->library->finalize[s->decrypt](&s->key.library, &scratch->context, icv, s->icv_len);
	return !s->decrypt || mb_icv_equal(icv, text->icv, s->icv_len) ? 0 : EBADMSG;
}
