/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "conf/conf_keys.h"
#include "config.h"
#include "host/privileges.h"
#include "host/runtime.h"
#include "host/user.h"

/* Where libxdp has the lock without which it takes no program off an interface. */
#define LIBXDP "/run/xdp"

static struct {
	uid_t uid; /* 0: the process does not change its user */
	gid_t gid;
} user;

/* LeakSanitizer traces the threads, which root alone can where the process is not dumpable. */
#ifdef CYGNET_SANITIZERS
#define STAYS_ROOT true
#else
#define STAYS_ROOT false
#endif

/* --- who --- */

/* A number without an entry is a group, too. */
static bool find_number(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);
	const struct passwd *entry;

	if (*text < '0' || *text > '9' || *end || number >= UINT32_MAX)
		return false;
	entry = getpwuid((uid_t)number);
	user.uid = (uid_t)number;
	user.gid = entry ? entry->pw_gid : (gid_t)number;
	return true;
}

static bool find_name(const char *name)
{
	const struct passwd *entry = getpwnam(name);

	if (!entry)
		return false;
	user.uid = entry->pw_uid;
	user.gid = entry->pw_gid;
	return true;
}

int user_find(const struct conf *conf)
{
	char where[PATH_MAX + NAME_MAX];

	user.uid = 0;
	if (find_number(conf->user) || find_name(conf->user) || !conf_is_given(conf, "user"))
		return 0;
	conf_where(conf, NULL, "user", where, sizeof(where));
	log_error("%s: there is no user '%s'", where, conf->user);
	return -ENOENT;
}

bool user_will_change(void)
{
	return user.uid && !STAYS_ROOT && geteuid() == 0;
}

/* --- before the start --- */

static bool has_groups(void)
{
	return getegid() == user.gid;
}

/* Threads of another user have no capabilities, but the limit of the process. */
static bool can_lock(const struct conf *conf)
{
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};

	return !conf->lock_memory || setrlimit(RLIMIT_MEMLOCK, &none) == 0;
}

/* @return NULL, or why the process cannot become the user */
static const char *what_is_missing(const struct conf *conf)
{
	if (!privileges_have(CAP_SETUID))
		return "CAP_SETUID is missing";
	if (!has_groups() && !(privileges_have(CAP_SETGID) && privileges_have(CAP_CHOWN)))
		return "CAP_SETGID or CAP_CHOWN is missing, as in a process that takes over from one of "
		       "another user: restart that";
	if (!can_lock(conf))
		return "lock_memory needs RLIMIT_MEMLOCK without limit (LimitMEMLOCK=infinity), which "
		       "cannot be set without CAP_SYS_RESOURCE";
	return NULL;
}

/* A default that cannot be had leaves the process what it is.
 * @return 0 or -EPERM, logged */
static int stay_root(const struct conf *conf, const char *why)
{
	char where[PATH_MAX + NAME_MAX];

	user.uid = 0;
	conf_where(conf, NULL, "user", where, sizeof(where));
	if (conf_is_given(conf, "user")) {
		log_error("%s: cannot become user '%s': %s", where, conf->user, why);
		return -EPERM;
	}
	log_warn("%s: cygnetd stays root and does not become user '%s': %s", where, conf->user,
		 why);
	return 0;
}

static int take_groups(void)
{
	const struct passwd *entry = getpwuid(user.uid);
	int failed;

	/* Of a process that takes over, which has them. A user may have root's group, but none of root's others. */
	if (!privileges_have(CAP_SETGID))
		return 0;
	failed = entry ? initgroups(entry->pw_name, user.gid) : setgroups(0, NULL);
	if (failed || setresgid(user.gid, user.gid, user.gid))
		return -errno;
	privileges_hide_memory();
	return 0;
}

static bool has_access(const struct stat *st, mode_t mode)
{
	if (st->st_uid == user.uid)
		return (st->st_mode & mode << 6) == mode << 6;
	if (st->st_gid == user.gid)
		return (st->st_mode & mode << 3) == mode << 3;
	return (st->st_mode & mode) == mode;
}

