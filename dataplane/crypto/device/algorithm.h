/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file algorithm.h
 * Numbers of the algorithms that SAs can have, and classes of packet lengths. The speed of a crypto
 * device depends on both.
 */
#ifndef CYGNETD_ALGORITHM_H
#define CYGNETD_ALGORITHM_H

#include <stdint.h>

#include "cygnet.h"

#define ALGORITHMS_MAX 80u
#define ALGORITHM_NONE ALGORITHMS_MAX
#define ALGORITHM_NAME 48u /* bytes of a name, with its terminator */
#define LENGTH_CLASSES 4u

/** A cipher with a key length, and an authentication algorithm. It also represents algorithms of the same
 * speed. Lengths in bytes. */
struct algorithm {
	uint8_t cipher, key_len, salt_len, auth, auth_key_len, icv_len;
};

/** All algorithms, common ones first; constant after the start of main(). */
extern struct algorithm algorithms[ALGORITHMS_MAX];
extern unsigned int algorithm_count;

/** A typical packet length of each class, bytes. */
extern const uint16_t length_class_bytes[LENGTH_CLASSES];

/** @return the number of an SA's algorithms, or ALGORITHM_NONE */
unsigned int algorithm_of(const struct cygnet_sa *sa);
/** A name such as "aes-cbc-128 hmac-sha1". @param name  receives it, ALGORITHM_NAME bytes */
void algorithm_text(uint8_t cipher, uint8_t key_len, uint8_t auth, char *name);
/** The same, of a numbered algorithm. */
void algorithm_name(unsigned int algorithm, char *name);
/** The length class of a packet. @param bytes  approximate length of its plaintext */
static inline unsigned int length_class(unsigned int bytes)
{
	return (bytes > 128) + (bytes > 512) + (bytes > 1216);
}

#endif
