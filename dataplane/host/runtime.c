/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

#include "base/capture_request.h"
#include "base/log.h"
#include "host/runtime.h"

void runtime_parent(char *path, size_t size)
{
	const char *folder = getenv("RUNTIME_DIRECTORY");
	static bool known,
		root; /* what the process was when the EAL began: it may become another user */

	if (!known)
		root = getuid() == 0;
	known = true;
	if (!folder)
		folder = root ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	snprintf(path, size, "%s/dpdk", folder ? folder : "/tmp");
}

static void own_prefix(const struct conf *conf, char *prefix, size_t size, int pid)
{
	char usual[sizeof(conf->eal)];

	conf_file_prefix(conf, usual, sizeof(usual));
	snprintf(prefix, size, "%s-%d", usual, pid);
}

void runtime_prefix(const struct conf *conf, char *prefix, size_t size)
{
	own_prefix(conf, prefix, size, (int)getpid());
}

void runtime_folder(const struct conf *conf, char *path, size_t size)
{
	char prefix[sizeof(conf->eal)], all[PATH_MAX];

	runtime_parent(all, sizeof(all));
	conf_file_prefix(conf, prefix, sizeof(prefix));
	if (snprintf(path, size, "%s/%s", all, prefix) >= (int)size)
		path[0] = '\0';
}

/* PARENT/PREFIX/NAME */
static void usual_path(const struct conf *conf, const char *name, char *path, size_t size)
{
	char folder[PATH_MAX];

	runtime_folder(conf, folder, sizeof(folder));
	if (snprintf(path, size, "%s/%s", folder, name) >= (int)size)
		path[0] = '\0';
}

static void usual_socket(const struct conf *conf, char *path, size_t size)
{
	usual_path(conf, RUNTIME_TELEMETRY, path, size);
}

/* Read "../PREFIX-PID/dpdk_telemetry.v2", as runtime_link() makes it. @return PID, 0 for another text */
static int pid_of_link(const struct conf *conf, const char *text)
{
	char begin[sizeof(conf->eal) + 8] = "../", *end;
	size_t len;
	long pid;

	conf_file_prefix(conf, begin + 3, sizeof(conf->eal));
	strcat(begin, "-");
	len = strlen(begin);
	if (strncmp(text, begin, len) || text[len] < '1' || text[len] > '9')
		return 0;
	pid = strtol(text + len, &end, 10);
	return pid <= INT_MAX && !strcmp(end, "/" RUNTIME_TELEMETRY) ? (int)pid : 0;
}

/* The prefix that the usual socket leads to. @return false: it is no link of runtime_link() */
static bool linked_prefix(const struct conf *conf, char *own, size_t size)
{
	char path[PATH_MAX], text[PATH_MAX];
	ssize_t len;
	int pid;

	usual_socket(conf, path, sizeof(path));
	len = readlink(path, text, sizeof(text) - 1);
	if (len < 0)
		return false;
	text[len] = '\0';
	pid = pid_of_link(conf, text);
	own_prefix(conf, own, size, pid);
	return pid > 0;
}

static void remove_folder(const char *prefix)
{
	char all[PATH_MAX - NAME_MAX], path[PATH_MAX + NAME_MAX];
	struct dirent *entry;
	DIR *folder;

	runtime_parent(all, sizeof(all));
	snprintf(path, sizeof(path), "%s/%s", all, prefix);
	folder = opendir(path);
	if (!folder)
		return;
	while ((entry = readdir(folder)))
		unlinkat(dirfd(folder), entry->d_name, 0); /* "." and ".." stay */
	closedir(folder);
	rmdir(path);
}

static void link_socket(const struct conf *conf, const char *name)
{
	char path[PATH_MAX], temp[PATH_MAX + 16], own[sizeof(conf->eal) + 16],
		text[sizeof(own) + 32];

	usual_path(conf, name, path, sizeof(path));
	runtime_prefix(conf, own, sizeof(own));
	snprintf(text, sizeof(text), "../%s/%s", own, name);
	snprintf(temp, sizeof(temp), "%s.%d", path, (int)getpid());
	unlink(temp);
	if (symlink(text, temp) < 0 || rename(temp, path) < 0)
		log_warn("%s: cannot lead to this process, so that cygnetctl does not find it: %s",
			 path, strerror(errno));
}

void runtime_link(const struct conf *conf)
{
	link_socket(conf, RUNTIME_TELEMETRY);
	link_socket(conf, CAPTURE_SOCKET);
}

static void remove_links(const struct conf *conf)
{
	char path[PATH_MAX];

	usual_socket(conf, path, sizeof(path));
	unlink(path);
	usual_path(conf, CAPTURE_SOCKET, path, sizeof(path));
	unlink(path);
}

void runtime_leave(const struct conf *conf)
{
	char own[sizeof(conf->eal) + 16], linked[sizeof(own)];

	runtime_prefix(conf, own, sizeof(own));
	if (linked_prefix(conf, linked, sizeof(linked)) && !strcmp(linked, own))
		remove_links(conf);
	remove_folder(own);
}

static bool answers(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	bool does;
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path))
		return true;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	does = fd < 0 || connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0;
	if (fd >= 0)
		close(fd);
	return does;
}

/* @return PID of a name that runtime_prefix() makes; 0: it is another name */
static pid_t pid_of_prefix(const struct conf *conf, const char *name)
{
	char usual[sizeof(conf->eal)], *end;
	size_t len;
	long pid;

	conf_file_prefix(conf, usual, sizeof(usual));
	len = strlen(usual);
	if (strncmp(name, usual, len) || name[len] != '-' || name[len + 1] < '1' ||
	    name[len + 1] > '9')
		return 0;
	pid = strtol(name + len + 1, &end, 10);
	return pid <= INT_MAX && !*end ? (pid_t)pid : 0;
}

static bool is_left(const struct conf *conf, const char *all, const char *prefix)
{
	char path[PATH_MAX + 2 * NAME_MAX];
	pid_t pid = pid_of_prefix(conf, prefix);

	snprintf(path, sizeof(path), "%s/%s/" RUNTIME_TELEMETRY, all, prefix);
	return pid && kill(pid, 0) && errno == ESRCH && !answers(path);
}

/* Folders of processes that were killed, or could not remove theirs as another user than root. */
static void remove_left(const struct conf *conf)
{
	char all[PATH_MAX];
	struct dirent *entry;
	DIR *folder;

	runtime_parent(all, sizeof(all));
	folder = opendir(all);
	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (is_left(conf, all, entry->d_name))
			remove_folder(entry->d_name);
	closedir(folder);
}

/* All of the folder, links of runtime_link() among it: the EAL would follow what another user has put there. */
void runtime_clean(const struct conf *conf)
{
	char path[PATH_MAX], prefix[sizeof(conf->eal)];

	usual_socket(conf, path, sizeof(path));
	conf_file_prefix(conf, prefix, sizeof(prefix));
	if (!answers(path))
		remove_folder(prefix);
	remove_left(conf);
}

void runtime_share(void)
{
	if (chmod(rte_eal_get_runtime_dir(), 0770))
		log_warn("%s: %s", rte_eal_get_runtime_dir(), strerror(errno));
}
