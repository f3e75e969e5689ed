/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiled for a CPU with AVX2, VAES and VPCLMULQDQ. A register has a pair of blocks. The hash works on blocks whose bytes are
 * reversed, and with powers of the hash key that are shifted left by one bit, so that products need no shift (Gueron and
 * Kounavis, "Carry-Less Multiplication and Its Usage for Computing the GCM Mode"). Products of a chunk are added up
 * before they are reduced. */
#ifndef __clang__
/* Both passes move loads of round keys out of the branches that need them, and keep them on the stack: 10 percent slower. */
#pragma GCC optimize("no-tree-pre", "no-code-hoisting")
#endif
#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "vaes.h"

#define PAIR	    32u /* bytes */
#define CHUNK_PAIRS 8u
#define CHUNK	    (CHUNK_PAIRS * PAIR)
#define FEW	    (4 * PAIR) /* bytes of the longest text that is processed in registers */
#define CHUNK_FIRST (VAES_POWERS - CHUNK / 16) /* index of the power for a chunk's first block */
#define INLINE	    static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Products of pairs of blocks with powers of the hash key. */
struct products {
	__m256i low, middle, high;
};

INLINE __m128i reversed(__m128i block)
{
	return _mm_shuffle_epi8(block,
				_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

INLINE __m256i both_reversed(__m256i pair)
{
	return _mm256_shuffle_epi8(pair, _mm256_broadcastsi128_si256(
						 _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
							      12, 13, 14, 15)));
}

INLINE __m256i load(const uint8_t *pair)
{
	return _mm256_loadu_si256((const __m256i *)pair);
}

/* --- the hash --- */

/* Modulo x^128 + x^7 + x^2 + x + 1, with bits reversed. */
INLINE __m128i reduced(__m128i low, __m128i middle, __m128i high)
{
	const __m128i poly = _mm_set_epi64x((long long)0xc200000000000000, 1);

	middle = _mm_xor_si128(middle, _mm_shuffle_epi32(low, 0x4e));
	middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(low, poly, 0x10));
	high = _mm_xor_si128(high, _mm_shuffle_epi32(middle, 0x4e));
	return _mm_xor_si128(high, _mm_clmulepi64_si128(middle, poly, 0x10));
}

INLINE __m128i product(__m128i block, __m128i power)
{
	__m128i middle = _mm_xor_si128(_mm_clmulepi64_si128(block, power, 0x01),
				       _mm_clmulepi64_si128(block, power, 0x10));

	return reduced(_mm_clmulepi64_si128(block, power, 0x00), middle,
		       _mm_clmulepi64_si128(block, power, 0x11));
}

INLINE void add_products(struct products *sum, __m256i pair, __m256i powers)
{
	sum->low = _mm256_xor_si256(sum->low, _mm256_clmulepi64_epi128(pair, powers, 0x00));
	sum->middle = _mm256_xor_si256(sum->middle, _mm256_clmulepi64_epi128(pair, powers, 0x01));
	sum->middle = _mm256_xor_si256(sum->middle, _mm256_clmulepi64_epi128(pair, powers, 0x10));
	sum->high = _mm256_xor_si256(sum->high, _mm256_clmulepi64_epi128(pair, powers, 0x11));
}

/* @param first  index of the power for the first block of the pair */
INLINE void add_product(struct products *sum, __m256i pair, const struct gcm_key *key,
			unsigned int first)
{
	add_products(sum, pair, load(key->power[first]));
}

INLINE __m128i folded(__m256i pair)
{
	return _mm_xor_si128(_mm256_castsi256_si128(pair), _mm256_extracti128_si256(pair, 1));
}

INLINE __m128i hash_of(const struct products *sum)
{
	return reduced(folded(sum->low), folded(sum->middle), folded(sum->high));
}

/* Add the hash of the blocks before to the first block. */
INLINE __m256i with_hash(__m256i pair, __m128i hash)
{
	return _mm256_xor_si256(pair, _mm256_zextsi128_si256(hash));
}

INLINE unsigned int rounds_of(const struct gcm_key *key)
{
	return key->power[VAES_POWERS][0];
}

INLINE __m128i power_of_one(const struct gcm_key *key)
{
	return _mm_loadu_si128((const __m128i *)key->power[VAES_POWERS - 1]);
}