/* What the user can replace may be a link to anywhere when root comes back. @return 0 or -errno */
static int check_parent(const char *path)
{
	char copy[PATH_MAX];
	struct stat st;

	snprintf(copy, sizeof(copy), "%s", path);
	if (stat(dirname(copy), &st))
		return -errno;
	if (!has_access(&st, 02) || st.st_mode & S_ISVTX)
		return 0;
	log_error("%s: user %u can write to the folder that it is in, and replace it", path,
		  user.uid);
	return -EPERM;
}

/* Give access to a folder of root's, which is made if it is missing.
 * @return its descriptor, with its status; -errno */
static int open_folder(const char *path, mode_t mode, struct stat *st)
{
	int err = check_parent(path), fd;

	if (err)
		return err;
	mkdir(path, mode);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, st) == 0)
		return fd;
	close(fd);
	return -EIO;
}

/* Make a folder the group's, and nobody else's, unless the user has this access to it already. */
static int share(const char *path, mode_t access)
{
	struct stat st;
	int fd = open_folder(path, 0700, &st), err = 0;

	if (fd < 0)
		return fd;
	if (!has_access(&st, access) &&
	    ((st.st_gid != user.gid && fchown(fd, (uid_t)-1, user.gid)) ||
	     fchmod(fd, (st.st_mode & 07770) | access << 3)))
		err = -errno;
	close(fd);
	return err;
}

/* The folder with those of all programs that use DPDK: everybody may pass, and only root list it. */
static int pass_through(const char *path)
{
	struct stat st;
	int fd = open_folder(path, 0711, &st), err = 0;

	if (fd < 0)
		return fd;
	if (!has_access(&st, 01) && fchmod(fd, (st.st_mode & 07777) | S_IXOTH | S_IXGRP))
		err = -errno;
	close(fd);
	return err;
}

static void share_state(const struct conf *conf)
{
	int err = share(conf->state, 07);

	if (err)
		log_warn("%s: user %s cannot write to it: after a boot the policies are not held: %s",
			 conf->state, conf->user, strerror(-err));
}

static int share_runtime(const struct conf *conf)
{
	char path[PATH_MAX];
	int err;

	runtime_parent(path, sizeof(path));
	err = pass_through(path);
	if (!err) {
		runtime_folder(conf, path, sizeof(path));
		err = share(path, 07);
	}
	if (!err && conf_has_device(conf, "net_af_xdp")) {
		snprintf(path, sizeof(path), "%s", LIBXDP);
		err = share(path, 05);
	}
	if (err)
		log_error("%s: user %s cannot have access: %s", path, conf->user, strerror(-err));
	return err;
}

int user_prepare(const struct conf *conf)
{
	const char *missing;
	int err;

	if (geteuid() || STAYS_ROOT)
		return 0;
	if (!user.uid)
		return conf_is_given(conf, "user") ? 0 : stay_root(conf, "there is no such user");
	missing = what_is_missing(conf);
	if (missing)
		return stay_root(conf, missing);
	/* The next process reads files of state as root without CAP_DAC_OVERRIDE. Their folder is for the group alone. */
	umask(022);
	err = take_groups();
	if (err) {
		log_error("user %s: cannot take its groups: %s", conf->user, strerror(-err));
		return err;
	}
	share_state(conf);
	return share_runtime(conf);
}

/* --- the change --- */

int user_become(const struct conf *conf)
{
	char where[PATH_MAX + NAME_MAX];
	int err;

	if (!user_will_change())
		return 0;
	err = privileges_change_user(user.uid);
	if (err) {
		conf_where(conf, NULL, "user", where, sizeof(where));
		log_error("%s: cannot become user %s: %s", where, conf->user, strerror(-err));
		return err;
	}
	log_info("user %s from now on", conf->user);
	if (access(conf->path, R_OK))
		log_warn("%s: user %s cannot read it: a reload will fail: %s", conf->path,
			 conf->user, strerror(errno));
	return 0;
}
