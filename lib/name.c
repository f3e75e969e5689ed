/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout.h"

static const char *const cipher_names[CYGNET_CIPHERS] = {
	[CYGNET_CIPHER_NULL] = "null",
	[CYGNET_CIPHER_AES_CBC] = "aes-cbc",
	[CYGNET_CIPHER_AES_CTR] = "aes-ctr",
	[CYGNET_CIPHER_AES_GCM] = "aes-gcm",
	[CYGNET_CIPHER_AES_GMAC] = "aes-gmac",
	[CYGNET_CIPHER_AES_CCM] = "aes-ccm",
	[CYGNET_CIPHER_CHACHA20_POLY1305] = "chacha20-poly1305",
	[CYGNET_CIPHER_3DES_CBC] = "3des-cbc",
	[CYGNET_CIPHER_DES_CBC] = "des-cbc",
};

static const char *const auth_names[CYGNET_AUTHS] = {
	[CYGNET_AUTH_NONE] = "none",
	[CYGNET_AUTH_HMAC_SHA1] = "hmac-sha1",
	[CYGNET_AUTH_HMAC_SHA256] = "hmac-sha256",
	[CYGNET_AUTH_HMAC_SHA384] = "hmac-sha384",
	[CYGNET_AUTH_HMAC_SHA512] = "hmac-sha512",
	[CYGNET_AUTH_HMAC_MD5] = "hmac-md5",
	[CYGNET_AUTH_AES_XCBC] = "aes-xcbc",
	[CYGNET_AUTH_AES_CMAC] = "aes-cmac",
};

EXPORT const char *cygnet_cipher_name(uint8_t cipher)
{
	return cipher < CYGNET_CIPHERS ? cipher_names[cipher] : "?";
}

EXPORT const char *cygnet_auth_name(uint8_t auth)
{
	return auth < CYGNET_AUTHS ? auth_names[auth] : "?";
}
