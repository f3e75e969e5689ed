/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "keysets.h"
#include "reference.h"

void suite_chain(struct suite *suite, enum ocl_cipher cipher, uint32_t key_len, enum ocl_auth auth,
		 bool truncated)
{
	uint32_t whole = (uint32_t)reference_digest_len(auth);

	*suite = (struct suite){.cipher = cipher, .auth = auth, .iv_len = cipher ? 16 : 0};
	suite_keys(suite);
	if (key_len)
		suite->key_len = key_len;
	/* RFC 2404, 4868. */
	suite->digest_len = !truncated ? whole : auth == OCL_AUTH_HMAC_SHA1 ? 12 : whole / 2;
}

void keyset_open(const struct device *dev, struct keys *keys, unsigned int kind)
{
	static const struct {
		enum ocl_cipher cipher;
		uint32_t key_len;
	} ciphers[] = {
		{OCL_CIPHER_NONE, 0},	  {OCL_CIPHER_AES_CBC, 16}, {OCL_CIPHER_AES_CBC, 24},
		{OCL_CIPHER_AES_CBC, 32}, {OCL_CIPHER_AES_CTR, 16}, {OCL_CIPHER_AES_CTR, 24},
		{OCL_CIPHER_AES_CTR, 32},
	};
	static const enum ocl_auth auths[] = {
		OCL_AUTH_HMAC_SHA1,
		OCL_AUTH_HMAC_SHA256,
		OCL_AUTH_HMAC_SHA384,
		OCL_AUTH_HMAC_SHA512,
	};
	unsigned int cipher = kind / 8 % RTE_DIM(ciphers);

	suite_chain(&keys->suite, ciphers[cipher].cipher, ciphers[cipher].key_len,
		    auths[kind / 2 % RTE_DIM(auths)], kind & 1);
	/* Choose the shortest and the longest key more often. */
	if (rnd_below(8) == 0)
		keys->suite.mac_key_len = 1;
	else if (rnd_below(4) == 0)
		keys->suite.mac_key_len = keys->suite.auth >= OCL_AUTH_HMAC_SHA384 ? 128 : 64;
	keys_open(dev, keys);
}

void keysets_open(const struct device *dev, struct keys keys[KEYSETS])
{
	for (unsigned int i = 0; i < KEYSETS; i++)
		keyset_open(dev, &keys[i], i);
}

void keysets_close(const struct device *dev, struct keys keys[KEYSETS])
{
	for (unsigned int i = 0; i < KEYSETS; i++)
		keys_close(dev, &keys[i]);
}
