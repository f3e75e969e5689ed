/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rte_byteorder.h>

#include "secrets.h"

#define DISGUISE 0xa5c3965a
#define LARGEST	 (4ull << 30) /* bytes; larger mappings are those of a sanitizer */
#define PAGES	 512

static void disguise(uint32_t *to, const uint8_t *from, uint8_t pad, bool swap)
{
	for (unsigned int i = 0; i < SECRET_WORDS; i++) {
		uint32_t word;

		memcpy(&word, from + 4 * i, sizeof(word));
		word ^= pad * 0x01010101u;
		to[i] = (swap ? rte_bswap32(word) : word) ^ DISGUISE;
	}
}

void secrets_take(struct secrets *s, struct suite *suite)
{
	disguise(s->key, suite->key, 0, false);
	disguise(s->round_key, suite->key, 0, true);
	disguise(s->mac_key, suite->mac_key, 0, false);
	disguise(s->inner, suite->mac_key, 0x36, false);
	disguise(s->outer, suite->mac_key, 0x5c, false);
	explicit_bzero(suite->key, sizeof(suite->key));
	explicit_bzero(suite->mac_key, sizeof(suite->mac_key));
}

/* Whether memory is outside the test's own variables. */
__attribute__((no_sanitize_address)) static bool is_at(const uint32_t *p, const uint32_t *secret)
{
	for (unsigned int i = 0; i < SECRET_WORDS; i++) {
		if ((p[i] ^ DISGUISE) != secret[i])
			return false;
	}
	return true;
}

/* Most words are the first one of no secret. */
__attribute__((no_sanitize_address)) static void
search(const uint32_t *p, const uint32_t *end, const struct secrets *s, struct sightings *found)
{
	const uint32_t key = s->key[0], round_key = s->round_key[0], mac_key = s->mac_key[0],
		       inner = s->inner[0], outer = s->outer[0];

	for (; p + SECRET_WORDS <= end; p++) {
		uint32_t word = *p ^ DISGUISE;

		if (word != key && word != round_key && word != mac_key && word != inner &&
		    word != outer)
			continue;
		found->key += is_at(p, s->key);
		found->round_key += is_at(p, s->round_key);
		found->mac_key += is_at(p, s->mac_key);
		found->inner += is_at(p, s->inner);
		found->outer += is_at(p, s->outer);
	}
}

/* The first address of a page that cannot be read, though the mapping can be: glibc 2.42 has such guards of stacks.
 * @return to: there is none */
static uintptr_t find_guard(uintptr_t from, uintptr_t to)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	char bytes[PAGES];
	const struct iovec here = {bytes, sizeof(bytes)};
	struct iovec there[PAGES];

	while (from < to) {
		unsigned long n = 0;
		ssize_t got;

		for (; n < PAGES && from + n * page < to; n++)
			there[n] = (struct iovec){(void *)(from + n * page), 1};
		got = process_vm_readv(getpid(), &here, 1, there, n, 0);
		from += (got < 0 ? 0 : (uintptr_t)got) * page;
		if (got < (ssize_t)n)
			return from;
	}
	return to;
}

static void search_mapping(uintptr_t from, uintptr_t to, const struct secrets *s,
			   struct sightings *found)
{
	while (from < to) {
		uintptr_t end = find_guard(from, to);

		search((const uint32_t *)from, (const uint32_t *)end, s, found);
		from = end + (uintptr_t)sysconf(_SC_PAGESIZE);
	}
}

struct sightings secrets_find(const struct secrets *secrets)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct sightings found = {0};
	char line[512], access[8], path[300];
	unsigned long from, to;

	CHECK(maps != NULL);
	while (fgets(line, sizeof(line), maps)) {
		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %299s", &from, &to, access, path) < 3)
			continue;
		if (memcmp(access, "rw", 2) == 0 && to - from < LARGEST &&
		    strncmp(path, "/dev/", 5) != 0)
			search_mapping(from, to, secrets, &found);
	}
	fclose(maps);
	return found;
}
