/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "emu.h"
#include "keys.h"

static u32 load32(const u8 *p)
{
	return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
}

/* FIPS 197, 5.2; returns the number of rounds. */
static u32 expand(u32 *rk, const u8 *key, u32 key_words)
{
	u32 words = 4 * (key_words + 7);
	u32 rcon = 1;

	for (u32 i = 0; i < key_words; i++)
		rk[i] = load32(key + 4 * i);
	for (u32 i = key_words; i < words; i++) {
		u32 x = rk[i - 1];

		if (i % key_words == 0) {
			x = emu_aes_sub_word(x << 8 | x >> 24) ^ rcon << 24;
			rcon = (rcon << 1 ^ (rcon >> 7) * 0x11b) & 0xff;
		} else if (key_words > 6 && i % key_words == 4) {
			x = emu_aes_sub_word(x);
		}
		rk[i] = rk[i - key_words] ^ x;
	}
	return key_words + 6;
}

/* FIPS 197, 5.3.5: round keys backwards, all but the outer two mixed. */
static void invert(u32 *rk, u32 rounds)
{
	for (u32 i = 0, j = 4 * rounds; i < j; i += 4, j -= 4) {
		for (u32 k = 0; k < 4; k++) {
			u32 x = rk[i + k];

			rk[i + k] = rk[j + k];
			rk[j + k] = x;
		}
	}
	for (u32 i = 4; i < 4 * rounds; i++)
		rk[i] = emu_aes_inv_mix_columns(rk[i]);
}

/* H, the encrypted zero block, and its powers. */
static void set_hash_key(struct ocl_session *session)
{
	u64 *h = session->mac.h;
	u32 block[4] = {0};

	emu_aes_encrypt(session->round_key, session->rounds, block);
	h[0] = (u64)block[0] << 32 | block[1];
	h[1] = (u64)block[2] << 32 | block[3];
	for (u32 i = 1; i < OCL_MAX_LANES; i++) {
		memcpy(h + 2 * i, h + 2 * i - 2, 2 * sizeof(*h));
		emu_ghash_times(h, h + 2 * i);
	}
	explicit_bzero(block, sizeof(block));
}

static int set_aes(struct ocl_session *session, const u8 *key, u32 len)
{
	u32 cipher = OCL_LABEL_CIPHER(session->label);

	if (len != 16 && len != 24 && len != 32)
		return -EINVAL;
	session->rounds = expand(session->round_key, key, len / 4);
	if (cipher == OCL_CIPHER_AES_GCM || cipher == OCL_CIPHER_NONE)
		set_hash_key(session);
	else if (cipher == OCL_CIPHER_AES_CBC && OCL_LABEL_DECRYPT(session->label))
		invert(session->round_key, session->rounds);
	return 0;
}

static u32 rotate28(u32 x, u32 n)
{
	return (x << n | x >> (28 - n)) & 0xfffffff;
}

/* Six bits of the round key for each S-box, from the halves C and D. */
static u32 des_choice(u64 cd, u32 box)
{
	/* FIPS 46-3, PC-2 */
	static const u8 choice[48] = {
		14, 17, 11, 24, 1,  5,	3,  28, 15, 6,	21, 10, 23, 19, 12, 4,
		26, 8,	16, 7,	27, 20, 13, 2,	41, 52, 31, 37, 47, 55, 30, 40,
		51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
	};
	u32 bits = 0;

	for (u32 i = 0; i < 6; i++)
		bits = bits << 1 | (cd >> (56 - choice[6 * box + i]) & 1);
	return bits;
}

/* C and D from the key, without its parity bits. */
static u64 des_halves(const u8 key[8])
{
	/* FIPS 46-3, PC-1 */
	static const u8 choice[56] = {
		57, 49, 41, 33, 25, 17, 9,  1,	58, 50, 42, 34, 26, 18, 10, 2,	59, 51, 43,
		35, 27, 19, 11, 3,  60, 52, 44, 36, 63, 55, 47, 39, 31, 23, 15, 7,  62, 54,
		46, 38, 30, 22, 14, 6,	61, 53, 45, 37, 29, 21, 13, 5,	28, 20, 12, 4,
	};
	u64 cd = 0;

	for (u32 i = 0; i < 56; i++) {
		u32 bit = choice[i] - 1;

		cd = cd << 1 | (key[bit / 8] >> (7 - bit % 8) & 1);
	}
	return cd;
}

/* 16 round keys of two words each (inc_des.cl), forwards or backwards. */
static void des_expand(u32 *rk, const u8 key[8], bool backwards)
{
	u64 cd = des_halves(key);

	for (u32 i = 0; i < 16; i++) {
		u32 shift = i < 2 || i == 8 || i == 15 ? 1 : 2;
		u32 *k = rk + 2 * (backwards ? 15 - i : i);

		cd = (u64)rotate28(cd >> 28, shift) << 28 | rotate28(cd & 0xfffffff, shift);
		k[0] = 0;
		k[1] = 0;
		for (u32 box = 0; box < 8; box++)
			k[box % 2] |= des_choice(cd, box) << (26 - 8 * (box / 2));
	}
}

/* Encryption with the first key, decryption with the second, encryption with the third; or
 * all of that backwards. */
