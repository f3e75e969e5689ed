/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compression function of SHA-1 (FIPS 180-4). */
#ifndef INC_SHA1_CL
#define INC_SHA1_CL

#include "inc_bytes.cl"

#define SHA1_CHOOSE(x, y, z)   (((x) & ((y) ^ (z))) ^ (z))
#define SHA1_PARITY(x, y, z)   ((x) ^ (y) ^ (z))
#define SHA1_MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))

#define SHA1_EXPAND(i) \
	(w[(i)&15] = rotl32(w[((i) + 13) & 15] ^ w[((i) + 8) & 15] ^ w[((i) + 2) & 15] ^ \
				    w[(i)&15], \
			    1))
#define SHA1_WORD(i) ((i) < 16 ? w[(i)&15] : SHA1_EXPAND(i))

#define SHA1_STEP(f, k, a, b, c, d, e, i) \
	do { \
		(e) += rotl32(a, 5) + f(b, c, d) + (k) + SHA1_WORD(i); \
		(b) = rotl32(b, 30); \
	} while (0)

#define SHA1_5_STEPS(f, k, i) \
	do { \
		SHA1_STEP(f, k, a, b, c, d, e, (i) + 0); \
		SHA1_STEP(f, k, e, a, b, c, d, (i) + 1); \
		SHA1_STEP(f, k, d, e, a, b, c, (i) + 2); \
		SHA1_STEP(f, k, c, d, e, a, b, (i) + 3); \
		SHA1_STEP(f, k, b, c, d, e, a, (i) + 4); \
	} while (0)

#define SHA1_20_STEPS(f, k, i) \
	do { \
		SHA1_5_STEPS(f, k, (i) + 0); \
		SHA1_5_STEPS(f, k, (i) + 5); \
		SHA1_5_STEPS(f, k, (i) + 10); \
		SHA1_5_STEPS(f, k, (i) + 15); \
	} while (0)

/* w is used up. */
DECLSPEC void sha1_compress(u32 s[8], u32 w[16])
{
	u32 a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];

	SHA1_20_STEPS(SHA1_CHOOSE, 0x5a827999, 0);
	SHA1_20_STEPS(SHA1_PARITY, 0x6ed9eba1, 20);
	SHA1_20_STEPS(SHA1_MAJORITY, 0x8f1bbcdc, 40);
	SHA1_20_STEPS(SHA1_PARITY, 0xca62c1d6, 60);
	s[0] += a;
	s[1] += b;
	s[2] += c;
	s[3] += d;
	s[4] += e;
}

#endif
