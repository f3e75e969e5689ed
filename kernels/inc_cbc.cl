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

/* Where a lane's share of a packet to decrypt begins: with as many blocks in a row as all others',
 * but the last ones. */
DECLSPEC u32 cbc_share(u32 len, u32 lane, u32 lanes)
{
	u32 off = (len / 16 + lanes - 1) / lanes * 16 * lane;

	return off < len ? off : len;
}

/* The ciphertext in front of a lane's first block; before any lane decrypts, because they do so in place. */
DECLSPEC void cbc_chain(GLOBAL_AS const u8 *p, u32 len, u32 lane, u32 lanes, u32 iv[4])
{
	u32 first = cbc_share(len, lane, lanes);

	if (first)
		load_block(p + first - 16, iv);
}

/* One lane's share; iv is of cbc_chain(). */
DECLSPEC void cbc_decrypt(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
			  GLOBAL_AS u8 *p, u32 len, u32 iv[4], u32 lane, u32 lanes)
{
	const struct aes aes = aes_use(t, AES_DECRYPT, s->round_key, s->rounds);
	const u32 end = cbc_share(len, lane + 1, lanes);
	u32 next[4];
	u32 off = cbc_share(len, lane, lanes), i;

	if (off < end)
		load_raw(p + off, next, 4);
	for (; off < end; off += 16) {
		u32 x[4], y[4];

		for (i = 0; i < 4; i++)
			x[i] = y[i] = swap32(next[i]);
		if (off + 16 < end)
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