/* The first block of AAD. */
INLINE __m128i aad_block(const uint8_t *aad, uint64_t len)
{
	uint8_t block[16] = {0};

	if (len == 8) /* ESP without extended sequence numbers */
		return reversed(_mm_loadl_epi64((const __m128i *)aad));
	memcpy(block, aad, len < 16 ? len : 16);
	return reversed(_mm_loadu_si128((const __m128i *)block));
}

INLINE __m128i hash_aad(const struct gcm_key *key, const uint8_t *aad, uint64_t len)
{
	__m128i hash = _mm_setzero_si128();

	for (uint64_t at = 0; at < len; at += 16)
		hash = product(_mm_xor_si128(hash, aad_block(aad + at, len - at)),
			       power_of_one(key));
	return hash;
}

/* --- the key stream --- */

INLINE __m128i round_key(const struct gcm_key *key, unsigned int round)
{
	return _mm_loadu_si128((const __m128i *)&key->library.expanded_keys[16 * round]);
}

INLINE __m256i both_round_keys(const struct gcm_key *key, unsigned int round)
{
	return _mm256_broadcastsi128_si256(round_key(key, round));
}

INLINE void do_round(__m256i *stream, unsigned int pairs, __m256i key)
{
	UNROLL for (unsigned int i = 0; i < pairs; i++)
		stream[i] = _mm256_aesenc_epi128(stream[i], key);
}

/**
 * Compute key stream, and meanwhile hash the ciphertext of a chunk.
 * @param pairs    constant
 * @param counter  of the first two blocks; on return of those that follow
 * @param hashes   constant; false: there is no chunk
 * @param hash     before it; on return with it
 */
INLINE void make_stream(const struct gcm_key *key, __m256i *counter, __m256i *stream,
			unsigned int pairs, bool hashes, const uint8_t *chunk, __m128i *hash)
{
	const __m256i two = _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 2);
	struct products sum = {0};

	UNROLL for (unsigned int i = 0; i < pairs; i++)
	{
		stream[i] = _mm256_xor_si256(both_reversed(*counter), both_round_keys(key, 0));
		*counter = _mm256_add_epi32(*counter, two);
	}
	UNROLL for (unsigned int round = 1; round < 10; round++)
	{
		do_round(stream, pairs, both_round_keys(key, round));
		if (hashes && round <= CHUNK_PAIRS) {
			__m256i pair = both_reversed(load(chunk + PAIR * (round - 1)));

			add_product(&sum, round == 1 ? with_hash(pair, *hash) : pair, key,
				    CHUNK_FIRST + 2 * (round - 1));
		}
	}
	if (hashes)
		*hash = hash_of(&sum);
	for (unsigned int round = 10; round < rounds_of(key); round++)
		do_round(stream, pairs, both_round_keys(key, round));
	UNROLL for (unsigned int i = 0; i < pairs; i++)
		stream[i] = _mm256_aesenclast_epi128(stream[i],
						     both_round_keys(key, rounds_of(key)));
}

/* Encrypt or decrypt a chunk. The other parameters are those of make_stream(). */
INLINE void crypt_chunk(const struct gcm_key *key, __m256i *counter, uint8_t *to,
			const uint8_t *from, bool hashes, const uint8_t *chunk, __m128i *hash)
{
	__m256i stream[CHUNK_PAIRS]; /* in registers */

	make_stream(key, counter, stream, CHUNK_PAIRS, hashes, chunk, hash);
	UNROLL for (unsigned int i = 0; i < CHUNK_PAIRS; i++)
		_mm256_storeu_si256((__m256i *)(to + PAIR * i),
				    _mm256_xor_si256(load(from + PAIR * i), stream[i]));
}

/* --- texts --- */

INLINE unsigned int pairs_of(uint64_t len)
{
	return (unsigned int)((len + PAIR - 1) / PAIR);
}

/* Load a pair or a part of one, with zeros behind it. */
INLINE __m256i load_part(const uint8_t *from, unsigned int len)
{
	const __m256i place = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
	const __m256i words = _mm256_set1_epi32((int)(len / 4));
	__m256i part = _mm256_maskload_epi32((const int *)from, _mm256_cmpgt_epi32(words, place));
	uint32_t rest = 0;

	/* ESP pads its text to a multiple of 4 bytes. */
	if (len % 4) {
		memcpy(&rest, from + len / 4 * 4, len % 4);
		part = _mm256_or_si256(part, _mm256_and_si256(_mm256_cmpeq_epi32(words, place),
							      _mm256_set1_epi32((int)rest)));
	}
	return part;
}

