/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file random.h
 * Random numbers from the kernel's, and a keyed hash (SipHash-2-4) for input that an attacker may choose: the
 * state of rte_rand() and the seed of a Jenkins hash can be computed from their results.
 */
#ifndef CYGNETD_RANDOM_H
#define CYGNETD_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random_key {
	uint64_t word[2];
};

/** Numbers that cannot be predicted from earlier ones. For one thread. */
struct random_ids {
	struct random_key key; /* random_fill() */
	uint64_t count;
};

/** Random bytes from the kernel. At the start, any thread. @return 0 or -errno */
int random_fill(void *to, size_t size);
/** SipHash-2-4 of some bytes. Lcores. @param size  bytes; data need not be aligned */
uint64_t random_hash(const struct random_key *key, const void *data, size_t size);

/** The next number. Lcores. */
static inline uint32_t random_id(struct random_ids *ids)
{
	ids->count++;
	return (uint32_t)random_hash(&ids->key, &ids->count, sizeof(ids->count));
}

#endif
