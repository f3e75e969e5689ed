/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Big-endian words out of packets and back, at any alignment: packets are
 * staged word-aligned when cipher and authentication offsets allow it.
 */
#ifndef INC_BYTES_CL
#define INC_BYTES_CL

#include "inc_types.h"

#ifndef __OPENCL_VERSION__
#include <string.h>
#endif

DECLSPEC u32 rotl32(u32 x, u32 n)
{
	return x << n | x >> (32 - n);
}

DECLSPEC u32 swap32(u32 x)
{
	return (rotl32(x, 8) & 0x00ff00ff) | (rotl32(x, 24) & 0xff00ff00);
}

/* p is 4-byte aligned. */
DECLSPEC u32 load_be32_aligned(GLOBAL_AS const u8 *p)
{
#ifdef __OPENCL_VERSION__
	return swap32(*(GLOBAL_AS const u32 *)p);
#else
	u32 x;

	memcpy(&x, p, sizeof(x));
	return swap32(x);
#endif
}

DECLSPEC void store_be32_aligned(GLOBAL_AS u8 *p, u32 x)
{
#ifdef __OPENCL_VERSION__
	*(GLOBAL_AS u32 *)p = swap32(x);
#else
	x = swap32(x);
	memcpy(p, &x, sizeof(x));
#endif
}

DECLSPEC u32 load_be32(GLOBAL_AS const u8 *p)
{
	return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
}

DECLSPEC void store_be32(GLOBAL_AS u8 *p, u32 x)
{
	p[0] = (u8)(x >> 24);
	p[1] = (u8)(x >> 16);
	p[2] = (u8)(x >> 8);
	p[3] = (u8)x;
}

/* A 16-byte block. */
DECLSPEC void load_block(GLOBAL_AS const u8 *p, u32 w[4])
{
	u32 i;

	if ((ADDRESS(p) & 3) == 0) {
		for (i = 0; i < 4; i++)
			w[i] = load_be32_aligned(p + 4 * i);
	} else {
		for (i = 0; i < 4; i++)
			w[i] = load_be32(p + 4 * i);
	}
}

DECLSPEC void store_block(GLOBAL_AS u8 *p, const u32 w[4])
{
	u32 i;

	if ((ADDRESS(p) & 3) == 0) {
		for (i = 0; i < 4; i++)
			store_be32_aligned(p + 4 * i, w[i]);
	} else {
		for (i = 0; i < 4; i++)
			store_be32(p + 4 * i, w[i]);
	}
}

/* The word at offset off of a message of len bytes, followed by pad and zeros. */
DECLSPEC u32 load_tail32(GLOBAL_AS const u8 *p, u32 len, u32 off, u32 pad)
{
	u32 x = 0;
	u32 i;

	if (off + 4 <= len)
		return load_be32(p + off);
	for (i = 0; i < 4; i++) {
		u32 byte = off + i < len ? p[off + i] : off + i == len ? pad : 0;

		x = x << 8 | byte;
	}
	return x;
}

/* The last n < 16 bytes of a message, zeros behind them. */
DECLSPEC void load_partial(GLOBAL_AS const u8 *p, u32 n, u32 w[4])
{
	u32 i;

	for (i = 0; i < 4; i++)
		w[i] = load_tail32(p, n, 4 * i, 0);
}

/* Stores the first n < 16 bytes and clears the others in w. */
DECLSPEC void store_partial(GLOBAL_AS u8 *p, u32 n, u32 w[4])
{
	u32 i, j;

	for (i = 0; i < 4; i++) {
		for (j = 0; j < 4; j++) {
			u32 shift = 24 - 8 * j;

			if (4 * i + j < n)
				p[4 * i + j] = (u8)(w[i] >> shift);
			else
				w[i] &= ~((u32)0xff << shift);
		}
	}
}

#endif