INLINE void store_part(uint8_t *to, unsigned int len, __m256i pair)
{
	__m128i part = _mm256_castsi256_si128(pair);
	uint64_t bytes;

	if (len == PAIR) {
		_mm256_storeu_si256((__m256i *)to, pair);
		return;
	}
	if (len & 16) {
		_mm_storeu_si128((__m128i *)to, part);
		part = _mm256_extracti128_si256(pair, 1);
		to += 16;
	}
	if (len & 8) {
		_mm_storel_epi64((__m128i *)to, part);
		part = _mm_srli_si128(part, 8);
		to += 8;
	}
	bytes = (uint64_t)_mm_cvtsi128_si64(part);
	if (len & 4) {
		memcpy(to, &bytes, 4);
		bytes >>= 32;
		to += 4;
	}
	for (; len & 3; len--, bytes >>= 8)
		*to++ = (uint8_t)bytes;
}

/* Clear the bytes after the text. */
INLINE __m256i cut_part(__m256i pair, unsigned int len)
{
	uint8_t bytes[PAIR] = {0};

	if (len % 4 == 0)
		return _mm256_and_si256(pair, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(len / 4)),
								 _mm256_set_epi32(7, 6, 5, 4, 3, 2,
										  1, 0)));
	store_part(bytes, len, pair);
	return load(bytes);
}

INLINE void store_stream(const struct gcm_key *key, __m256i counter, __m256i *stream,
			 unsigned int pairs, bool hashes, const uint8_t *chunk, __m128i *hash)
{
	__m256i made[CHUNK_PAIRS]; /* in registers */

	make_stream(key, &counter, made, pairs, hashes, chunk, hash);
	UNROLL for (unsigned int i = 0; i < pairs; i++) stream[i] = made[i];
}

/* Make key stream for at least so many pairs. */
INLINE void make_last_stream(const struct gcm_key *key, __m256i counter, __m256i *stream,
			     unsigned int pairs, bool hashes, const uint8_t *chunk, __m128i *hash)
{
	if (pairs <= 2)
		store_stream(key, counter, stream, 2, hashes, chunk, hash);
	else if (pairs <= 4)
		store_stream(key, counter, stream, 4, hashes, chunk, hash);
	else
		store_stream(key, counter, stream, CHUNK_PAIRS, hashes, chunk, hash);
}

/* The last part of a text, less than a chunk, and the lengths. @return the hash */
INLINE __m128i finish(const struct gcm_key *key, uint8_t *to, const uint8_t *from, unsigned int len,
		      const __m256i *stream, __m128i hash, __m128i lengths, bool decrypt)
{
	unsigned int first = VAES_POWERS - 1 - (len + 15) / 16;
	struct products sum = {0};
	__m256i text, pair;

	for (; len >= PAIR; len -= PAIR, from += PAIR, to += PAIR, stream++, first += 2) {
		text = load(from);
		pair = _mm256_xor_si256(text, *stream);
		_mm256_storeu_si256((__m256i *)to, pair);
		pair = both_reversed(decrypt ? text : pair);
		add_product(&sum, with_hash(pair, hash), key, first);
		hash = _mm_setzero_si128();
	}
	if (len) {
		text = load_part(from, len);
		pair = _mm256_xor_si256(text, *stream);
		store_part(to, len, pair);
		pair = both_reversed(decrypt ? text : cut_part(pair, len));
		add_product(&sum, with_hash(pair, hash), key, first);
		hash = _mm_setzero_si128();
	}
	add_product(&sum, _mm256_zextsi128_si256(_mm_xor_si128(lengths, hash)), key,
		    VAES_POWERS - 1);
	return hash_of(&sum);
}

/* The IV and the counter 1, put together in a register: a block that has been stored in parts cannot be forwarded to a load of
 * the whole, which waits until they are in the cache. */
INLINE __m128i first_counter(const uint8_t *iv)
{
	__m128i rest = _mm_loadl_epi64((const __m128i *)(iv + 4));
	int salt;

	memcpy(&salt, iv, sizeof(salt));
	return _mm_or_si128(_mm_or_si128(_mm_cvtsi32_si128(salt), _mm_slli_si128(rest, 4)),
			    _mm_set_epi32(1 << 24, 0, 0, 0));
}

/* Encrypt the block with counter 1, for the ICV. */
INLINE __m128i encrypt_first(const struct gcm_key *key, __m128i block)
{
	block = _mm_xor_si128(block, round_key(key, 0));
	UNROLL for (unsigned int round = 1; round < 10; round++)
		block = _mm_aesenc_si128(block, round_key(key, round));
	for (unsigned int round = 10; round < rounds_of(key); round++)
		block = _mm_aesenc_si128(block, round_key(key, round));
	return _mm_aesenclast_si128(block, round_key(key, rounds_of(key)));
}

