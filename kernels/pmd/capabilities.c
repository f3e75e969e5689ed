/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pmd.h"
#include "session.h"

#define RANGE(from, to, step) {.min = (from), .max = (to), .increment = (step)}

#define HMAC(name, block, digest)                                                                  \
	{                                                                                          \
		.op = RTE_CRYPTO_OP_TYPE_SYMMETRIC,                                                \
		.sym = {                                                                           \
			.xform_type = RTE_CRYPTO_SYM_XFORM_AUTH,                                   \
			.auth = {                                                                  \
				.algo = RTE_CRYPTO_AUTH_##name##_HMAC,                             \
				.block_size = (block),                                             \
				.key_size = RANGE(1, block, 1),                                    \
				.digest_size = RANGE(1, digest, 1),                                \
			},                                                                         \
		},                                                                                 \
	}

const struct rte_cryptodev_capabilities ocl_capabilities[] = {
	HMAC(SHA1, 64, 20),
	HMAC(SHA256, 64, 32),
	HMAC(SHA384, 128, 48),
	HMAC(SHA512, 128, 64),
	{
		.op = RTE_CRYPTO_OP_TYPE_SYMMETRIC,
		.sym = {
			.xform_type = RTE_CRYPTO_SYM_XFORM_CIPHER,
			.cipher = {
				.algo = RTE_CRYPTO_CIPHER_AES_CBC,
				.block_size = 16,
				.key_size = RANGE(16, 32, 8),
				.iv_size = RANGE(OCL_CBC_IV_LEN, OCL_CBC_IV_LEN, 0),
			},
		},
	},
	{
		.op = RTE_CRYPTO_OP_TYPE_SYMMETRIC,
		.sym = {
			.xform_type = RTE_CRYPTO_SYM_XFORM_AEAD,
			.aead = {
				.algo = RTE_CRYPTO_AEAD_AES_GCM,
				.block_size = 16,
				.key_size = RANGE(16, 32, 8),
				.digest_size = RANGE(8, 16, 4),
				.aad_size = RANGE(0, OCL_MAX_AAD, 1),
				.iv_size = RANGE(OCL_GCM_IV_LEN, OCL_GCM_IV_LEN, 0),
			},
		},
	},
	{.op = RTE_CRYPTO_OP_TYPE_UNDEFINED}, /* the end */
};
