/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AES-CCM (NIST SP 800-38C, RFC 4309) in place, for messages and AAD below
 * 65,280 bytes. As with GCM, the host keeps the plaintext of a packet that fails
 * to itself.
 */
#ifndef INC_CCM_CL
#define INC_CCM_CL

#include "inc_ctr.cl"

/* Flags, the nonce, zeros up to the 16 bytes: room for the length, or the counter. */
DECLSPEC void ccm_block(u32 flags, const u32 iv[4], u32 nonce_len, u32 x[4])
{
	u32 i;

	for (i = 0; i < 4; i++) {
		u32 from = 4 * i;
		u32 keep = nonce_len + 1 > from ? nonce_len + 1 - from : 0;

		x[i] = iv[i] >> 8 | (i ? iv[i - 1] << 24 : flags << 24);
		if (keep < 4)
			x[i] &= ~(0xffffffff >> 8 * keep);
	}
}

/* Block b of the AAD behind its length's two bytes. */
DECLSPEC void ccm_aad_block(GLOBAL_AS const u8 *p, u32 len, u32 b, u32 x[4])
{
	u32 i, j;

	for (i = 0; i < 4; i++) {
		x[i] = 0;
		for (j = 0; j < 4; j++) {
			u32 at = 16 * b + 4 * i + j;
			u32 byte = at == 0 ? len >> 8 : at == 1 ? len & 0xff :
				   at - 2 < len ? p[at - 2] : 0;

			x[i] = x[i] << 8 | byte;
		}
	}
}

/* Both passes in one loop: block 0, those of the AAD, those of the message; beside the MAC's
 * chain runs the counter's. */
DECLSPEC void ccm(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
		  GLOBAL_AS u8 *p, u32 len, GLOBAL_AS const u8 *aad, u32 aad_len,
		  const u32 iv[4], u32 mac[16])
{
	const struct aes aes = aes_use(t, AES_ENCRYPT, s->round_key, s->rounds);
	const u32 decrypt = OCL_LABEL_DECRYPT(s->label), q = 15 - s->nonce_len;
	const u32 aad_blocks = aad_len ? (aad_len + 2 + 15) / 16 : 0;
	const u32 blocks = 1 + aad_blocks + (len + 15) / 16;
	u32 e[4] = {0, 0, 0, 0};
	u32 mask[4], first[4];
	u32 b, i;

	ccm_block(q - 1, iv, s->nonce_len, first);
	for (b = 0; b < blocks; b++) {
		u32 stream[4], x[4], y[4];

		if (b == 0 || b > aad_blocks) {
			for (i = 0; i < 4; i++)
				stream[i] = first[i];
			stream[3] |= b ? b - aad_blocks : 0;
			aes_encrypt(&aes, stream);
		}
		if (b == 0) {
			ccm_block((aad_len ? 64 : 0) | (s->digest_len - 2) / 2 << 3 | (q - 1),
				  iv, s->nonce_len, x);
			x[3] |= len;
			for (i = 0; i < 4; i++)
				mask[i] = stream[i];
		} else if (b <= aad_blocks) {
			ccm_aad_block(aad, aad_len, b - 1, x);
		} else {
			u32 off = 16 * (b - 1 - aad_blocks);

			xor_block(stream, p + off, len - off, x, y);
			for (i = 0; i < 4; i++)
				x[i] = decrypt ? y[i] : x[i];
		}
		for (i = 0; i < 4; i++)
			e[i] ^= x[i];
		aes_encrypt(&aes, e);
	}
	for (i = 0; i < 4; i++)
		mac[i] = e[i] ^ mask[i];
}

#endif
