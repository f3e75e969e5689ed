/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file hash.h
 * The hash function of the SAD and SPD tables. It is keyed with the file's random
 * seed, because peers choose the SPIs of outbound SAs.
 */
#ifndef CYGNET_HASH_H
#define CYGNET_HASH_H

#include <stdint.h>

/** Mix one 64-bit word into a running hash (the finaliser of MurmurHash3). */
static inline uint64_t hash_mix(uint64_t hash, uint64_t word)
{
	hash ^= word;
	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdull;
	hash ^= hash >> 33;
	hash *= 0xc4ceb9fe1a85ec53ull;
	return hash ^ (hash >> 33);
}

/** Mix two 64-bit words into a running hash, with one multiplication (as wyhash does). A lookup of a policy does this
 * for each prefix length. */
static inline uint64_t hash_pair(uint64_t hash, uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ hash) * (b ^ (hash << 32 | hash >> 32));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
