/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compression function of SHA-256 (FIPS 180-4). */
#ifndef INC_SHA256_CL
#define INC_SHA256_CL

#include "inc_bytes.cl"

CONSTANT_AS u32 sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

#define SHA256_SUM0(x)		 (rotl32(x, 30) ^ rotl32(x, 19) ^ rotl32(x, 10))
#define SHA256_SUM1(x)		 (rotl32(x, 26) ^ rotl32(x, 21) ^ rotl32(x, 7))
#define SHA256_SIGMA0(x)	 (rotl32(x, 25) ^ rotl32(x, 14) ^ (x) >> 3)
#define SHA256_SIGMA1(x)	 (rotl32(x, 15) ^ rotl32(x, 13) ^ (x) >> 10)
#define SHA256_CHOOSE(x, y, z)	 (((x) & ((y) ^ (z))) ^ (z))
#define SHA256_MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))

#define SHA256_STEP(a, b, c, d, e, f, g, h, i) \
	do { \
		(h) += SHA256_SUM1(e) + SHA256_CHOOSE(e, f, g) + sha256_k[t + (i)] + w[i]; \
		(d) += (h); \
		(h) += SHA256_SUM0(a) + SHA256_MAJORITY(a, b, c); \
	} while (0)

#define SHA256_8_STEPS(i) \
	do { \
		SHA256_STEP(a, b, c, d, e, f, g, h, (i) + 0); \
		SHA256_STEP(h, a, b, c, d, e, f, g, (i) + 1); \
		SHA256_STEP(g, h, a, b, c, d, e, f, (i) + 2); \
		SHA256_STEP(f, g, h, a, b, c, d, e, (i) + 3); \
		SHA256_STEP(e, f, g, h, a, b, c, d, (i) + 4); \
		SHA256_STEP(d, e, f, g, h, a, b, c, (i) + 5); \
		SHA256_STEP(c, d, e, f, g, h, a, b, (i) + 6); \
		SHA256_STEP(b, c, d, e, f, g, h, a, (i) + 7); \
	} while (0)

#define SHA256_EXPAND(i) \
	(w[i] += SHA256_SIGMA0(w[((i) + 1) & 15]) + w[((i) + 9) & 15] + \
		 SHA256_SIGMA1(w[((i) + 14) & 15]))

#define SHA256_4_WORDS(i) \
	do { \
		SHA256_EXPAND((i) + 0); \
		SHA256_EXPAND((i) + 1); \
		SHA256_EXPAND((i) + 2); \
		SHA256_EXPAND((i) + 3); \
	} while (0)

/* w is used up. */
DECLSPEC void sha256_compress(u32 s[8], u32 w[16])
{
	u32 a = s[0], b = s[1], c = s[2], d = s[3];
	u32 e = s[4], f = s[5], g = s[6], h = s[7];
	u32 t;

	for (t = 0;; t += 16) {
		SHA256_8_STEPS(0);
		SHA256_8_STEPS(8);
		if (t == 48)
			break;
		SHA256_4_WORDS(0);
		SHA256_4_WORDS(4);
		SHA256_4_WORDS(8);
		SHA256_4_WORDS(12);
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
