/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file icv.h
 * Comparison of ICVs of 8 bytes or more, in words of 8 bytes. The last word may overlap with the one
 * before.
 */
#ifndef MB_ICV_H
#define MB_ICV_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t mb_icv_word(const uint8_t *icv, unsigned int offset)
{
	uint64_t word;

	memcpy(&word, icv + offset, sizeof(word));
	return word;
}

/** Compare two ICVs in constant time. @param len  bytes, at least 8 */
static inline bool mb_icv_equal(const uint8_t *a, const uint8_t *b, unsigned int len)
{
	uint64_t differ = mb_icv_word(a, 0) ^ mb_icv_word(b, 0);

	for (unsigned int offset = 8; offset < len - 8; offset += 8)
		differ |= mb_icv_word(a, offset) ^ mb_icv_word(b, offset);
	return !(differ | (mb_icv_word(a, len - 8) ^ mb_icv_word(b, len - 8)));
}

/**
 * Set icv to the complement of another one. If the library then computes no ICV, the two compare
 * unequal.
 * @param icv  where the library will store the ICV that it computes
 * @param of   the received ICV
 * @param len  bytes, at least 8
 */
static inline void mb_icv_invert(uint8_t *icv, const uint8_t *of, unsigned int len)
{
	uint64_t first = ~mb_icv_word(of, 0), last = ~mb_icv_word(of, len - 8);

	memcpy(icv, &first, 8);
	for (unsigned int offset = 8; offset < len - 8; offset += 8) {
		uint64_t word = ~mb_icv_word(of, offset);

		memcpy(icv + offset, &word, 8);
	}
	memcpy(icv + len - 8, &last, 8);
}

#endif
