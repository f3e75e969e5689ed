/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pmd.h"
#include "session.h"

const struct rte_cryptodev_capabilities gcm_capabilities[] = {
	{
		.op = RTE_CRYPTO_OP_TYPE_SYMMETRIC,
		.sym =
			{
				.xform_type = RTE_CRYPTO_SYM_XFORM_AEAD,
				.aead =
					{
						.algo = RTE_CRYPTO_AEAD_AES_GCM,
						.block_size = 16,
						.key_size = {.min = 16, .max = 32, .increment = 8},
						.digest_size = {.min = 8, .max = 16, .increment = 4},
						.aad_size = {.min = 0,
							     .max = GCM_MAX_AAD,
							     .increment = 1},
						.iv_size = {.min = GCM_IV_LEN,
							    .max = GCM_IV_LEN,
							    .increment = 0},
					},
			},
	},
	{.op = RTE_CRYPTO_OP_TYPE_UNDEFINED}, /* the end */
};
