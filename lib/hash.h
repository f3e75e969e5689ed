/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file hash.h
 * Hash functions of the SAD and SPD tables, keyed with the file's random seed. Peers choose prefixes of policies.
 * SPIs and addresses of outbound SAs are all a peer's choice: these have siphash.h, which is slower.
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
 * for each prefix length. Both factors depend on the secret that the hash begins with, in all their bits. Whether
 * two chosen words collide depends on it, too: those that do with one seed do with another one by chance only. */
static inline uint64_t hash_pair(uint64_t hash, uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ hash) * (b ^ (hash << 32 | hash >> 32));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
