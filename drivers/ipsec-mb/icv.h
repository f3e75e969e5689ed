/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file icv.h
 * ICVs of 8 bytes or more: eight at a time, of which the last eight may overlap with those before.
 */
#ifndef MB_ICV_H
#define MB_ICV_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t mb_icv_word(const uint8_t *icv, unsigned int at)
{
	uint64_t word;

	memcpy(&word, icv + at, sizeof(word));
	return word;
}

/** In constant time. */
static inline bool mb_icv_same(const uint8_t *a, const uint8_t *b, unsigned int len)
{
	uint64_t differ = mb_icv_word(a, 0) ^ mb_icv_word(b, 0);

	for (unsigned int at = 8; at < len - 8; at += 8)
		differ |= mb_icv_word(a, at) ^ mb_icv_word(b, at);
	return !(differ | (mb_icv_word(a, len - 8) ^ mb_icv_word(b, len - 8)));
}

/** Make it another than the one it shall be compared with: whatever the library does or does not do,
 * only one that it has computed now can be the same. */
static inline void mb_icv_spoil(uint8_t *icv, const uint8_t *than, unsigned int len)
{
	uint64_t first = ~mb_icv_word(than, 0), last = ~mb_icv_word(than, len - 8);

	memcpy(icv, &first, 8);
	for (unsigned int at = 8; at < len - 8; at += 8) {
		uint64_t word = ~mb_icv_word(than, at);

		memcpy(icv + at, &word, 8);
	}
	memcpy(icv + len - 8, &last, 8);
}

#endif