/* Key stream for a few pairs in registers, and the encrypted block with counter 1.
 * @param pairs  constant */
INLINE __m128i make_few(const struct gcm_key *key, __m128i block, __m256i counter, __m256i *stream,
			unsigned int pairs)
{
	const __m256i two = _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 2);
	__m256i keys = both_round_keys(key, 0);

	block = _mm_xor_si128(block, _mm256_castsi256_si128(keys));
	UNROLL for (unsigned int i = 0; i < pairs; i++)
	{
		stream[i] = _mm256_xor_si256(both_reversed(counter), keys);
		counter = _mm256_add_epi32(counter, two);
	}
	for (unsigned int round = 1; round < rounds_of(key); round++) {
		keys = both_round_keys(key, round);
		do_round(stream, pairs, keys);
		block = _mm_aesenc_si128(block, _mm256_castsi256_si128(keys));
	}
	keys = both_round_keys(key, rounds_of(key));
	UNROLL for (unsigned int i = 0; i < pairs; i++)
		stream[i] = _mm256_aesenclast_epi128(stream[i], keys);
	return _mm_aesenclast_si128(block, _mm256_castsi256_si128(keys));
}

/* A text of a few pairs with one block of AAD: everything is hashed at once.
 * @param pairs  of the text, of which the last may be a part; constant
 * @return the ICV */
INLINE __m128i crypt_few(const struct gcm_key *key, uint8_t *to, const uint8_t *from,
			 unsigned int len, unsigned int pairs, __m128i block, __m256i counter,
			 __m128i aad, __m128i lengths, bool decrypt)
{
	unsigned int first = VAES_POWERS - 1 - (len + 15) / 16, rest = len - PAIR * (pairs - 1);
	__m128i of_aad = _mm_loadu_si128((const __m128i *)key->power[first - 1]);
	struct products sum = {0};
	__m256i stream[FEW / PAIR], text, pair;
	__m128i mask = make_few(key, block, counter, stream, pairs);

	add_products(&sum, _mm256_set_m128i(lengths, aad),
		     _mm256_set_m128i(power_of_one(key), of_aad));
	UNROLL for (unsigned int i = 0; i < pairs - 1; i++)
	{
		text = load(from + PAIR * i);
		pair = _mm256_xor_si256(text, stream[i]);
		_mm256_storeu_si256((__m256i *)(to + PAIR * i), pair);
		add_product(&sum, both_reversed(decrypt ? text : pair), key, first + 2 * i);
	}
	text = load_part(from + PAIR * (pairs - 1), rest);
	pair = _mm256_xor_si256(text, stream[pairs - 1]);
	store_part(to + PAIR * (pairs - 1), rest, pair);
	add_product(&sum, both_reversed(decrypt ? text : cut_part(pair, rest)), key,
		    first + 2 * (pairs - 1));
	return _mm_xor_si128(reversed(hash_of(&sum)), mask);
}

/* @param len  1 to FEW. The other parameters are those of crypt_few(). */
INLINE __m128i crypt_short(const struct gcm_key *key, uint8_t *to, const uint8_t *from,
			   unsigned int len, __m128i block, __m256i counter, __m128i aad,
			   __m128i lengths, bool decrypt)
{
	switch (pairs_of(len)) {
	case 1:
		return crypt_few(key, to, from, len, 1, block, counter, aad, lengths, decrypt);
	case 2:
		return crypt_few(key, to, from, len, 2, block, counter, aad, lengths, decrypt);
	case 3:
		return crypt_few(key, to, from, len, 3, block, counter, aad, lengths, decrypt);
	default:
		return crypt_few(key, to, from, len, 4, block, counter, aad, lengths, decrypt);
	}
}

/* @param len  8, 12 or 16 */
INLINE void store_icv(uint8_t *icv, uint64_t len, __m128i block)
{
	if (len == 16) {
		_mm_storeu_si128((__m128i *)icv, block);
		return;
	}
	_mm_storel_epi64((__m128i *)icv, block);
	if (len == 12) {
		int rest = _mm_extract_epi32(block, 2);

		memcpy(icv + 8, &rest, sizeof(rest));
	}
}

