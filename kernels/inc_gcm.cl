/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AES-GCM (NIST SP 800-38D, RFC 4106) in place, with a 12-byte IV. Decrypts and
 * authenticates in one pass: the host keeps the plaintext of a packet that fails
 * to itself.
 */
#ifndef INC_GCM_CL
#define INC_GCM_CL

#include "inc_ctr.cl"
#include "inc_ghash.cl"

DECLSPEC void gcm_key_stream(const struct aes *aes, const u32 iv[4], u32 counter, u32 x[4])
{
	u32 i;

	for (i = 0; i < 3; i++)
		x[i] = iv[i];
	x[3] = counter;
	aes_encrypt(aes, x);
}

/* En- or decrypt n <= 16 bytes; x is the ciphertext. */
DECLSPEC void gcm_crypt(const u32 stream[4], GLOBAL_AS u8 *p, u32 n, u32 decrypt, u32 x[4])
{
	u32 y[4];
	u32 i;

	xor_block(stream, p, n, x, y);
	for (i = 0; i < 4; i++)
		x[i] = decrypt ? x[i] : y[i];
}

/* A block of the AAD, zero-padded. */
DECLSPEC void gcm_aad(GLOBAL_AS const u8 *p, u32 n, u32 x[4])
{
	if (n >= 16)
		load_block(p, x);
	else
		load_partial(p, n, x);
}

/*
 * One lane's part. GHASH is a polynomial in H, the last block's exponent being 1 (that
 * of the lengths left aside): a lane takes the blocks whose exponents are lane + 1
 * modulo lanes, so Horner's rule runs in steps of H^lanes. y is its sum.
 */
DECLSPEC void gcm_lane(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
		       GLOBAL_AS u8 *p, u32 len, GLOBAL_AS const u8 *aad, u32 aad_len,
		       const u32 iv[4], u32 lane, u32 lanes, u64 y[2])
{
	const struct aes aes = aes_use(t, AES_ENCRYPT, s->round_key, s->rounds);
	const u32 decrypt = OCL_LABEL_DECRYPT(s->label);
	const u32 aad_blocks = (aad_len + 15) / 16, blocks = aad_blocks + (len + 15) / 16;
	struct ghash_key k;
	u32 x[4];
	u32 b;

	y[0] = 0;
	y[1] = 0;
	if (blocks <= lane)
		return;
	ghash_key(&k, s->mac.h[2 * lanes - 2], s->mac.h[2 * lanes - 1]);
	for (b = (blocks - 1 - lane) % lanes; b < blocks; b += lanes) {
		if (b < aad_blocks) {
			gcm_aad(aad + 16 * b, aad_len - 16 * b, x);
		} else {
			u32 off = 16 * (b - aad_blocks);
			u32 stream[4];

			gcm_key_stream(&aes, iv, 2 + off / 16, stream);
			gcm_crypt(stream, p + off, len - off, decrypt, x);
		}
		ghash_times(&k, y);
		ghash_add(y, x);
	}
	ghash_key(&k, s->mac.h[2 * lane], s->mac.h[2 * lane + 1]);
	ghash_times(&k, y);
}

/* The tag from the sum of the lanes. */
DECLSPEC void gcm_tag(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s, u32 len,
		      u32 aad_len, const u32 iv[4], u64 y[2], u32 mac[16])
{
	const struct aes aes = aes_use(t, AES_ENCRYPT, s->round_key, s->rounds);
	const u32 lens[4] = {aad_len >> 29, aad_len << 3, len >> 29, len << 3};
	struct ghash_key k;
	u32 x[4];
	u32 i;

	ghash_key(&k, s->mac.h[0], s->mac.h[1]);
	ghash_add(y, lens);
	ghash_times(&k, y);
	gcm_key_stream(&aes, iv, 1, x);
	for (i = 0; i < 4; i++)
		mac[i] = x[i] ^ (u32)(y[1 - i / 2] >> (32 - 32 * (i & 1)));
}

#endif
