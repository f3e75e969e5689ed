/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compression function of SHA-384 and SHA-512 (FIPS 180-4). */
#ifndef INC_SHA512_CL
#define INC_SHA512_CL

#include "inc_bytes.cl"

CONSTANT_AS u64 sha512_k[80] = {
	0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
	0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
	0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
	0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
	0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
	0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
	0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
	0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
	0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
	0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
	0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
	0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
	0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
	0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
	0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
	0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
	0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
	0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
	0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
	0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

DECLSPEC u64 rotr64(u64 x, u32 n)
{
	return x >> n | x << (64 - n);
}

#define SHA512_SUM0(x)		 (rotr64(x, 28) ^ rotr64(x, 34) ^ rotr64(x, 39))
#define SHA512_SUM1(x)		 (rotr64(x, 14) ^ rotr64(x, 18) ^ rotr64(x, 41))
#define SHA512_SIGMA0(x)	 (rotr64(x, 1) ^ rotr64(x, 8) ^ (x) >> 7)
#define SHA512_SIGMA1(x)	 (rotr64(x, 19) ^ rotr64(x, 61) ^ (x) >> 6)
#define SHA512_CHOOSE(x, y, z)	 (((x) & ((y) ^ (z))) ^ (z))
#define SHA512_MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))

#define SHA512_STEP(a, b, c, d, e, f, g, h, i) \
	do { \
		(h) += SHA512_SUM1(e) + SHA512_CHOOSE(e, f, g) + sha512_k[t + (i)] + w[i]; \
		(d) += (h); \
		(h) += SHA512_SUM0(a) + SHA512_MAJORITY(a, b, c); \
	} while (0)

#define SHA512_8_STEPS(i) \
	do { \
		SHA512_STEP(a, b, c, d, e, f, g, h, (i) + 0); \
		SHA512_STEP(h, a, b, c, d, e, f, g, (i) + 1); \
		SHA512_STEP(g, h, a, b, c, d, e, f, (i) + 2); \
		SHA512_STEP(f, g, h, a, b, c, d, e, (i) + 3); \
		SHA512_STEP(e, f, g, h, a, b, c, d, (i) + 4); \
		SHA512_STEP(d, e, f, g, h, a, b, c, (i) + 5); \
		SHA512_STEP(c, d, e, f, g, h, a, b, (i) + 6); \
		SHA512_STEP(b, c, d, e, f, g, h, a, (i) + 7); \
	} while (0)

#define SHA512_EXPAND(i) \
	(w[i] += SHA512_SIGMA0(w[((i) + 1) & 15]) + w[((i) + 9) & 15] + \
		 SHA512_SIGMA1(w[((i) + 14) & 15]))

#define SHA512_4_WORDS(i) \
	do { \
		SHA512_EXPAND((i) + 0); \
		SHA512_EXPAND((i) + 1); \
		SHA512_EXPAND((i) + 2); \
		SHA512_EXPAND((i) + 3); \
	} while (0)

/* w is used up. */
DECLSPEC void sha512_compress(u64 s[8], u64 w[16])
{
	u64 a = s[0], b = s[1], c = s[2], d = s[3];
	u64 e = s[4], f = s[5], g = s[6], h = s[7];
	u32 t;

	for (t = 0;; t += 16) {
		SHA512_8_STEPS(0);
		SHA512_8_STEPS(8);
		if (t == 64)
			break;
		SHA512_4_WORDS(0);
		SHA512_4_WORDS(4);
		SHA512_4_WORDS(8);
		SHA512_4_WORDS(12);
	}
	s[0] += a;
	s[1] += b;
	s[2] += c;
	s[3] += d;
	s[4] += e;
	s[5] += f;
	s[6] += g;
	s[7] += h;
}

#endif
