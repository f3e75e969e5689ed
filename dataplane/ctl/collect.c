/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"

#define PROGRAM_S 20u /* time limit of a program, s */
#define PACK_S	  300u
#define LOOK_MS	  10u
#define COPY_MAX  (4u << 20) /* largest part of a file that is copied, bytes */

extern char **environ;

int collect_begin(char *folder, size_t size)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, size, "%s/cygnet-bundle-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(folder) ? 0 : -errno;
}

static int open_file(const char *folder, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* @return process id or -errno */
static pid_t start(const char *const *argv, int out, int error)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int err;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
	err = posix_spawnp(&pid, argv[0], &actions, NULL, (char **)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err ? -err : pid;
}

/* @return exit status; -ETIMEDOUT: the process was killed at the limit; -EINTR: another signal killed it */
static int await(pid_t pid, unsigned int seconds)
{
	const struct timespec look = {.tv_nsec = LOOK_MS * 1000000l};
	int status;

	for (unsigned int ms = 0; ms < seconds * 1000; ms += LOOK_MS) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
		nanosleep(&look, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -ETIMEDOUT;
}

void collect_output(const char *folder, const char *name, const char *const *argv)
{
	int fd = open_file(folder, name), status;
	pid_t pid;

	if (fd < 0)
		return;
	pid = start(argv, fd, fd);
	status = pid < 0 ? pid : await(pid, PROGRAM_S);
	if (status < 0)
		dprintf(fd, "(%s: %s)\n", argv[0], strerror(-status));
	else if (status)
		dprintf(fd, "(%s: exit status %d)\n", argv[0], status);
	close(fd);
}

static void copy(int to, const char *path)
{
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t copied = 0;
	char buffer[8192];
	struct stat stat;
	ssize_t n = 0;

	dprintf(to, "# %s\n", path);
	/* Skip devices and pipes, which may never reach their end. */
	if (from >= 0 && (fstat(from, &stat) || !S_ISREG(stat.st_mode)))
		errno = EINVAL;
	else
		while (from >= 0 && copied < COPY_MAX &&
		       (n = read(from, buffer, sizeof(buffer))) > 0)
			copied += (size_t)(write(to, buffer, (size_t)n) == n ? n : COPY_MAX);
	if (from < 0 || n < 0 || (!copied && !S_ISREG(stat.st_mode)))
		dprintf(to, "(%s)\n", strerror(errno));
	if (from >= 0)
		close(from);
}

void collect_files(const char *folder, const char *name, const char *pattern)
{
	int fd = open_file(folder, name);
	glob_t found;

	if (fd < 0)
		return;
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			copy(fd, found.gl_pathv[i]);
		globfree(&found);
	}
	close(fd);
}

void collect_text(const char *folder, const char *name, const char *text)
{
	int fd = open_file(folder, name);

	if (fd < 0)
		return;
	dprintf(fd, "%s", text);
	close(fd);
}

int collect_pack(const char *folder, const char *path)
{
	const char *const argv[] = {
		"tar", "-C", folder, "--transform", "s,^\\.,cygnet-bundle,", "-cz", ".", NULL,
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), status;
	pid_t pid;

	if (fd < 0)
		return -errno;
	pid = start(argv, fd, STDERR_FILENO);
	status = pid < 0 ? pid : await(pid, PACK_S);
	if (close(fd) < 0 && !status)
		status = -errno;
	if (status)
		unlink(path);
	return status > 0 ? -EIO : status;
}

/* The folder has no subfolders. */
void collect_end(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(folder);
}
