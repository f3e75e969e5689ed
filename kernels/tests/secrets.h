/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file secrets.h
 * Whether a key is anywhere in the memory of this process, on PoCL the device's included. Here it is
 * kept so that it does not find itself.
 */
#ifndef SECRETS_H
#define SECRETS_H

#include <stdint.h>

#include "harness.h"

#define SECRET_WORDS 4 /* words that must follow one another */

/* The beginning of a suite's keys as the search expects them, masked. */
struct secrets {
	uint32_t key[SECRET_WORDS];			   /* as given */
	uint32_t round_key[SECRET_WORDS];		   /* first round key of AES */
	uint32_t mac_key[SECRET_WORDS];			   /* as given */
	uint32_t inner[SECRET_WORDS], outer[SECRET_WORDS]; /* first state of HMAC */
};

/* How often each was found in memory. */
struct sightings {
	unsigned int key, round_key, mac_key, inner, outer;
};

/** Remember a suite's keys in masked form, and wipe them in the suite. The MAC key has 16 bytes
 * or more. */
void secrets_take(struct secrets *secrets, struct suite *suite);

/** Search all writable memory of this process for them. */
struct sightings secrets_find(const struct secrets *secrets);

#endif
