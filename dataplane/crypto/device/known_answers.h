/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file known_answers.h
 * The ICV of one ESP packet for each combination of algorithms, computed by another implementation
 * (tests/test-known-answers). The ICV covers the ciphertext: a wrong ciphertext has another ICV.
 *
 * The packet: SPI 01020304, sequence number 05060708 without ESN, KNOWN_TEXT bytes with
 * (3 i + 5) mod 256 at i. Byte i of the cipher's key, with the salt behind it, is (7 i + 1) mod 256,
 * that of the other key (11 i + 2) mod 256. The IV is the sequence number; with CBC it is the number
 * encrypted.
 */
#ifndef CYGNETD_KNOWN_ANSWERS_H
#define CYGNETD_KNOWN_ANSWERS_H

#include <stdint.h>

#include "cygnet.h"

#define KNOWN_SPI     0x01020304u
#define KNOWN_SEQ     0x05060708u
#define KNOWN_TEXT    240u
#define KNOWN_ICV_MAX 32u
#define KNOWN_ANSWERS 73u

struct known_answer {
	uint8_t cipher, key_len, auth;	 /* enum cygnet_cipher, bytes, enum cygnet_auth */
	char icv[2 * KNOWN_ICV_MAX + 1]; /* in hexadecimal; of the default length, suite_lengths() */
};

extern const struct known_answer known_answers[KNOWN_ANSWERS];

#endif
