/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_common.h>
#include <rte_cycles.h>

#include "vaes.h"

#define TRIES 256u
#define TEXTS 4u

struct texts {
	uint8_t text[TEXTS][1412], icv[16];
};

/* Encrypt and decrypt some texts. @return TSC cycles */
static uint64_t try_once(const struct gcm_key *key, const aes_gcm_enc_dec_t once[2],
			 struct texts *texts, uint32_t len)
{
	static const uint8_t iv[12], aad[8];
	struct gcm_context_data context;
	uint64_t begin = rte_rdtsc_precise();

	for (unsigned int i = 0; i < 2 * TEXTS; i++) {
		uint8_t *text = texts->text[i % TEXTS];

		once[i / TEXTS](&key->library, &context, text, text, len, iv, aad, sizeof(aad),
				texts->icv, sizeof(texts->icv));
	}
	return rte_rdtsc_precise() - begin;
}

/* Whether the best try of ours is better than that of the library. They take turns, so that what another program does beside
 * slows down both. */
static bool is_faster(const struct gcm_key *key, const aes_gcm_enc_dec_t ours[2],
		      const aes_gcm_enc_dec_t library[2], uint32_t len)
{
	uint64_t own = UINT64_MAX, theirs = UINT64_MAX;
	struct texts texts = {0};

	for (unsigned int i = 0; i < TRIES; i++) {
		own = RTE_MIN(own, try_once(key, ours, &texts, len));
		theirs = RTE_MIN(theirs, try_once(key, library, &texts, len));
	}
	return own < theirs;
}

uint32_t vaes_faster_below(aes_gcm_pre_t expand, const aes_gcm_enc_dec_t once[2])
{
	static const uint32_t lengths[] = {36, 68, 132, 260, 516, 1412}; /* of ESP's text */
	static const aes_gcm_enc_dec_t ours[] = {vaes_encrypt, vaes_decrypt};
	static const uint8_t zero[16];
	struct gcm_key key;

	expand(zero, &key.library);
	vaes_expand(&key, sizeof(zero));
	for (unsigned int i = 0; i < RTE_DIM(lengths); i++)
		if (!is_faster(&key, ours, once, lengths[i]))
			return i ? lengths[i] : 0;
	return UINT32_MAX;
}
