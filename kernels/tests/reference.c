/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>

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

static EVP_CIPHER_CTX *start(const EVP_CIPHER *cipher, const uint8_t *key, const uint8_t *iv,
			     bool encrypt)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	must(ctx != NULL);
	must(EVP_CipherInit_ex(ctx, cipher, NULL, key, iv, encrypt));
	return ctx;
}

void reference_cbc(const uint8_t *key, size_t key_len, const uint8_t iv[16], uint8_t *data,
		   size_t len, bool encrypt)
{
	const EVP_CIPHER *cipher = key_len == 16 ? EVP_aes_128_cbc() :
				   key_len == 24 ? EVP_aes_192_cbc() : EVP_aes_256_cbc();
	EVP_CIPHER_CTX *ctx = start(cipher, key, iv, encrypt);
	int n;

	must(EVP_CIPHER_CTX_set_padding(ctx, 0));
	must(EVP_CipherUpdate(ctx, data, &n, data, len));
	EVP_CIPHER_CTX_free(ctx);
}

void reference_hmac(size_t hash, const uint8_t *key, size_t key_len, const uint8_t *data,
		    size_t len, uint8_t *digest)
{
	const EVP_MD *md = hash == 16 ? EVP_md5() : hash == 20 ? EVP_sha1() :
			   hash == 32 ? EVP_sha256() : hash == 48 ? EVP_sha384() : EVP_sha512();

	must(HMAC(md, key, key_len, data, len, digest, NULL) != NULL);
}

void reference_gcm(const uint8_t *key, size_t key_len, const uint8_t iv[12], const uint8_t *aad,
		   size_t aad_len, uint8_t *data, size_t len, uint8_t tag[16])
{
	const EVP_CIPHER *cipher = key_len == 16 ? EVP_aes_128_gcm() :
				   key_len == 24 ? EVP_aes_192_gcm() : EVP_aes_256_gcm();
	EVP_CIPHER_CTX *ctx = start(cipher, key, iv, true);
	int n;

	if (aad_len)
		must(EVP_EncryptUpdate(ctx, NULL, &n, aad, aad_len));
	if (len)
		must(EVP_EncryptUpdate(ctx, data, &n, data, len));
	must(EVP_EncryptFinal_ex(ctx, data + len, &n));
	must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag));
	EVP_CIPHER_CTX_free(ctx);
}
