/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <rte_byteorder.h>

#include "base/random.h"

int random_fill(void *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = getrandom((uint8_t *)to + done, size - done, 0);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static uint64_t rotate(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void mix(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

/* Up to eight bytes, the lowest first. */
static uint64_t read_word(const uint8_t *bytes, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, bytes, size);
	return rte_le_to_cpu_64(word);
}

uint64_t random_hash(const struct random_key *key, const void *data, size_t size)
{
	uint64_t v[4] = {
		key->word[0] ^ 0x736f6d6570736575,
		key->word[1] ^ 0x646f72616e646f6d,
		key->word[0] ^ 0x6c7967656e657261,
		key->word[1] ^ 0x7465646279746573,
	};
	const uint8_t *bytes = data;
	size_t left = size;

	for (; left >= 8; bytes += 8, left -= 8)
		mix(v, read_word(bytes, 8));
	mix(v, (uint64_t)size << 56 | read_word(bytes, left));
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
