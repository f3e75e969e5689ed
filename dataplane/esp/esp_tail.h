/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_tail.h
 * What follows the text in ESP: padding, its length and the next header (RFC 4303, 2.4 to 2.6),
 * then the ICV.
 */
#ifndef CYGNETD_ESP_TAIL_H
#define CYGNETD_ESP_TAIL_H

#include <string.h>

#include "esp/session.h"

#define ESP_ICV_MAX 32
/** No tail has more: padding of a block, length and next header, ESN, ICV; bytes. */
#define ESP_TAIL_MAX (16 + 2 + 4 + ESP_ICV_MAX)

/** Bytes of a text with its trailer, which ends on a multiple of the block. */
static inline unsigned int esp_padded(const struct session *s, unsigned int text)
{
	return (text + 2 + s->align - 1) & ~(s->align - 1u);
}

/**
 * Write the trailer.
 * @param pad   bytes of padding
 * @param next  header
 * @param room  bytes there, with those of the ICV
 */
static inline void esp_trailer_write(uint8_t *at, unsigned int pad, uint8_t next, unsigned int room)
{
	static const uint8_t numbers[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

	/* Padding is less than a block; a length that varies takes longer. */
	if (room >= sizeof(numbers))
		memcpy(at, numbers, sizeof(numbers));
	else
		memcpy(at, numbers, pad);
	at[pad] = (uint8_t)pad;
	at[pad + 1] = next;
}

#endif
