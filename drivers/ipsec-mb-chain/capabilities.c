/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capabilities.h"
#include "hash.h"

/* clang-format off */
#define CIPHER(name, block)                                                                        \
	{                                                                                          \
		.op = RTE_CRYPTO_OP_TYPE_SYMMETRIC,                                                \
		.sym = {                                                                           \
			.xform_type = RTE_CRYPTO_SYM_XFORM_CIPHER,                                 \
			.cipher = {                                                                \
				.algo = RTE_CRYPTO_CIPHER_##name,                                  \
				.block_size = block,                                               \
				.key_size = {.min = 16, .max = 32, .increment = 8},                \
				.iv_size = {.min = 16, .max = 16, .increment = 0},                 \
			},                                                                         \
		},                                                                                 \
	}
/* clang-format on */

/* The digest has its full length or the length that ESP and AH truncate it to. */
/* clang-format off */
#define AUTH(name, library, block, whole, truncated)                                               \
	{                                                                                          \
		.op = RTE_CRYPTO_OP_TYPE_SYMMETRIC,                                                \
		.sym = {                                                                           \
			.xform_type = RTE_CRYPTO_SYM_XFORM_AUTH,                                   \
			.auth = {                                                                  \
				.algo = RTE_CRYPTO_AUTH_##name##_HMAC,                                 \
				.block_size = block,                                               \
				.key_size = {.min = 1, .max = block, .increment = 1},              \
				.digest_size = {                                                   \
					.min = truncated,                                          \
					.max = whole,                                              \
					.increment = (whole) - (truncated),                        \
				},                                                                 \
			},                                                                         \
		},                                                                                 \
	},
/* clang-format on */

const struct rte_cryptodev_capabilities chain_capabilities[] = {
	CIPHER(AES_CBC, 16), CIPHER(AES_CTR, 16),
	CHAIN_HASHES(AUTH){.op = RTE_CRYPTO_OP_TYPE_UNDEFINED}, /* the end */
};
