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

/* En- or decrypt n <= 16 bytes, absorbing the ciphertext. */
DECLSPEC void gcm_block(struct ghash *g, const u32 stream[4], GLOBAL_AS u8 *p, u32 n, u32 decrypt)
{
	u32 x[4], y[4];
	u32 i;

	xor_block(stream, p, n, x, y);
	for (i = 0; i < 4; i++)
		x[i] = decrypt ? x[i] : y[i];
	ghash_block(g, x);
}

DECLSPEC void gcm(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
		  GLOBAL_AS u8 *p, u32 len, GLOBAL_AS const u8 *aad, u32 aad_len,
		  const u32 iv[4], u32 mac[16])
{
	const struct aes aes = aes_use(t, s->round_key, s->rounds);
	u32 decrypt = OCL_LABEL_DECRYPT(s->label);
	struct ghash g;
	u32 x[4];
	u32 off, i;

	ghash_init(&g, s->mac.h[0], s->mac.h[1]);
	ghash_update(&g, aad, aad_len);
	for (off = 0; off < len; off += 16) {
		gcm_key_stream(&aes, iv, 2 + off / 16, x);
		gcm_block(&g, x, p + off, len - off, decrypt);
	}
	x[0] = aad_len >> 29;
	x[1] = aad_len << 3;
	x[2] = len >> 29;
	x[3] = len << 3;
	ghash_block(&g, x);
	gcm_key_stream(&aes, iv, 1, x);
	for (i = 0; i < 4; i++)
		mac[i] = x[i] ^ (u32)(g.y[1 - i / 2] >> (32 - 32 * (i & 1)));
}

#endif
