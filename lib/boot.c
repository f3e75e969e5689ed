/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "boot.h"

#define BOOT_ID	 "/proc/sys/kernel/random/boot_id"
#define UUID_LEN 36

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The digits of a UUID in the order of the text; dashes are skipped. */
static int parse(const char text[UUID_LEN], uint64_t id[2])
{
	unsigned int digits = 0;

	id[0] = id[1] = 0;
	for (unsigned int i = 0; i < UUID_LEN; i++) {
		int value = digit(text[i]);

		if (text[i] == '-')
			continue;
		if (value < 0 || digits == 32)
			return -EBADMSG;
		id[digits / 16] = id[digits / 16] << 4 | (unsigned int)value;
		digits++;
	}
	return digits == 32 && id[0] && id[1] ? 0 : -EBADMSG;
}

int boot_read(uint64_t id[2])
{
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	char text[UUID_LEN];
	ssize_t n;
	int err;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text));
	err = n < 0 ? -errno : n == UUID_LEN ? parse(text, id) : -EBADMSG;
	close(fd);
	return err;
}

/* Compare each word alone: another process may have stored only one of the two yet. */
bool boot_same(struct header *h, const uint64_t id[2], bool memory)
{
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t word = load_relaxed(&h->boot[i]);

		if (word != id[i] && (word || !memory))
			return false;
	}
	for (unsigned int i = 0; i < 2; i++)
		store_relaxed(&h->boot[i], id[i]);
	return true;
}
