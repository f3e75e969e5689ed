/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file known_answers.h
 * For each combination of algorithms the ICV of one ESP packet, and what KNOWN_PACKETS packets become, computed by
 * another implementation (tests/test-known-answers).
 *
 * Packet i belongs to SA i mod KNOWN_SAS; odd SAs have ESN. SPI of SA k: KNOWN_SPI + k. Byte j of its cipher's key, with
 * the salt behind it, is (7 j + 1 + 29 k) mod 256, that of the other key (11 j + 2 + 31 k) mod 256. The sequence number is
 * KNOWN_SEQ + i, with ESN the high half KNOWN_HI. The text is 16 + (224 + 52 i) mod 480 bytes long, rounded down to
 * whole units of the cipher, with (3 j + 5 + i) mod 256 at j. The IV is the sequence number; with CBC it is the number
 * encrypted. The answer for one packet is that of packet 0.
 *
 * The packets fill the lanes of a multi-buffer library several times and leave some over, by queue and in the calls
 * of each SA: such a library has one text in each lane, up to 16, and what it computes wrong with full lanes, other
 * keys or other lengths beside it, or when it is flushed, a single packet does not show.
 */
#ifndef CYGNETD_KNOWN_ANSWERS_H
#define CYGNETD_KNOWN_ANSWERS_H

#include <stdint.h>

#include "cygnet.h"

#define KNOWN_SPI     0x01020304u
#define KNOWN_SEQ     0x05060708u
#define KNOWN_HI      0x0a0b0c0du
#define KNOWN_SAS     4u
#define KNOWN_PACKETS 76u
#define KNOWN_TEXT    495u /* the longest text, bytes */
#define KNOWN_ICV_MAX 32u
#define KNOWN_ANSWERS 73u

struct known_answer {
	uint8_t cipher, key_len, auth;	 /* enum cygnet_cipher, bytes, enum cygnet_auth */
	char icv[2 * KNOWN_ICV_MAX + 1]; /* in hexadecimal; of the default length, suite_lengths() */
	uint64_t all;			 /* FNV-1a of IV, text and ICV of all packets in order */
};

extern const struct known_answer known_answers[KNOWN_ANSWERS];

#endif
