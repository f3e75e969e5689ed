/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file reference.h
 * The same operations by OpenSSL, the oracle of the random tests.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CBC in place, len a multiple of 16. */
void reference_cbc(const uint8_t *key, size_t key_len, const uint8_t iv[16], uint8_t *data,
		   size_t len, bool encrypt);

/* hash: the digest's size in bytes, which names it: 20, 32, 48 or 64. */
void reference_hmac(size_t hash, const uint8_t *key, size_t key_len, const uint8_t *data,
		    size_t len, uint8_t *digest);

/* Encrypts in place. */
void reference_gcm(const uint8_t *key, size_t key_len, const uint8_t iv[12], const uint8_t *aad,
		   size_t aad_len, uint8_t *data, size_t len, uint8_t tag[16]);

#endif
