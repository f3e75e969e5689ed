/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sys/random.h>

#include "base/random.h"
#include "siphash.h"

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

uint64_t random_hash(const struct random_key *key, const void *data, size_t size)
{
	return siphash(key->word, data, size);
}