/* Key stream must not stay in memory. */
INLINE void wipe(__m256i *stream)
{
	UNROLL for (unsigned int i = 0; i < CHUNK_PAIRS; i++) stream[i] = _mm256_setzero_si256();
	__asm__ volatile("" : : "r"(stream) : "memory");
}

/* @param decrypt  constant */
INLINE void crypt(const struct gcm_key *key, uint8_t *to, const uint8_t *from, uint64_t len,
		  const uint8_t *iv, const uint8_t *aad, uint64_t aad_len, uint8_t *icv,
		  uint64_t icv_len, bool decrypt)
{
	__m128i lengths = _mm_set_epi64x((long long)(8 * aad_len), (long long)(8 * len));
	__m128i hash, first;
	const uint8_t *chunk = NULL; /* ciphertext that is not hashed yet */
	__m256i stream[CHUNK_PAIRS], counter;

	first = first_counter(iv);
	counter = _mm256_add_epi32(_mm256_broadcastsi128_si256(reversed(first)),
				   _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 1));
	if (len - 1 < FEW && aad_len - 1 < 16) {
		first = crypt_short(key, to, from, (unsigned int)len, first, counter,
				    aad_block(aad, aad_len), lengths, decrypt);
		store_icv(icv, icv_len, first);
		return;
	}
	hash = hash_aad(key, aad, aad_len);
	if (!decrypt && len >= CHUNK) {
		crypt_chunk(key, &counter, to, from, false, NULL, &hash);
		chunk = to, to += CHUNK, from += CHUNK, len -= CHUNK;
	}
	for (; len >= CHUNK; to += CHUNK, from += CHUNK, len -= CHUNK) {
		crypt_chunk(key, &counter, to, from, true, decrypt ? from : chunk, &hash);
		chunk = to;
	}
	if (!decrypt && chunk)
		make_last_stream(key, counter, stream, pairs_of(len), true, chunk, &hash);
	else
		make_last_stream(key, counter, stream, pairs_of(len), false, NULL, &hash);
	hash = finish(key, to, from, (unsigned int)len, stream, hash, lengths, decrypt);
	wipe(stream);
	store_icv(icv, icv_len, _mm_xor_si128(reversed(hash), encrypt_first(key, first)));
}

static const struct gcm_key *whole(const struct gcm_key_data *key)
{
	return (const struct gcm_key *)((const uint8_t *)key - offsetof(struct gcm_key, library));
}

void vaes_encrypt(const struct gcm_key_data *key,
		  struct gcm_context_data *context __attribute__((unused)), uint8_t *to,
		  const uint8_t *from, uint64_t len, const uint8_t *iv, const uint8_t *aad,
		  uint64_t aad_len, uint8_t *icv, uint64_t icv_len)
{
	crypt(whole(key), to, from, len, iv, aad, aad_len, icv, icv_len, false);
}

void vaes_decrypt(const struct gcm_key_data *key,
		  struct gcm_context_data *context __attribute__((unused)), uint8_t *to,
		  const uint8_t *from, uint64_t len, const uint8_t *iv, const uint8_t *aad,
		  uint64_t aad_len, uint8_t *icv, uint64_t icv_len)
{
	crypt(whole(key), to, from, len, iv, aad, aad_len, icv, icv_len, true);
}

/* The hash key, times x. */
static __m128i shifted_hash_key(const struct gcm_key *key)
{
	__m128i block = reversed(encrypt_first(key, _mm_setzero_si128()));
	uint64_t low = (uint64_t)_mm_extract_epi64(block, 0);
	uint64_t high = (uint64_t)_mm_extract_epi64(block, 1), carry = -(high >> 63);

	return _mm_set_epi64x((long long)((high << 1 | low >> 63) ^ (carry & 0xc200000000000000)),
			      (long long)(low << 1 ^ (carry & 1)));
}

void vaes_expand(struct gcm_key *key, unsigned int bytes)
{
	__m128i one, power;

	memset(key->power[VAES_POWERS], 0, 16);
	key->power[VAES_POWERS][0] = (uint8_t)(bytes / 4 + 6);
	power = one = shifted_hash_key(key);
	for (unsigned int i = VAES_POWERS; i--; power = product(power, one))
		_mm_storeu_si128((__m128i *)key->power[i], power);
}

bool vaes_is_there(const IMB_MGR *mgr)
{
	const uint64_t needs = IMB_FEATURE_AVX2 | IMB_FEATURE_VAES | IMB_FEATURE_VPCLMULQDQ;

	return (mgr->features & needs) == needs;
}
