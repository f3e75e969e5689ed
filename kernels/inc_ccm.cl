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
			u32 offset = 16 * b + 4 * i + j;
			u32 byte = offset == 0	      ? len >> 8
				   : offset == 1      ? len & 0xff
				   : offset - 2 < len ? p[offset - 2]
						      : 0;

			x[i] = x[i] << 8 | byte;
		}
	}
}

/* Counter block 0; the message's first is 1. */
DECLSPEC void ccm_counter(GLOBAL_AS const struct ocl_session *s, const u32 iv[4], u32 x[4])
{
	ccm_block(14 - s->nonce_len, iv, s->nonce_len, x);
}

/* One lane's blocks of the message, as with CTR. */
DECLSPEC void ccm_cipher(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
			 GLOBAL_AS u8 *p, u32 len, const u32 iv[4], u32 lane, u32 lanes)
{
	u32 counter[4];

	ccm_counter(s, iv, counter);
	counter[3] |= 1;
	ctr(t, s, p, len, counter, lane, lanes);
}

/* The message's block at off, zero-padded if it is the last one. */
DECLSPEC void ccm_message_block(GLOBAL_AS const u8 *p, u32 len, u32 off, u32 x[4])
{
	if (len - off >= 16)
		load_block(p + off, x);
	else
		load_partial(p + off, len - off, x);
}

/* The encrypted CBC-MAC of block 0, the AAD's blocks and the message's. */
DECLSPEC void ccm_mac(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
		      GLOBAL_AS const u8 *p, u32 len, GLOBAL_AS const u8 *aad, u32 aad_len,
		      const u32 iv[4], u32 mac[16])
{
	const struct aes aes = aes_use(t, AES_ENCRYPT, s->round_key, s->rounds);
	const u32 aad_blocks = aad_len ? (aad_len + 2 + 15) / 16 : 0;
	const u32 blocks = 1 + aad_blocks + (len + 15) / 16;
	u32 mask[4], e[4] = {0, 0, 0, 0};
	u32 b, i;

	for (b = 0; b < blocks; b++) {
		u32 x[4];

		if (b == 0) {
			ccm_block((aad_len ? 64 : 0) | (s->digest_len - 2) / 2 << 3 |
					  (14 - s->nonce_len),
				  iv, s->nonce_len, x);
			x[3] |= len;
		} else if (b <= aad_blocks) {
			ccm_aad_block(aad, aad_len, b - 1, x);
		} else {
			ccm_message_block(p, len, 16 * (b - 1 - aad_blocks), x);
		}
		for (i = 0; i < 4; i++)
			e[i] ^= x[i];
		aes_encrypt(&aes, e);
	}
	ccm_counter(s, iv, mask);
	aes_encrypt(&aes, mask);
	for (i = 0; i < 4; i++)
		mac[i] = e[i] ^ mask[i];
}

#endif
