/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

/* Where one is in a list of segments. */
struct place {
	const struct rte_crypto_vec *vec;
	uint32_t left; /* of this segment */
};

static uint64_t length(const struct rte_crypto_sgl *sgl)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < sgl->num; i++)
		sum += sgl->vec[i].len;
	return sum;
}

/* Whether all of it is somewhere. */
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

/* To the next segment that has something; the caller knows that there is one. */
static uint8_t *at(struct place *p)
{
	while (!p->left)
		p->left = (++p->vec)->len;
	return (uint8_t *)p->vec->base + p->vec->len - p->left;
}

/* The segments of both need not end at the same places. @param len  all of text->from */
static void walk(const struct gcm_session *s, struct gcm_context_data *context,
		 const struct gcm_text *text, uint64_t len)
{
	struct place from = begin(text->from), to = begin(text->to);

	while (len) {
		const uint8_t *source = at(&from);
		uint8_t *target = at(&to);
		uint32_t n = RTE_MIN(from.left, to.left);

		s->library->go_on[s->decrypt](&s->key, context, target, source, n);
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
		mb_icv_spoil(icv, text->icv, s->icv_len);
	s->library->begin(&s->key, &scratch->context, text->iv, text->aad, s->aad_len);
	walk(s, &scratch->context, text, len);
	s->library->end[s->decrypt](&s->key, &scratch->context, icv, s->icv_len);
	return !s->decrypt || mb_icv_same(icv, text->icv, s->icv_len) ? 0 : EBADMSG;
}
