/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_tail.h
 * The ESP trailer: padding, pad length and next header (RFC 4303, 2.4 to 2.6), and the ICV behind it.
 */
#ifndef CYGNETD_ESP_TAIL_H
#define CYGNETD_ESP_TAIL_H

#include <string.h>

#include "esp/session.h"

#define ESP_ICV_MAX 32
/** Largest tail, bytes: padding of a block, pad length and next header, ESN, ICV. */
#define ESP_TAIL_MAX (16 + 2 + 4 + ESP_ICV_MAX)

/** Bytes of plaintext and trailer, a multiple of the block size. */
static inline unsigned int esp_padded(const struct session *s, unsigned int text)
{
	return (text + 2 + s->align - 1) & ~(s->align - 1u);
}

/**
 * Write the trailer.
 * @param pad   bytes of padding
 * @param next  next header
 * @param room  bytes available, including those of the ICV
 */
static inline void esp_trailer_write(uint8_t *trailer, unsigned int pad, uint8_t next,
				     unsigned int room)
{
	static const uint8_t numbers[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

	/* Padding is shorter than a block; a copy of constant length is faster. */
	if (room >= sizeof(numbers))
		memcpy(trailer, numbers, sizeof(numbers));
	else
		memcpy(trailer, numbers, pad);
	trailer[pad] = (uint8_t)pad;
	trailer[pad + 1] = next;
}

#endif
