/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/state_file.h"

#define END_BYTES 16u

static void make_end(const char *text, size_t len, char end[END_BYTES])
{
	snprintf(end, END_BYTES, "end %08x\n",
		 (unsigned int)crc32(0, (const uint8_t *)text, (uInt)len));
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

/* Who may write in the folder can replace the file anyway, so the folder's owner counts: that of the file may be a user that
 * the process was, or root. */
static bool is_ours(const char *path)
{
	char copy[PATH_MAX + 32];
	struct stat st;

	snprintf(copy, sizeof(copy), "%s", path);
	return stat(dirname(copy), &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid()) &&
	       !(st.st_mode & S_IWOTH);
}

static bool is_usable(const struct stat *st, size_t most)
{
	return S_ISREG(st->st_mode) && !(st->st_mode & (S_IWGRP | S_IWOTH)) && st->st_size >= 0 &&
	       (uintmax_t)st->st_size <= most;
}

/* @return for free(); NULL: see err */
static char *read_text(FILE *file, size_t most, int *err)
{
	struct stat st;
	size_t len;
	char *text;

	*err = -EINVAL;
	if (fstat(fileno(file), &st) || !is_usable(&st, most))
		return NULL;
	len = (size_t)st.st_size;
	text = malloc(len + 1);
	if (!text) {
		*err = -ENOMEM;
		return NULL;
	}
	text[len] = '\0';
	if (fread(text, 1, len, file) == len && strlen(text) == len && check_end(text))
		return text;
	free(text);
	return NULL;
}

char *state_file_read(const char *path, size_t most, int *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *text;

	if (!file) {
		*err = -errno;
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	*err = -EINVAL;
	text = is_ours(path) ? read_text(file, most, err) : NULL;
	fclose(file);
	return text;
}

static int fill(FILE *file, const char *text, size_t len)
{
	char end[END_BYTES];

	make_end(text, len, end);
	if (fwrite(text, 1, len, file) < len || fputs(end, file) < 0 || fflush(file) ||
	    fsync(fileno(file)))
		return -errno;
	return 0;
}

int state_file_write(const char *path, const char *text, size_t len, mode_t mode)
{
	char new_path[PATH_MAX + 32];
	FILE *file;
	int fd, err;

	/* Several cygnetd may share the folder: the name of the temporary file has the process ID. */
	snprintf(new_path, sizeof(new_path), "%s.%d", path, (int)getpid());
	unlink(new_path);
	fd = open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	err = file ? fill(file, text, len) : -errno;
	if ((file ? fclose(file) : close(fd)) && !err)
		err = -errno;
	if (!err && rename(new_path, path))
		err = -errno;
	if (err)
		unlink(new_path);
	return err;
}
