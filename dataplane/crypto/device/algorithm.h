/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file algorithm.h
 * What SAs can ask a crypto device for, numbered, and classes of packet lengths:
 * how fast a device is depends on both.
 */
#ifndef CYGNETD_ALGORITHM_H
#define CYGNETD_ALGORITHM_H

#include <stddef.h>
#include <stdint.h>

#include "cygnet.h"

#define ALGORITHMS_MAX 80u
#define ALGORITHM_NONE ALGORITHMS_MAX
#define ALGORITHM_NAME 48u	/* bytes, with the end */
#define LENGTH_CLASSES 4u

/** A cipher with its key length and the authentication beside it, which may stand for others that
 * cost the same. Lengths in bytes. */
struct algorithm {
	uint8_t cipher, key_len, salt_len, auth, auth_key_len, icv_len;
};

/** The usual ones first; fixed before main(). */
extern struct algorithm algorithms[ALGORITHMS_MAX];
extern unsigned int algorithm_count;

/** Bytes of a packet in the middle of each class. */
extern const uint16_t length_class_bytes[LENGTH_CLASSES];

/** @return the number of what an SA asks for, or ALGORITHM_NONE */
unsigned int algorithm_of(const struct cygnet_sa *sa);
/** "aes-cbc-128 hmac-sha1"; @param name of ALGORITHM_NAME bytes */
void algorithm_name(unsigned int algorithm, char *name);
/** The class of a packet. @param bytes  of what is to be encrypted, roughly */
static inline unsigned int length_class(unsigned int bytes)
{
	return (bytes > 128) + (bytes > 512) + (bytes > 1216);
}

#endif
