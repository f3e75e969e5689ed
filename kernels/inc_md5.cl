/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compression function of MD5 (RFC 1321), for HMAC-MD5-96 (RFC 2403). */
#ifndef INC_MD5_CL
#define INC_MD5_CL

#include "inc_bytes.cl"

/* floor(2^32 * |sin(i + 1)|) */
CONSTANT_AS u32 md5_k[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
	0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
	0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
	0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
	0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
	0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
	0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
	0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
	0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
	0xeb86d391,
};

#define MD5_F(x, y, z) (((x) & ((y) ^ (z))) ^ (z))
#define MD5_G(x, y, z) (((z) & ((x) ^ (y))) ^ (y))
#define MD5_H(x, y, z) ((x) ^ (y) ^ (z))
#define MD5_I(x, y, z) ((y) ^ ((x) | ~(z)))

#define MD5_STEP(f, a, b, c, d, k, i, n) \
	((a) = (b) + rotl32((a) + f(b, c, d) + w[(k)&15] + md5_k[i], n))

/* Four steps from step i on, on words k, k + inc, ... */
#define MD5_4_STEPS(f, i, k, inc, n0, n1, n2, n3) \
	do { \
		MD5_STEP(f, a, b, c, d, k, i, n0); \
		MD5_STEP(f, d, a, b, c, (k) + (inc), (i) + 1, n1); \
		MD5_STEP(f, c, d, a, b, (k) + 2 * (inc), (i) + 2, n2); \
		MD5_STEP(f, b, c, d, a, (k) + 3 * (inc), (i) + 3, n3); \
	} while (0)

#define MD5_16_STEPS(f, i, k, inc, n0, n1, n2, n3) \
	do { \
		MD5_4_STEPS(f, i, k, inc, n0, n1, n2, n3); \
		MD5_4_STEPS(f, (i) + 4, (k) + 4 * (inc), inc, n0, n1, n2, n3); \
		MD5_4_STEPS(f, (i) + 8, (k) + 8 * (inc), inc, n0, n1, n2, n3); \
		MD5_4_STEPS(f, (i) + 12, (k) + 12 * (inc), inc, n0, n1, n2, n3); \
	} while (0)

/* Little-endian words, other than the rest of the hashes. */
DECLSPEC void md5_compress(u32 s[8], const u32 w[16])
{
	u32 a = s[0], b = s[1], c = s[2], d = s[3];

	MD5_16_STEPS(MD5_F, 0, 0, 1, 7, 12, 17, 22);
	MD5_16_STEPS(MD5_G, 16, 1, 5, 5, 9, 14, 20);
	MD5_16_STEPS(MD5_H, 32, 5, 3, 4, 11, 16, 23);
	MD5_16_STEPS(MD5_I, 48, 0, 7, 6, 10, 15, 21);
	s[0] += a;
	s[1] += b;
	s[2] += c;
	s[3] += d;
}

#endif
