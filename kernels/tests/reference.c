/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "reference.h"

static void must(int ok)
{
	if (ok > 0)
		return;
	fprintf(stderr, "OpenSSL failed\n");
	abort();
}

/* By key length: 16, 24 or 32. */
static const EVP_CIPHER *aes(const EVP_CIPHER *a, const EVP_CIPHER *b, const EVP_CIPHER *c,
			     size_t key_len)
{
	return key_len == 16 ? a : key_len == 24 ? b : c;
}

static const EVP_CIPHER *evp_cipher(enum ocl_cipher cipher, size_t n)
{
	switch (cipher) {
	case OCL_CIPHER_AES_CBC:
		return aes(EVP_aes_128_cbc(), EVP_aes_192_cbc(), EVP_aes_256_cbc(), n);
	case OCL_CIPHER_AES_CTR:
		return aes(EVP_aes_128_ctr(), EVP_aes_192_ctr(), EVP_aes_256_ctr(), n);
	case OCL_CIPHER_3DES_CBC:
		return EVP_des_ede3_cbc();
	case OCL_CIPHER_AES_GCM:
		return aes(EVP_aes_128_gcm(), EVP_aes_192_gcm(), EVP_aes_256_gcm(), n);
	case OCL_CIPHER_AES_CCM:
		return aes(EVP_aes_128_ccm(), EVP_aes_192_ccm(), EVP_aes_256_ccm(), n);
	default:
		return EVP_chacha20_poly1305();
	}
}

void reference_cipher(enum ocl_cipher cipher, const uint8_t *key, size_t key_len, const uint8_t *iv,
		      uint8_t *data, size_t len)
{
	EVP_CIPHER_CTX *ctx;
	int n;

	if (cipher == OCL_CIPHER_NONE || len == 0)
		return;
	ctx = EVP_CIPHER_CTX_new();
	must(ctx != NULL);
	must(EVP_EncryptInit_ex(ctx, evp_cipher(cipher, key_len), NULL, key, iv));
	must(EVP_CIPHER_CTX_set_padding(ctx, 0));
	must(EVP_EncryptUpdate(ctx, data, &n, data, len));
	EVP_CIPHER_CTX_free(ctx);
}

/* OpenSSL 3.0 has CMAC, but no XCBC, which is CBC of the prepared message. */
static void xcbc(const uint8_t *key, const uint8_t *data, size_t len, uint8_t mac[16])
{
	static const uint8_t zeros[16];
	size_t blocks = len ? (len + 15) / 16 : 1, tail = len - 16 * (blocks - 1);
	uint8_t keys[3][16], *message = calloc(blocks, 16);

	must(message != NULL);
	for (int i = 0; i < 3; i++) {
		memset(keys[i], i + 1, 16);
		reference_cipher(OCL_CIPHER_AES_CBC, key, 16, zeros, keys[i], 16);
	}
	if (len)
		memcpy(message, data, len);
	if (tail < 16)
		message[len] = 0x80;
	for (int i = 0; i < 16; i++)
		message[16 * (blocks - 1) + i] ^= keys[tail < 16 ? 2 : 1][i];
	reference_cipher(OCL_CIPHER_AES_CBC, keys[0], 16, zeros, message, 16 * blocks);
	memcpy(mac, message + 16 * (blocks - 1), 16);
	free(message);
}

static const EVP_MD *evp_md(enum ocl_auth auth)
{
	switch (auth) {
	case OCL_AUTH_HMAC_MD5:
		return EVP_md5();
	case OCL_AUTH_HMAC_SHA1:
		return EVP_sha1();
	case OCL_AUTH_HMAC_SHA256:
		return EVP_sha256();
	case OCL_AUTH_HMAC_SHA384:
		return EVP_sha384();
	default:
		return EVP_sha512();
	}
}

size_t reference_digest_len(enum ocl_auth auth)
{
	if (auth == OCL_AUTH_NONE)
		return 0;
	return auth >= OCL_AUTH_AES_XCBC ? 16 : EVP_MD_get_size(evp_md(auth));
}

void reference_auth(enum ocl_auth auth, const uint8_t *key, size_t key_len, const uint8_t *iv,
		    const uint8_t *data, size_t len, uint8_t *digest)
{
	switch (auth) {
	case OCL_AUTH_NONE:
		break;
	case OCL_AUTH_AES_XCBC:
		xcbc(key, data, len, digest);
		break;
	case OCL_AUTH_AES_GMAC:
		reference_aead(OCL_CIPHER_AES_GCM, key, key_len, iv, 12, data, len, NULL, 0, digest,
			       16);
		break;
	default:
		must(HMAC(evp_md(auth), key, key_len, data, len, digest, NULL) != NULL);
	}
}

void reference_aead(enum ocl_cipher cipher, const uint8_t *key, size_t key_len, const uint8_t *iv,
		    size_t iv_len, const uint8_t *aad, size_t aad_len, uint8_t *data, size_t len,
		    uint8_t *tag, size_t tag_len)
{
	const bool ccm = cipher == OCL_CIPHER_AES_CCM;
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t none[16];
	int n;

	must(ctx != NULL);
	must(EVP_EncryptInit_ex(ctx, evp_cipher(cipher, key_len), NULL, NULL, NULL));
	must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, iv_len, NULL));
	if (ccm)
		must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, tag_len, NULL));
	must(EVP_EncryptInit_ex(ctx, NULL, NULL, key, iv));
	if (ccm)
		must(EVP_EncryptUpdate(ctx, NULL, &n, NULL, len));
	if (aad_len)
		must(EVP_EncryptUpdate(ctx, NULL, &n, aad, aad_len));
	if (len || ccm)
		must(EVP_EncryptUpdate(ctx, data ? data : none, &n, data ? data : none, len));
	must(EVP_EncryptFinal_ex(ctx, none, &n));
	must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, tag_len, tag));
	EVP_CIPHER_CTX_free(ctx);
}
