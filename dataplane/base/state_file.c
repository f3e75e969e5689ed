/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/state_file.h"
#include "dpdk_release.h"

#define END_BYTES 16u

static size_t make_end(const char *text, size_t len, char end[END_BYTES])
{
	return (size_t)snprintf(end, END_BYTES, "end %08x\n", dpdk_crc32(text, (uint32_t)len));
}

/* Verify the checksum in the last line, and cut that line off. */
static bool check_end(char *text)
{
	char *end = strstr(text, "\nend "), want[END_BYTES];

	if (!end)
		return false;
	make_end(text, (size_t)(end + 1 - text), want);
	if (strcmp(end + 1, want))
		return false;
	end[1] = '\0';
	return true;
}

static bool is_ours(const struct stat *st, size_t most)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH)) && st->st_size >= 0 &&
	       (uintmax_t)st->st_size <= most;
}

static bool read_all(int fd, char *text, size_t len)
{
	ssize_t got = 1;
	size_t at;

	for (at = 0; at < len && got > 0; at += (size_t)got) {
		got = read(fd, text + at, len - at);
		if (got < 0)
			return false;
	}
	text[at] = '\0';
	return at == len && !memchr(text, '\0', len);
}

char *state_file_read(const char *path, size_t most, int *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	char *text = NULL;
	struct stat st;

	*err = fd < 0 ? -errno : -EINVAL;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && is_ours(&st, most)) {
		text = malloc((size_t)st.st_size + 1);
		if (!text)
			*err = -ENOMEM;
	}
	if (text && (!read_all(fd, text, (size_t)st.st_size) || !check_end(text))) {
		free(text);
		text = NULL;
	}
	close(fd);
	return text;
}

/* @return 0 or -errno */
static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t put = write(fd, text, len);

		if (put <= 0)
			return put < 0 ? -errno : -ENOSPC;
		text += put;
		len -= (size_t)put;
	}
	return 0;
}

static int fill(int fd, const char *text, size_t len)
{
	char end[END_BYTES];
	int err = write_all(fd, text, len);

	if (!err)
		err = write_all(fd, end, make_end(text, len, end));
	return err ? err : fsync(fd) ? -errno : 0;
}

int state_file_write(const char *path, const char *text, size_t len, mode_t mode)
{
	char new_path[PATH_MAX + 32];
	int fd, err;

	/* Several cygnetd may share the folder: the name of the temporary file has the process ID. */
	snprintf(new_path, sizeof(new_path), "%s.%d", path, (int)getpid());
	unlink(new_path);
	fd = open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	err = fill(fd, text, len);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(new_path, path))
		err = -errno;
	if (err)
		unlink(new_path);
	return err;
}
