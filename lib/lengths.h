/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file lengths.h
 * Sets of prefix lengths, 0 to 128, in the file. Writers change them under the mutex; readers take a copy.
 */
#ifndef CYGNET_LENGTHS_H
#define CYGNET_LENGTHS_H

#include <stdbool.h>
#include <stdint.h>

#include "barrier.h"

#define LENGTHS	      129u /* number of prefix lengths of IPv6; IPv4 uses the first 33 */
#define LENGTHS_WORDS 3u

struct lengths {
	uint64_t word[LENGTHS_WORDS]; /* bit n of all: length n; atomic */
};

/** A copy that does not change, without lengths that do not exist. */
static inline struct lengths lengths_copy(const struct lengths *set)
{
	struct lengths copy;

	for (unsigned int i = 0; i < LENGTHS_WORDS; i++)
		copy.word[i] = load_acquire(&set->word[i]);
	copy.word[LENGTHS / 64] &= (1ull << LENGTHS % 64) - 1;
	return copy;
}

/** Take the longest length out of a copy.
 * @param[out] length  receives it
 * @return             false: the set is empty */
static inline bool lengths_take(struct lengths *copy, unsigned int *length)
{
	for (unsigned int i = LENGTHS_WORDS; i--;) {
		unsigned int bit;

		if (!copy->word[i])
			continue;
		bit = 63 - (unsigned int)__builtin_clzll(copy->word[i]);
		copy->word[i] &= ~(1ull << bit);
		*length = i * 64 + bit;
		return true;
	}
	return false;
}

static inline bool lengths_have(const struct lengths *set, unsigned int length)
{
	return load_relaxed(&set->word[length / 64]) >> length % 64 & 1;
}

static inline void lengths_add(struct lengths *set, unsigned int length)
{
	uint64_t *word = &set->word[length / 64];

	store_release(word, load_relaxed(word) | 1ull << length % 64);
}

static inline void lengths_remove(struct lengths *set, unsigned int length)
{
	uint64_t *word = &set->word[length / 64];

	store_release(word, load_relaxed(word) & ~(1ull << length % 64));
}

static inline void lengths_store(struct lengths *set, const struct lengths *value)
{
	for (unsigned int i = 0; i < LENGTHS_WORDS; i++)
		store_release(&set->word[i], value->word[i]);
}

#endif
