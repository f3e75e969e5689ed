/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file prefix.h
 * Hashes of prefixes.
 */
#ifndef CYGNET_PREFIX_H
#define CYGNET_PREFIX_H

#include <endian.h>

#include "cygnet.h"
#include "hash.h"

/* The leading bits of 64 bits of an address, in network byte order, the others zero. */
static inline uint64_t prefix_leading(uint64_t word, unsigned int bits)
{
	if (bits >= 64)
		return word;
	return bits ? word & htobe64(~0ull << (64 - bits)) : 0;
}

/** Continue a hash with the leading bits of an address, and with their number. */
static inline uint64_t prefix_hash(uint64_t hash, const struct cygnet_addr *addr, unsigned int bits,
				   uint8_t af)
{
	uint64_t tagged = hash + (uint64_t)(af + bits) * 0x9e3779b97f4a7c15ull;

	return hash_pair(tagged, prefix_leading(addr->words[0], bits),
			 bits > 64 ? prefix_leading(addr->words[1], bits - 64) : 0);
}

#endif
