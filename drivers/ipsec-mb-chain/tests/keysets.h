/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file keysets.h
 * Keys of every kind that the driver has: ciphers, lengths of their keys, hashes, lengths of digests.
 */
#ifndef KEYSETS_H
#define KEYSETS_H

#include "keys.h"

#define KEYSETS 56u /* (none, CBC and CTR of three lengths) by four hashes by two lengths */

/** The kind of that number, with random keys; HMAC's is of 1 byte to a block. */
void keyset_open(const struct device *dev, struct keys *keys, unsigned int kind);
/** All of them. */
void keysets_open(const struct device *dev, struct keys keys[KEYSETS]);
void keysets_close(const struct device *dev, struct keys keys[KEYSETS]);

/** Without sessions: that cipher and hash. @param key_len  0: any */
void suite_chain(struct suite *suite, enum ocl_cipher cipher, uint32_t key_len, enum ocl_auth auth,
		 bool truncated);
/** What a text's length is a multiple of; bytes. */
static inline uint32_t suite_unit(const struct suite *suite)
{
	return suite->cipher == OCL_CIPHER_AES_CBC ? 16 : 1;
}

#endif
