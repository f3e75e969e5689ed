/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pmd.h"
#include "session.h"

/* Bytes */
/* clang-format off */
#define RANGE(from, to, step) {.min = (from), .max = (to), .increment = (step)}
/* clang-format on */
#define ONLY(size) RANGE(size, size, 0)

/* clang-format off */
#define AUTH(name, block, keys, digests, ivs)                                                      \
	{                                                                                          \
		.op = RTE_CRYPTO_OP_TYPE_SYMMETRIC,                                                \
		.sym = {                                                                           \
			.xform_type = RTE_CRYPTO_SYM_XFORM_AUTH,                                   \
			.auth = {                                                                  \
				.algo = RTE_CRYPTO_AUTH_##name,                                    \
				.block_size = (block),                                             \
				.key_size = keys,                                                  \
				.digest_size = digests,                                            \
				.iv_size = ivs,                                                    \
			},                                                                         \
		},                                                                                 \
	}
/* clang-format on */

#define HMAC(name, block, digest) \
	AUTH(name##_HMAC, block, RANGE(1, block, 1), RANGE(1, digest, 1), ONLY(0))

/* clang-format off */
#define CIPHER(name, block, keys, ivs)                                                             \
	{                                                                                          \
		.op = RTE_CRYPTO_OP_TYPE_SYMMETRIC,                                                \
		.sym = {                                                                           \
			.xform_type = RTE_CRYPTO_SYM_XFORM_CIPHER,                                 \
			.cipher = {                                                                \
				.algo = RTE_CRYPTO_CIPHER_##name,                                  \
				.block_size = (block),                                             \
				.key_size = keys,                                                  \
				.iv_size = ivs,                                                    \
			},                                                                         \
		},                                                                                 \
	}
/* clang-format on */

/* clang-format off */
#define AEAD(name, block, keys, digests, ivs)                                                      \
	{                                                                                          \
		.op = RTE_CRYPTO_OP_TYPE_SYMMETRIC,                                                \
		.sym = {                                                                           \
			.xform_type = RTE_CRYPTO_SYM_XFORM_AEAD,                                   \
			.aead = {                                                                  \
				.algo = RTE_CRYPTO_AEAD_##name,                                    \
				.block_size = (block),                                             \
				.key_size = keys,                                                  \
				.digest_size = digests,                                            \
				.aad_size = RANGE(0, OCL_MAX_AAD, 1),                              \
				.iv_size = ivs,                                                    \
			},                                                                         \
		},                                                                                 \
	}
/* clang-format on */

#define AES_KEYS RANGE(16, 32, 8)

const struct rte_cryptodev_capabilities ocl_capabilities[] = {
	AUTH(NULL, 1, ONLY(0), ONLY(0), ONLY(0)),
	HMAC(MD5, 64, 16),
	HMAC(SHA1, 64, 20),
	HMAC(SHA256, 64, 32),
	HMAC(SHA384, 128, 48),
	HMAC(SHA512, 128, 64),
	AUTH(AES_XCBC_MAC, 16, ONLY(16), RANGE(12, 16, 4), ONLY(0)),
	AUTH(AES_GMAC, 16, AES_KEYS, RANGE(8, 16, 4), ONLY(12)),
	CIPHER(NULL, 1, ONLY(0), ONLY(0)),
	CIPHER(AES_CBC, 16, AES_KEYS, ONLY(16)),
	CIPHER(AES_CTR, 16, AES_KEYS, ONLY(16)),
	CIPHER(3DES_CBC, 8, ONLY(24), ONLY(8)),
	AEAD(AES_GCM, 16, AES_KEYS, RANGE(8, 16, 4), ONLY(12)),
	AEAD(AES_CCM, 16, AES_KEYS, RANGE(4, 16, 2), RANGE(7, 13, 1)),
	AEAD(CHACHA20_POLY1305, 64, ONLY(32), ONLY(16), ONLY(12)),
	{.op = RTE_CRYPTO_OP_TYPE_UNDEFINED}, /* the end */
};
