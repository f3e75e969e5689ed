/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AES-CBC (RFC 3602) in place; len is a multiple of 16. */
#ifndef INC_CBC_CL
#define INC_CBC_CL

#include "inc_aes.cl"

DECLSPEC void cbc_encrypt(LOCAL_AS const struct aes_tables *t,
			  GLOBAL_AS const struct ocl_session *s, GLOBAL_AS u8 *p, u32 len,
			  u32 iv[4])
{
	u32 off, i;

	for (off = 0; off < len; off += 16) {
		u32 x[4];

		load_block(p + off, x);
		for (i = 0; i < 4; i++)
			iv[i] ^= x[i];
		aes_encrypt(t, s->round_key, s->rounds, iv);
		store_block(p + off, iv);
	}
}

DECLSPEC void cbc_decrypt(LOCAL_AS const struct aes_tables *t,
			  GLOBAL_AS const struct ocl_session *s, GLOBAL_AS u8 *p, u32 len,
			  u32 iv[4])
{
	u32 off, i;

	for (off = 0; off < len; off += 16) {
		u32 x[4], y[4];

		load_block(p + off, x);
		for (i = 0; i < 4; i++)
			y[i] = x[i];
		aes_decrypt(t, s->round_key, s->rounds, y);
		for (i = 0; i < 4; i++) {
			y[i] ^= iv[i];
			iv[i] = x[i];
		}
		store_block(p + off, y);
	}
}

#endif
