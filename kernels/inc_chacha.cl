/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ChaCha20-Poly1305 (RFC 8439, RFC 7634) in place: additions, rotations and
 * exclusive ors only, so in constant time. As with GCM, the host keeps the
 * plaintext of a packet that fails to itself.
 */
#ifndef INC_CHACHA_CL
#define INC_CHACHA_CL

#include "inc_ctr.cl"
#include "inc_poly1305.cl"

#define CHACHA_QUARTER(a, b, c, d) \
	do { \
		x[a] += x[b]; \
		x[d] = rotl32(x[d] ^ x[a], 16); \
		x[c] += x[d]; \
		x[b] = rotl32(x[b] ^ x[c], 12); \
		x[a] += x[b]; \
		x[d] = rotl32(x[d] ^ x[a], 8); \
		x[c] += x[d]; \
		x[b] = rotl32(x[b] ^ x[c], 7); \
	} while (0)

/* Block counter of the key stream, little-endian words. */
DECLSPEC void chacha_block(const u32 key[8], const u32 nonce[3], u32 counter, u32 x[16])
{
	const u32 start[16] = {
		0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0], key[1],
		key[2],	    key[3],	key[4],	    key[5],	key[6], key[7],
		counter,    nonce[0],	nonce[1],   nonce[2],
	};
	u32 i;

	for (i = 0; i < 16; i++)
		x[i] = start[i];
	for (i = 0; i < 10; i++) {
		CHACHA_QUARTER(0, 4, 8, 12);
		CHACHA_QUARTER(1, 5, 9, 13);
		CHACHA_QUARTER(2, 6, 10, 14);
		CHACHA_QUARTER(3, 7, 11, 15);
		CHACHA_QUARTER(0, 5, 10, 15);
		CHACHA_QUARTER(1, 6, 11, 12);
		CHACHA_QUARTER(2, 7, 8, 13);
		CHACHA_QUARTER(3, 4, 9, 14);
	}
	for (i = 0; i < 16; i++)
		x[i] += start[i];
}

/* En- or decrypt n <= 64 bytes, absorbing the ciphertext. */
DECLSPEC void chacha_apply(struct poly1305 *poly, const u32 stream[16], GLOBAL_AS u8 *p, u32 n,
			   u32 decrypt)
{
	u32 off, i;

	for (off = 0; off < 64 && off < n; off += 16) {
		u32 k[4], x[4], y[4];

		for (i = 0; i < 4; i++)
			k[i] = swap32(stream[off / 4 + i]);
		xor_block(k, p + off, n - off, x, y);
		for (i = 0; i < 4; i++)
			x[i] = decrypt ? x[i] : y[i];
		poly1305_block(poly, x);
	}
}

/*
 * One lane's part: the key stream's blocks whose numbers are lane modulo lanes, and what they add to
 * the polynomial in r: Horner's rule, with a step over what the other lanes absorb from
 * one of its blocks to the next, and behind its last. The first lane has the AAD and the lengths.
 */
DECLSPEC void chacha20_lane(GLOBAL_AS const struct ocl_session *s, GLOBAL_AS u8 *p, u32 len,
			    GLOBAL_AS const u8 *aad, u32 aad_len, const u32 iv[4], u32 lane,
			    u32 lanes, struct poly1305 *poly)
{
	const u32 nonce[3] = {swap32(iv[0]), swap32(iv[1]), swap32(iv[2])};
	const u32 lens[4] = {swap32(aad_len), 0, swap32(len), 0};
	const u32 blocks = (len + 63) / 64;
	u32 key[8], stream[16], step[5];
	u32 behind = 0;
	u32 b, i;

	for (i = 0; i < 8; i++)
		key[i] = s->round_key[i];
	/* Block 0 is Poly1305's key; in one loop, so that the cipher appears once. */
	for (b = 0; b <= blocks; b += b ? lanes : lane + 1) {
		u32 off = 64 * (b - 1);

		chacha_block(key, nonce, b, stream);
		if (b == 0) {
			poly1305_init(poly, stream);
			if (lanes > 1)
				poly1305_power(poly, 4 * (lanes - 1), step);
			if (lane == 0)
				poly1305_update(poly, aad, aad_len);
		} else {
			if (lanes > 1 && b > lanes)
				poly1305_times(poly->h, step);
			chacha_apply(poly, stream, p + off, len - off, OCL_LABEL_DECRYPT(s->label));
			behind = b < blocks ? (len + 15) / 16 - 4 * b : 0;
		}
	}
	if (lane)
		behind++;
	if (behind) {
		poly1305_power(poly, behind, step);
		poly1305_times(poly->h, step);
	}
	if (lane == 0)
		poly1305_block(poly, lens);
}

#endif
