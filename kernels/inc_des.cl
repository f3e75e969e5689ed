/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 3DES-CBC (FIPS 46-3, RFC 2451) in place; len is a multiple of 8. For peers
 * that have nothing better.
 *
 * Side channels: table look-ups at addresses that depend on key and data, as
 * with AES, in tables that span 32 cache lines on a CPU device. Bitslicing,
 * the remedy, needs 32 blocks at once, which a CBC packet under encryption does
 * not have.
 */
#ifndef INC_DES_CL
#define INC_DES_CL

#include "inc_bytes.cl"

/* S-boxes, by the six bits that go in: a hexadecimal digit for each. */
CONSTANT_AS u64 des_sbox[8][4] = {
	{0xe04fd7142ef2bd81, 0x3aa66ccb59950378, 0x4f1ce882d46921b7, 0xf5cb937e3aa0560d},
	{0xf31d84e76fb2384e, 0x9c7021dac6095ba5, 0x0de87ab1a34fd412, 0x5b86c76c90352ef9},
	{0xad0790e96334f65a, 0x12d8c57ebc4b2f81, 0xd16a4d9086f93807, 0xb41f2ec35ba5e27c},
	{0x7dd8eb35066f90a3, 0x1427825cb1ca4ef9, 0xa36f9006cab17dd8, 0xf91435eb5c27824e},
	{0x2ecb421c74a7bd61, 0x85503ffad309e896, 0x4b281cb7a1de728d, 0xf69fc0596a3405e3},
	{0xca1fa4f2972c6985, 0x06d13d4ee07b53b8, 0x94e3f25c2985cf3a, 0x7b0e41a716d0b86d},
	{0x4db02be7f40981da, 0x3ec3957c52af6816, 0x164bbdd8c1347ae7, 0xa9f5608f0e52932c},
	{0xd12f8d486af3b714, 0xac9536eb500ec972, 0x72b14e1794cae82d, 0x0f6ca9d0f335568b},
};

/* Where the permutation P puts bits: their left shifts, the first S-box's high bit first. */
CONSTANT_AS u8 des_place[32] = {
	23, 15, 9, 1,  19, 4, 30, 14, 8, 16, 2,	 26, 6,	 12, 22, 31,
	24, 18, 7, 29, 28, 3, 21, 13, 0, 20, 10, 25, 27, 5,  17, 11,
};

struct des_tables {
	u32 sp[8][64]; /* an S-box's output in its place */
};

/* Every work-item fills its share: first, first + step, ... */
DECLSPEC void des_tables_fill(LOCAL_AS struct des_tables *t, u32 first, u32 step)
{
	u32 i, bit;

	for (i = first; i < 8 * 64; i += step) {
		u32 box = i / 64, x = i % 64;
		u32 s = (u32)(des_sbox[box][x / 16] >> (60 - 4 * (x % 16)));
		u32 sp = 0;

		for (bit = 0; bit < 4; bit++)
			sp |= (s >> (3 - bit) & 1) << des_place[4 * box + bit];
		t->sp[box][x] = sp;
	}
}

/* Six bits each for the odd S-boxes in k[0], for the even ones in k[1]: bits 31 to 26,
 * 23 to 18, 15 to 10, 7 to 2. */
DECLSPEC u32 des_round(LOCAL_AS const struct des_tables *t, u32 r, GLOBAL_AS const u32 *k)
{
	u32 x = rotl32(r, 31) ^ k[0];
	u32 y = rotl32(r, 3) ^ k[1];

	return t->sp[0][x >> 26] ^ t->sp[2][x >> 18 & 63] ^ t->sp[4][x >> 10 & 63] ^
	       t->sp[6][x >> 2 & 63] ^ t->sp[1][y >> 26] ^ t->sp[3][y >> 18 & 63] ^
	       t->sp[5][y >> 10 & 63] ^ t->sp[7][y >> 2 & 63];
}

#define DES_SWAP(a, b, n, mask) \
	do { \
		u32 d = ((a) >> (n) ^ (b)) & (mask); \
\
		(b) ^= d; \
		(a) ^= d << (n); \
	} while (0)

/* 48 rounds in the order of the keys, which is the direction. */
DECLSPEC void des3(LOCAL_AS const struct des_tables *t, GLOBAL_AS const u32 *k, u32 block[2])
{
	u32 l = block[0], r = block[1];
	u32 i;

	DES_SWAP(l, r, 4, 0x0f0f0f0f);
	DES_SWAP(l, r, 16, 0x0000ffff);
	DES_SWAP(r, l, 2, 0x33333333);
	DES_SWAP(r, l, 8, 0x00ff00ff);
	DES_SWAP(l, r, 1, 0x55555555);
	for (i = 0; i < 48; i += 2, k += 4) {
		if (i == 16 || i == 32) {
			u32 swap = l;

			l = r;
			r = swap;
		}
		l ^= des_round(t, r, k);
		r ^= des_round(t, l, k + 2);
	}
	DES_SWAP(r, l, 1, 0x55555555);
	DES_SWAP(l, r, 8, 0x00ff00ff);
	DES_SWAP(l, r, 2, 0x33333333);
	DES_SWAP(r, l, 16, 0x0000ffff);
	DES_SWAP(r, l, 4, 0x0f0f0f0f);
	block[0] = r;
	block[1] = l;
}

DECLSPEC void des3_cbc(LOCAL_AS const struct des_tables *t, GLOBAL_AS const struct ocl_session *s,
		       GLOBAL_AS u8 *p, u32 len, const u32 iv[4])
{
	const u32 decrypt = OCL_LABEL_DECRYPT(s->label);
	u32 last[2] = {iv[0], iv[1]};
	u32 off, i;

	for (off = 0; off < len; off += 8) {
		u32 x[2], y[2];

		for (i = 0; i < 2; i++) {
			x[i] = load_be32(p + off + 4 * i);
			y[i] = decrypt ? x[i] : x[i] ^ last[i];
		}
		des3(t, s->round_key, y);
		for (i = 0; i < 2; i++) {
			y[i] ^= decrypt ? last[i] : 0;
			last[i] = decrypt ? x[i] : y[i];
			store_be32(p + off + 4 * i, y[i]);
		}
	}
}

#endif
