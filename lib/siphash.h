/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file siphash.h
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash for input that an attacker may choose. Who does not know
 * the key finds no two inputs of one hash other than by chance.
 */
#ifndef CYGNET_SIPHASH_H
#define CYGNET_SIPHASH_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t siphash_rotate(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void siphash_rounds(uint64_t v[4], unsigned int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = siphash_rotate(v[1], 13) ^ v[0];
		v[3] = siphash_rotate(v[3], 16) ^ v[2];
		v[0] = siphash_rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = siphash_rotate(v[1], 17) ^ v[2];
		v[3] = siphash_rotate(v[3], 21) ^ v[0];
		v[2] = siphash_rotate(v[2], 32);
	}
}

static inline void siphash_mix(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	siphash_rounds(v, 2);
	v[0] ^= word;
}

/* Up to eight bytes, the lowest first. */
static inline uint64_t siphash_word(const uint8_t *bytes, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, bytes, size);
	return le64toh(word);
}

/** The hash of some bytes. @param size  bytes; data need not be aligned */
static inline uint64_t siphash(const uint64_t key[2], const void *data, size_t size)
{
	uint64_t v[4] = {
		key[0] ^ 0x736f6d6570736575,
		key[1] ^ 0x646f72616e646f6d,
		key[0] ^ 0x6c7967656e657261,
		key[1] ^ 0x7465646279746573,
	};
	const uint8_t *bytes = data;
	size_t left = size;

	for (; left >= 8; bytes += 8, left -= 8)
		siphash_mix(v, siphash_word(bytes, 8));
	siphash_mix(v, (uint64_t)size << 56 | siphash_word(bytes, left));
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