static int set_des3(struct ocl_session *session, const u8 *key, u32 len)
{
	bool decrypt = OCL_LABEL_DECRYPT(session->label);

	if (len != 24)
		return -EINVAL;
	for (u32 i = 0; i < 3; i++)
		des_expand(session->round_key + 32 * (decrypt ? 2 - i : i), key + 8 * i,
			   decrypt != (i == 1));
	return 0;
}

static int set_chacha(struct ocl_session *session, const u8 *key, u32 len)
{
	if (len != 32)
		return -EINVAL;
	for (u32 i = 0; i < 8; i++)
		session->round_key[i] = (u32)key[4 * i + 3] << 24 | (u32)key[4 * i + 2] << 16 |
					(u32)key[4 * i + 1] << 8 | key[4 * i];
	return 0;
}

int keys_set_cipher(struct ocl_session *session, const u8 *key, u32 len)
{
	switch (OCL_LABEL_CIPHER(session->label)) {
	case OCL_CIPHER_AES_CBC:
	case OCL_CIPHER_AES_CTR:
	case OCL_CIPHER_AES_GCM:
	case OCL_CIPHER_AES_CCM:
		return set_aes(session, key, len);
	case OCL_CIPHER_3DES_CBC:
		return set_des3(session, key, len);
	case OCL_CIPHER_CHACHA20_POLY1305:
		return set_chacha(session, key, len);
	default:
		return -EINVAL;
	}
}

struct hash {
	u32 block; /* bytes */
	u32 word;  /* bytes */
	u32 little;
	u64 init[8];
};

/* RFC 1321, 3.3; FIPS 180-4, 5.3 */
static const struct hash hashes[OCL_AUTHS] = {
	[OCL_AUTH_HMAC_MD5] =
		{
			64,
			4,
			1,
			{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476},
		},
	[OCL_AUTH_HMAC_SHA1] =
		{
			64,
			4,
			0,
			{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0},
		},
	[OCL_AUTH_HMAC_SHA256] =
		{
			64,
			4,
			0,
			{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
			 0x1f83d9ab, 0x5be0cd19},
		},
	[OCL_AUTH_HMAC_SHA384] =
		{
			128,
			8,
			0,
			{0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17,
			 0x152fecd8f70e5939, 0x67332667ffc00b31, 0x8eb44a8768581511,
			 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4},
		},
	[OCL_AUTH_HMAC_SHA512] =
		{
			128,
			8,
			0,
			{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
			 0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
			 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179},
		},
};

/* The hash's state after the key, padded and masked. */
static void absorb_key(enum ocl_auth auth, const u8 *key, u32 len, u8 mask, u64 state[8])
{
	const struct hash *hash = &hashes[auth];
	u64 block[16] = {0};

	for (u32 i = 0; i < hash->block; i++) {
		u64 byte = (i < len ? key[i] : 0) ^ mask;
		u32 index = i % hash->word;

		block[i / hash->word] |= byte
					 << 8 * (hash->little ? index : hash->word - 1 - index);
	}
	memcpy(state, hash->init, sizeof(hash->init));
	emu_compress(auth, state, block);
	explicit_bzero(block, sizeof(block));
}

static int set_hmac(struct ocl_session *session, enum ocl_auth auth, const u8 *key, u32 len)
{
	if (len > hashes[auth].block)
		return -EINVAL;
	absorb_key(auth, key, len, 0x36, session->mac.state);
	absorb_key(auth, key, len, 0x5c, session->mac.state + 8);
	return 0;
}

/* RFC 3566, 4.1: three keys, each an encrypted constant, the first one expanded. */
static int set_xcbc(struct ocl_session *session, const u8 *key, u32 len)
{
	u32 rk[OCL_ROUND_KEYS], keys[3][4];
	u8 k1[16];
	u32 rounds;

	if (len != 16)
		return -EINVAL;
	rounds = expand(rk, key, 4);
	for (u32 i = 0; i < 3; i++) {
		for (u32 j = 0; j < 4; j++)
			keys[i][j] = 0x01010101 * (i + 1);
		emu_aes_encrypt(rk, rounds, keys[i]);
	}
	for (u32 i = 0; i < 16; i++)
		k1[i] = keys[0][i / 4] >> (24 - 8 * (i % 4));
	expand(session->mac.xcbc, k1, 4);
	memcpy(session->mac.xcbc + 44, keys[1], 2 * sizeof(keys[1]));
	explicit_bzero(rk, sizeof(rk));
	explicit_bzero(keys, sizeof(keys));
	explicit_bzero(k1, sizeof(k1));
	return 0;
}

int keys_set_auth(struct ocl_session *session, const u8 *key, u32 len)
{
	enum ocl_auth auth = OCL_LABEL_AUTH(session->label);

	switch (auth) {
	case OCL_AUTH_HMAC_MD5:
	case OCL_AUTH_HMAC_SHA1:
	case OCL_AUTH_HMAC_SHA256:
	case OCL_AUTH_HMAC_SHA384:
	case OCL_AUTH_HMAC_SHA512:
		return set_hmac(session, auth, key, len);
	case OCL_AUTH_AES_XCBC:
		return set_xcbc(session, key, len);
	case OCL_AUTH_AES_GMAC:
		if (OCL_LABEL_CIPHER(session->label) != OCL_CIPHER_NONE)
			return -EINVAL;
		return set_aes(session, key, len);
	default:
		return -EINVAL;
	}
}
