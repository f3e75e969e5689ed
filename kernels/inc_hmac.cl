/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HMAC (RFC 2104) over a message in global memory, from the states that the
 * host left in the session after the two padded keys.
 */
#ifndef INC_HMAC_CL
#define INC_HMAC_CL

#include "inc_md5.cl"
#include "inc_sha1.cl"
#include "inc_sha256.cl"
#include "inc_sha512.cl"

/* Block b of the inner hash's padded message; blocks counts them. next is the block as it lies in
 * memory if it is whole, and becomes the one behind it. */
DECLSPEC void hmac32_block(u32 little, GLOBAL_AS const u8 *p, u32 len, u32 b, u32 blocks,
			   u32 next[16], u32 w[16])
{
	u32 off = b * 64;
	u32 i;

	if (off + 64 <= len) {
		for (i = 0; i < 16; i++)
			w[i] = swap32(next[i]);
		if (off + 128 <= len)
			load_raw(p + off + 64, next, 16);
	} else {
		for (i = 0; i < 16; i++)
			w[i] = load_tail32(p, len, off + 4 * i, 0x80);
	}
	if (little) {
		for (i = 0; i < 16; i++)
			w[i] = swap32(w[i]);
	}
	if (b == blocks - 1) {
		/* Bits, and the padded key counts. */
		w[little ? 15 : 14] = (len + 64) >> 29;
		w[little ? 14 : 15] = (len + 64) << 3;
	}
}

/* The outer hash's only block: the inner digest, padded. */
DECLSPEC void hmac32_outer_block(u32 little, const u32 h[8], u32 words, u32 w[16])
{
	const u32 pad = little ? 0x80 : 0x80000000;
	u32 i;

	for (i = 0; i < 8; i++)
		w[i] = i < words ? h[i] : i == words ? pad : 0;
	w[8] = words == 8 ? pad : 0;
	for (i = 9; i < 16; i++)
		w[i] = 0;
	w[little ? 14 : 15] = (64 + 4 * words) * 8;
}

DECLSPEC void hmac32_compress(u32 auth, u32 h[8], u32 w[16])
{
	if (auth == OCL_AUTH_HMAC_MD5)
		md5_compress(h, w);
	else if (auth == OCL_AUTH_HMAC_SHA1)
		sha1_compress(h, w);
	else
		sha256_compress(h, w);
}

/* HMAC-MD5, HMAC-SHA-1 and HMAC-SHA-256; len is below 2^32 - 128. */
DECLSPEC void hmac32(u32 auth, GLOBAL_AS const struct ocl_session *s, GLOBAL_AS const u8 *p,
		     u32 len, u32 mac[16])
{
	u32 little = auth == OCL_AUTH_HMAC_MD5;
	u32 words = little ? 4 : auth == OCL_AUTH_HMAC_SHA1 ? 5 : 8;
	u32 blocks = (len + 8) / 64 + 1;
	u32 h[8], w[16], next[16];
	u32 b, i;

	for (i = 0; i < 8; i++)
		h[i] = (u32)s->mac.state[i];
	if (len >= 64)
		load_raw(p, next, 16);
	/* One round more than blocks, so that the compression appears once. */
	for (b = 0; b <= blocks; b++) {
		if (b < blocks) {
			hmac32_block(little, p, len, b, blocks, next, w);
		} else {
			hmac32_outer_block(little, h, words, w);
			for (i = 0; i < 8; i++)
				h[i] = (u32)s->mac.state[8 + i];
		}
		hmac32_compress(auth, h, w);
	}
	for (i = 0; i < 8; i++)
		mac[i] = little ? swap32(h[i]) : h[i];
}

DECLSPEC void hmac64_block(GLOBAL_AS const u8 *p, u32 len, u32 b, u32 blocks, u64 w[16])
{
	u32 off = b * 128;
	u32 i;

	if (off + 128 <= len) {
		for (i = 0; i < 16; i += 2) {
			u32 x[4];

			load_block(p + off + 8 * i, x);
			w[i] = (u64)x[0] << 32 | x[1];
			w[i + 1] = (u64)x[2] << 32 | x[3];
		}
		return;
	}
	for (i = 0; i < 16; i++)
		w[i] = (u64)load_tail32(p, len, off + 8 * i, 0x80) << 32 |
		       load_tail32(p, len, off + 8 * i + 4, 0x80);
	if (b == blocks - 1) {
		w[14] = 0;
		w[15] = ((u64)len + 128) << 3;
	}
}

DECLSPEC void hmac64_outer_block(const u64 h[8], u32 words, u64 w[16])
{
	u32 i;

	for (i = 0; i < 8; i++)
		w[i] = i < words ? h[i] : i == words ? 1UL << 63 : 0;
	w[8] = words == 8 ? 1UL << 63 : 0;
	for (i = 9; i < 15; i++)
		w[i] = 0;
	w[15] = (128 + 8 * words) * 8;
}

/* HMAC-SHA-384 and HMAC-SHA-512, which differ in the outer block only. */
DECLSPEC void hmac64(u32 auth, GLOBAL_AS const struct ocl_session *s, GLOBAL_AS const u8 *p,
		     u32 len, u32 mac[16])
{
	u32 blocks = (len + 16) / 128 + 1;
	u64 h[8], w[16];
	u32 b, i;

	for (i = 0; i < 8; i++)
		h[i] = s->mac.state[i];
	for (b = 0; b <= blocks; b++) {
		if (b < blocks) {
			hmac64_block(p, len, b, blocks, w);
		} else {
			hmac64_outer_block(h, auth == OCL_AUTH_HMAC_SHA384 ? 6 : 8, w);
			for (i = 0; i < 8; i++)
				h[i] = s->mac.state[8 + i];
		}
		sha512_compress(h, w);
	}
	for (i = 0; i < 8; i++) {
		mac[2 * i] = (u32)(h[i] >> 32);
		mac[2 * i + 1] = (u32)h[i];
	}
}

#endif
