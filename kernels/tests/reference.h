/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file reference.h
 * The same operations by OpenSSL, the oracle of the random tests.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "inc_types.h"

/* Encrypts in place; len is a multiple of a block cipher's block. OCL_CIPHER_NONE does nothing. */
void reference_cipher(enum ocl_cipher cipher, const uint8_t *key, size_t key_len, const uint8_t *iv,
		      uint8_t *data, size_t len);

/* The whole digest. The IV is that of GMAC. OCL_AUTH_NONE does nothing. */
void reference_auth(enum ocl_auth auth, const uint8_t *key, size_t key_len, const uint8_t *iv,
		    const uint8_t *data, size_t len, uint8_t *digest);
/* bytes */
size_t reference_digest_len(enum ocl_auth auth);

/* Encrypts in place. */
void reference_aead(enum ocl_cipher cipher, const uint8_t *key, size_t key_len, const uint8_t *iv,
		    size_t iv_len, const uint8_t *aad, size_t aad_len, uint8_t *data, size_t len,
		    uint8_t *tag, size_t tag_len);

#endif
