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

#define SECRET_WORDS 4 /* that have to be there, one after another */

/* The beginning of a suite's keys as they may be found, in disguise. */
struct secrets {
	uint32_t key[SECRET_WORDS];	 /* as given */
	uint32_t round_key[SECRET_WORDS]; /* as AES has it first */
	uint32_t mac_key[SECRET_WORDS];	 /* as given */
	uint32_t inner[SECRET_WORDS], outer[SECRET_WORDS]; /* as HMAC begins with it */
};

/* How often each was found. */
struct sightings {
	unsigned int key, round_key, mac_key, inner, outer;
};

/** Make a suite's keys known, and wipe them there. Its MAC key has 16 bytes or more. */
void secrets_take(struct secrets *secrets, struct suite *suite);

/** Look for them in all that this process may write to. */
struct sightings secrets_find(const struct secrets *secrets);

#endif
