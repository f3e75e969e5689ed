/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Big-endian words out of packets and back, at any alignment, best at 16 bytes:
 * the host places packets so that the cipher's blocks are aligned.
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

/*
 * words (a multiple of 4) as they lie in memory. The values are not used here, so
 * the loads overlap with other computation.
 */
DECLSPEC void load_raw(GLOBAL_AS const u8 *p, u32 *w, u32 words)
{
#ifdef __OPENCL_VERSION__
	u32 i;

	if ((ADDRESS(p) & 15) == 0) {
		for (i = 0; i < words; i += 4)
			vstore4(((GLOBAL_AS const uint4 *)p)[i / 4], 0, w + i);
	} else if ((ADDRESS(p) & 7) == 0) {
		for (i = 0; i < words; i += 2)
			vstore2(((GLOBAL_AS const uint2 *)p)[i / 2], 0, w + i);
	} else {
		for (i = 0; i < words; i += 4)
			vstore4(as_uint4(vload16(i / 4, p)), 0, w + i);
	}
#else
	memcpy(w, p, 4 * words);
#endif
}

DECLSPEC void swap_words(u32 *w, u32 words)
{
	u32 i;

	for (i = 0; i < words; i++)
		w[i] = swap32(w[i]);
}

/* A 16-byte block. */
DECLSPEC void load_block(GLOBAL_AS const u8 *p, u32 w[4])
{
	load_raw(p, w, 4);
	swap_words(w, 4);
}

DECLSPEC void store_block(GLOBAL_AS u8 *p, const u32 w[4])
{
#ifdef __OPENCL_VERSION__
	uint4 v = (uint4)(swap32(w[0]), swap32(w[1]), swap32(w[2]), swap32(w[3]));

	if ((ADDRESS(p) & 15) == 0) {
		*(GLOBAL_AS uint4 *)p = v;
	} else if ((ADDRESS(p) & 7) == 0) {
		((GLOBAL_AS uint2 *)p)[0] = v.lo;
		((GLOBAL_AS uint2 *)p)[1] = v.hi;
	} else {
		vstore16(as_uchar16(v), 0, p);
	}
#else
	u32 i;

	for (i = 0; i < 4; i++)
		store_be32(p + 4 * i, w[i]);
#endif
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
