/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GHASH (NIST SP 800-38D) by integer multiplication, in constant time: no
 * table, no branch and no address depends on data. Operands are split by bit
 * position modulo 4, so that carries of the ordinary product die in the holes
 * (the idea is from BearSSL's ghash_ctmul64); bit-reversed operands give the
 * product's high half; Karatsuba saves one multiplication in four.
 */
#ifndef INC_GHASH_CL
#define INC_GHASH_CL

#include "inc_bytes.cl"

struct ghash {
	u64 h[3], hr[3]; /* low, high, low ^ high; bit-reversed */
	u64 y[2];	 /* low, high */
};

/* Low 64 bits of the carry-less product. */
DECLSPEC u64 ghash_mul(u64 x, u64 y)
{
	const u64 m0 = 0x1111111111111111UL, m1 = m0 << 1, m2 = m0 << 2, m3 = m0 << 3;
	u64 x0 = x & m0, x1 = x & m1, x2 = x & m2, x3 = x & m3;
	u64 y0 = y & m0, y1 = y & m1, y2 = y & m2, y3 = y & m3;
	u64 z0 = x0 * y0 ^ x1 * y3 ^ x2 * y2 ^ x3 * y1;
	u64 z1 = x0 * y1 ^ x1 * y0 ^ x2 * y3 ^ x3 * y2;
	u64 z2 = x0 * y2 ^ x1 * y1 ^ x2 * y0 ^ x3 * y3;
	u64 z3 = x0 * y3 ^ x1 * y2 ^ x2 * y1 ^ x3 * y0;

	return (z0 & m0) | (z1 & m1) | (z2 & m2) | (z3 & m3);
}

DECLSPEC u64 reverse64(u64 x)
{
	x = (x & 0x5555555555555555UL) << 1 | (x >> 1 & 0x5555555555555555UL);
	x = (x & 0x3333333333333333UL) << 2 | (x >> 2 & 0x3333333333333333UL);
	x = (x & 0x0f0f0f0f0f0f0f0fUL) << 4 | (x >> 4 & 0x0f0f0f0f0f0f0f0fUL);
	return (u64)swap32((u32)x) << 32 | swap32((u32)(x >> 32));
}

/* hi and lo: H, the encrypted zero block, as two big-endian halves. */
DECLSPEC void ghash_init(struct ghash *g, u64 hi, u64 lo)
{
	g->h[0] = lo;
	g->h[1] = hi;
	g->h[2] = lo ^ hi;
	g->hr[0] = reverse64(lo);
	g->hr[1] = reverse64(hi);
	g->hr[2] = g->hr[0] ^ g->hr[1];
	g->y[0] = 0;
	g->y[1] = 0;
}

/* The 256-bit product v of two bit-reflected elements, reduced into y. */
DECLSPEC void ghash_reduce(struct ghash *g, u64 v0, u64 v1, u64 v2, u64 v3)
{
	v3 = v3 << 1 | v2 >> 63;
	v2 = v2 << 1 | v1 >> 63;
	v1 = v1 << 1 | v0 >> 63;
	v0 = v0 << 1;
	v2 ^= v0 ^ v0 >> 1 ^ v0 >> 2 ^ v0 >> 7;
	v1 ^= v0 << 63 ^ v0 << 62 ^ v0 << 57;
	v3 ^= v1 ^ v1 >> 1 ^ v1 >> 2 ^ v1 >> 7;
	v2 ^= v1 << 63 ^ v1 << 62 ^ v1 << 57;
	g->y[0] = v2;
	g->y[1] = v3;
}

DECLSPEC void ghash_block(struct ghash *g, const u32 w[4])
{
	u64 y0 = g->y[0] ^ ((u64)w[2] << 32 | w[3]);
	u64 y1 = g->y[1] ^ ((u64)w[0] << 32 | w[1]);
	u64 r0 = reverse64(y0);
	u64 r1 = reverse64(y1);
	u64 lo = ghash_mul(y0, g->h[0]);
	u64 hi = ghash_mul(y1, g->h[1]);
	u64 mid = ghash_mul(y0 ^ y1, g->h[2]) ^ lo ^ hi;
	u64 lo_r = ghash_mul(r0, g->hr[0]);
	u64 hi_r = ghash_mul(r1, g->hr[1]);
	u64 mid_r = ghash_mul(r0 ^ r1, g->hr[2]) ^ lo_r ^ hi_r;

	ghash_reduce(g, lo, reverse64(lo_r) >> 1 ^ mid, hi ^ reverse64(mid_r) >> 1,
		     reverse64(hi_r) >> 1);
}

/* Absorb a message, zero-padded to whole blocks. */
DECLSPEC void ghash_update(struct ghash *g, GLOBAL_AS const u8 *p, u32 len)
{
	u32 w[4];
	u32 off;

	for (off = 0; off < len; off += 16) {
		if (len - off >= 16)
			load_block(p + off, w);
		else
			load_partial(p + off, len - off, w);
		ghash_block(g, w);
	}
}

#endif
