/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Poly1305 (RFC 8439, 2.5) over whole blocks, in constant time: five limbs of
 * 26 bits, so that products fit in 64.
 */
#ifndef INC_POLY1305_CL
#define INC_POLY1305_CL

#include "inc_bytes.cl"

struct poly1305 {
	u32 r[5], h[5];
	u32 s[4];
};

/* The limbs of four little-endian words. */
DECLSPEC void poly1305_split(const u32 w[4], u32 limb[5])
{
	limb[0] = w[0] & 0x3ffffff;
	limb[1] = (w[0] >> 26 | w[1] << 6) & 0x3ffffff;
	limb[2] = (w[1] >> 20 | w[2] << 12) & 0x3ffffff;
	limb[3] = (w[2] >> 14 | w[3] << 18) & 0x3ffffff;
	limb[4] = w[3] >> 8;
}

/* key: eight little-endian words, r and s. */
DECLSPEC void poly1305_init(struct poly1305 *p, const u32 key[8])
{
	u32 r[4] = {key[0] & 0x0fffffff, key[1] & 0x0ffffffc, key[2] & 0x0ffffffc,
		    key[3] & 0x0ffffffc};
	u32 i;

	poly1305_split(r, p->r);
	for (i = 0; i < 5; i++)
		p->h[i] = 0;
	for (i = 0; i < 4; i++)
		p->s[i] = key[4 + i];
}

/* Carries, a limb into the next and the last, times 5, into the first. */
DECLSPEC void poly1305_carry(u32 h[5], u64 d[5])
{
	u64 carry = 0;
	u32 i;

	for (i = 0; i < 5; i++) {
		d[i] += carry;
		carry = d[i] >> 26;
		h[i] = (u32)d[i] & 0x3ffffff;
	}
	h[0] += (u32)carry * 5;
	h[1] += h[0] >> 26;
	h[0] &= 0x3ffffff;
}

/* The limbs of f have about 26 bits, those of h at most one bit more. */
DECLSPEC void poly1305_times(u32 h[5], const u32 f[5])
{
	u64 d[5];
	u32 i, j;

	for (i = 0; i < 5; i++) {
		d[i] = 0;
		for (j = 0; j < 5; j++)
			d[i] += (u64)h[j] * (i >= j ? f[i - j] : f[i + 5 - j] * 5);
	}
	poly1305_carry(h, d);
}

/* r to the nth, n from 1 to 32, which everybody may know. */
DECLSPEC void poly1305_power(const struct poly1305 *p, u32 n, u32 power[5])
{
	u32 bit = 32;
	u32 i;

	while (bit > n)
		bit >>= 1;
	for (i = 0; i < 5; i++)
		power[i] = p->r[i];
	while (bit >>= 1) {
		poly1305_times(power, power);
		if (n & bit)
			poly1305_times(power, p->r);
	}
}

/* 16 bytes as big-endian words, as load_block() leaves them. */
DECLSPEC void poly1305_block(struct poly1305 *p, const u32 x[4])
{
	u32 w[4] = {swap32(x[0]), swap32(x[1]), swap32(x[2]), swap32(x[3])};
	u32 m[5];
	u32 i;

	poly1305_split(w, m);
	m[4] |= 1 << 24;
	for (i = 0; i < 5; i++)
		p->h[i] += m[i];
	poly1305_times(p->h, p->r);
}

/* A message, zero-padded to whole blocks. */
DECLSPEC void poly1305_update(struct poly1305 *poly, GLOBAL_AS const u8 *p, u32 len)
{
	u32 x[4];
	u32 off;

	for (off = 0; off < len; off += 16) {
		if (len - off >= 16)
			load_block(p + off, x);
		else
			load_partial(p + off, len - off, x);
		poly1305_block(poly, x);
	}
}

/* The tag as big-endian words. */
DECLSPEC void poly1305_final(struct poly1305 *p, u32 mac[16])
{
	u32 g[5], h[4];
	u32 carry = 0, keep, i;
	u64 sum = 0;

	for (i = 1; i < 6; i++) {
		p->h[i % 5] += carry * (i == 5 ? 5 : 1);
		carry = p->h[i % 5] >> 26;
		p->h[i % 5] &= 0x3ffffff;
	}
	p->h[1] += carry;
	/* h - (2^130 - 5), unless that is negative */
	carry = 5;
	for (i = 0; i < 5; i++) {
		g[i] = p->h[i] + carry;
		carry = g[i] >> 26;
		g[i] &= 0x3ffffff;
	}
	keep = carry - 1;
	for (i = 0; i < 5; i++)
		g[i] = (p->h[i] & keep) | (g[i] & ~keep);
	h[0] = g[0] | g[1] << 26;
	h[1] = g[1] >> 6 | g[2] << 20;
	h[2] = g[2] >> 12 | g[3] << 14;
	h[3] = g[3] >> 18 | g[4] << 8;
	for (i = 0; i < 4; i++) {
		sum += (u64)h[i] + p->s[i];
		mac[i] = swap32((u32)sum);
		sum >>= 32;
	}
}

#endif
