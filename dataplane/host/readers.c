/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>

#include "base/log.h"
#include "conf/conf_keys.h"
#include "host/readers.h"
#include "host/runtime.h"

#define FOLDER_MODE 0710 /* the group passes, and lists nothing */
#define SOCKET_MODE 0666 /* of whoever has passed */

static struct {
	bool known; /* there is one, and it has its folder */
	gid_t gid;
} group;

/* --- who --- */

/* A number need not have an entry. */
static bool find_number(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number >= UINT32_MAX)
		return false;
	group.gid = (gid_t)number;
	return true;
}

static bool find_name(const char *name)
{
	const struct group *entry = getgrnam(name);

	if (!entry)
		return false;
	group.gid = entry->gr_gid;
	return true;
}

int readers_find(const struct conf *conf)
{
	char where[PATH_MAX + NAME_MAX];

	group.known = find_number(conf->telemetry_group) || find_name(conf->telemetry_group);
	if (group.known || !conf_is_given(conf, "telemetry_group"))
		return 0;
	conf_where(conf, NULL, "telemetry_group", where, sizeof(where));
	log_error("%s: there is no group '%s'", where, conf->telemetry_group);
	return -ENOENT;
}

/* --- their folder --- */

/* PREFIX-readers, which is beside what another user may write to. */
static void readers_name(const struct conf *conf, char *name, size_t size)
{
	char prefix[sizeof(conf->eal)];

	conf_file_prefix(conf, prefix, sizeof(prefix));
	snprintf(name, size, "%s-readers", prefix);
}

static void readers_folder(const struct conf *conf, char *path, size_t size)
{
	char all[PATH_MAX - NAME_MAX], name[sizeof(conf->eal) + 16];

	runtime_parent(all, sizeof(all));
	readers_name(conf, name, sizeof(name));
	if (snprintf(path, size, "%s/%s", all, name) >= (int)size)
		path[0] = '\0';
}

/* Everybody may pass through the folder: what is in it is closed by its own mode. @return 0 or -errno */
static int let_pass(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if ((st.st_mode & 0011) == 0011)
		return 0;
	return chmod(path, (st.st_mode & 07777) | 0011) ? -errno : 0;
}

/* A folder of a takeover has both already. The mode first: with another group it would take CAP_FSETID.
 * @return 0 or -errno */
static int give(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if ((st.st_mode & 07777) != FOLDER_MODE && fchmod(fd, FOLDER_MODE))
		return -errno;
	return st.st_gid != group.gid && fchown(fd, (uid_t)-1, group.gid) ? -errno : 0;
}

/* Sockets of processes that have ended. */
static void remove_left(int fd)
{
	DIR *folder = fdopendir(dup(fd));
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && kill(pid, 0) && errno == ESRCH)
			unlinkat(fd, entry->d_name, 0);
	}
	if (folder)
		closedir(folder);
}

static int make_folder(const char *path)
{
	int fd, err;

	mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = give(fd);
	if (!err)
		remove_left(fd);
	close(fd);
	return err;
}

static void refuse(const struct conf *conf, const char *path, int err)
{
	group.known = false;
	log_warn("%s: group %s cannot read telemetry%s: %s", path, conf->telemetry_group,
		 err == -EACCES || err == -EPERM
			 ? " until a restart, as after a takeover from a process without that group"
			 : "",
		 strerror(-err));
}

void readers_prepare(const struct conf *conf)
{
	char path[PATH_MAX];
	int err;

	if (geteuid())
		group.known = false;
	if (!group.known)
		return;
	runtime_parent(path, sizeof(path));
	mkdir(path, 0711);
	err = let_pass(path);
	if (!err) {
		readers_folder(conf, path, sizeof(path));
		err = make_folder(path);
	}
	if (err)
		refuse(conf, path, err);
}

/* --- the socket --- */

/* The user that the process becomes may have put something else where the socket was, but not where it is.
 * @return 0 or -errno */
static int open_socket(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		return -EINVAL;
	return chmod(path, SOCKET_MODE) ? -errno : 0;
}

static int move(const char *from, const char *to, const char *link)
{
	int err = rename(from, to) ? -errno : 0;

	if (err)
		return err;
	err = open_socket(to);
	if (!err && symlink(link, from))
		err = -errno;
	if (err)
		rename(to, from);
	return err;
}

void readers_admit(const struct conf *conf)
{
	char from[PATH_MAX], to[PATH_MAX + 16], link[sizeof(conf->eal) + 32], folder[PATH_MAX],
		name[sizeof(conf->eal) + 16];
	int err;

	if (!group.known)
		return;
	snprintf(from, sizeof(from), "%s/" RUNTIME_TELEMETRY, rte_eal_get_runtime_dir());
	readers_folder(conf, folder, sizeof(folder));
	snprintf(to, sizeof(to), "%s/%d", folder, (int)getpid());
	readers_name(conf, name, sizeof(name));
	snprintf(link, sizeof(link), "../%s/%d", name, (int)getpid());
	err = move(from, to, link);
	if (!err)
		err = let_pass(rte_eal_get_runtime_dir());
	/* That of links, of a process that takes over. */
	runtime_folder(conf, folder, sizeof(folder));
	if (!err)
		err = let_pass(folder);
	if (err)
		refuse(conf, from, err);
}
