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

/* A factor: low, high, low ^ high; bit-reversed. */
struct ghash_key {
	u64 h[3], hr[3];
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

/* From two big-endian halves. */
DECLSPEC void ghash_key(struct ghash_key *k, u64 hi, u64 lo)
{
	k->h[0] = lo;
	k->h[1] = hi;
	k->h[2] = lo ^ hi;
	k->hr[0] = reverse64(lo);
	k->hr[1] = reverse64(hi);
	k->hr[2] = k->hr[0] ^ k->hr[1];
}

/* The 256-bit product v of two bit-reflected elements, reduced. */
DECLSPEC void ghash_reduce(u64 y[2], u64 v0, u64 v1, u64 v2, u64 v3)
{
	v3 = v3 << 1 | v2 >> 63;
	v2 = v2 << 1 | v1 >> 63;
	v1 = v1 << 1 | v0 >> 63;
	v0 = v0 << 1;
	v2 ^= v0 ^ v0 >> 1 ^ v0 >> 2 ^ v0 >> 7;
	v1 ^= v0 << 63 ^ v0 << 62 ^ v0 << 57;
	v3 ^= v1 ^ v1 >> 1 ^ v1 >> 2 ^ v1 >> 7;
	v2 ^= v1 << 63 ^ v1 << 62 ^ v1 << 57;
	y[0] = v2;
	y[1] = v3;
}

/* y, low half first, times the factor. */
DECLSPEC void ghash_times(const struct ghash_key *k, u64 y[2])
{
	u64 r0 = reverse64(y[0]);
	u64 r1 = reverse64(y[1]);
	u64 lo = ghash_mul(y[0], k->h[0]);
	u64 hi = ghash_mul(y[1], k->h[1]);
	u64 mid = ghash_mul(y[0] ^ y[1], k->h[2]) ^ lo ^ hi;
	u64 lo_r = ghash_mul(r0, k->hr[0]);
	u64 hi_r = ghash_mul(r1, k->hr[1]);
	u64 mid_r = ghash_mul(r0 ^ r1, k->hr[2]) ^ lo_r ^ hi_r;

	ghash_reduce(y, lo, reverse64(lo_r) >> 1 ^ mid, hi ^ reverse64(mid_r) >> 1,
		     reverse64(hi_r) >> 1);
}

/* Add a block of four big-endian words. */
DECLSPEC void ghash_add(u64 y[2], const u32 w[4])
{
	y[0] ^= (u64)w[2] << 32 | w[3];
	y[1] ^= (u64)w[0] << 32 | w[1];
}

#endif
