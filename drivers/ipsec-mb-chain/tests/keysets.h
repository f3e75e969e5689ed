/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file keysets.h
 * Keys for all combinations of ciphers, cipher key lengths, hashes and digest lengths that the driver
 * supports.
 */
#ifndef KEYSETS_H
#define KEYSETS_H

#include "keys.h"

/** Number of combinations: 7 ciphers (none, CBC and CTR with three key lengths each), 4 hashes, 2
 * digest lengths. */
#define KEYSETS 56u

/** Create the sessions of a combination, with random keys. The key of HMAC has a random length from 1
 * byte to a block. @param kind  number of the combination, modulo KEYSETS */
void keyset_open(const struct device *dev, struct keys *keys, unsigned int kind);
/** Create the sessions of all combinations. */
void keysets_open(const struct device *dev, struct keys keys[KEYSETS]);
/** Free the sessions of all combinations. */
void keysets_close(const struct device *dev, struct keys keys[KEYSETS]);

/** Fill in a suite with a cipher and a hash. @param key_len  bytes; 0: random */
void suite_chain(struct suite *suite, enum ocl_cipher cipher, uint32_t key_len, enum ocl_auth auth,
		 bool truncated);
/** The unit that lengths of texts must be multiples of, bytes. */
static inline uint32_t suite_unit(const struct suite *suite)
{
	return suite->cipher == OCL_CIPHER_AES_CBC ? 16 : 1;
}

#endif
