/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AES-CBC (RFC 3602) in place; len is a multiple of 16. */
#ifndef INC_CBC_CL
#define INC_CBC_CL

#include "inc_aes.cl"

DECLSPEC void cbc_encrypt(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
			  GLOBAL_AS u8 *p, u32 len, u32 iv[4])
{
	const struct aes aes = aes_use(t, AES_ENCRYPT, s->round_key, s->rounds);
	u32 next[4];
	u32 off, i;

	if (len)
		load_raw(p, next, 4);
	for (off = 0; off < len; off += 16) {
		for (i = 0; i < 4; i++)
			iv[i] ^= swap32(next[i]);
		if (off + 16 < len)
			load_raw(p + off + 16, next, 4);
		aes_encrypt(&aes, iv);
		store_block(p + off, iv);
	}
}

DECLSPEC void cbc_decrypt(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
			  GLOBAL_AS u8 *p, u32 len, u32 iv[4])
{
	const struct aes aes = aes_use(t, AES_DECRYPT, s->round_key, s->rounds);
	u32 next[4];
	u32 off, i;

	if (len)
		load_raw(p, next, 4);
	for (off = 0; off < len; off += 16) {
		u32 x[4], y[4];

		for (i = 0; i < 4; i++)
			x[i] = y[i] = swap32(next[i]);
		if (off + 16 < len)
			load_raw(p + off + 16, next, 4);
		aes_decrypt(&aes, y);
		for (i = 0; i < 4; i++) {
			y[i] ^= iv[i];
			iv[i] = x[i];
		}
		store_block(p + off, y);
	}
}

#endif
