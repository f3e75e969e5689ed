/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/state_file.h"
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

static bool is_given(const struct conf *conf)
{
	return conf->given[conf_key_find(CONF_MAIN, "user") - conf_keys].line;
}

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
	if (find_number(conf->user) || find_name(conf->user) || !is_given(conf))
		return 0;
	conf_where(conf, NULL, "user", where, sizeof(where));
	log_error("%s: there is no user '%s'", where, conf->user);
	return -ENOENT;
}

bool user_changes(void)
{
	return user.uid && !STAYS_ROOT && geteuid() == 0;
}

/* --- before the start --- */

static int take_groups(const char *name)
{
	const struct passwd *entry = getpwuid(user.uid);
	int failed;

	if (getegid() == user.gid)
		return 0;
	failed = entry ? initgroups(entry->pw_name, user.gid) : setgroups(0, NULL);
	if (!failed && !setresgid(user.gid, user.gid, user.gid))
		return 0;
	failed = -errno;
	log_error("user %s: cannot take its groups: %s. A process that takes over cannot have another user than the "
		  "one before it: restart it",
		  name, strerror(-failed));
	return failed;
}

static bool has_access(const struct stat *st, mode_t mode)
{
	if (st->st_uid == user.uid)
		return (st->st_mode & mode << 6) == mode << 6;
	if (st->st_gid == user.gid)
		return (st->st_mode & mode << 3) == mode << 3;
	return (st->st_mode & mode) == mode;
}

/* Make a folder the group's, unless the user has this access to it already. */
static int share(const char *path, mode_t access)
{
	struct stat st;

	mkdir(path, 0700);
	if (stat(path, &st))
		return -errno;
	if (has_access(&st, access))
		return 0;
	if (st.st_gid != user.gid && chown(path, (uid_t)-1, user.gid))
		return -errno;
	return chmod(path, (st.st_mode & 07777) | access << 3) ? -errno : 0;
}

/* The folder with those of all programs that use DPDK: everybody may pass, and only root list it. */
static int pass_through(const char *path)
{
	struct stat st;

	mkdir(path, 0711);
	if (stat(path, &st))
		return -errno;
	if (has_access(&st, 01))
		return 0;
	return chmod(path, (st.st_mode & 07777) | S_IXOTH | S_IXGRP) ? -errno : 0;
}

static int share_folders(const struct conf *conf)
{
	char path[PATH_MAX];
	int err;

	runtime_parent(path, sizeof(path));
	err = pass_through(path);
	if (!err) {
		runtime_folder(conf, path, sizeof(path));
		err = share(path, 07);
	}
	if (!err) {
		snprintf(path, sizeof(path), "%s", conf->state);
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

/* lock_memory() says if it cannot be. */
static void unlimit_locked_memory(void)
{
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_MEMLOCK, &none);
}

int user_prepare(const struct conf *conf)
{
	int err;

	if (!user_changes()) {
		if (geteuid() == 0 && !is_given(conf))
			log_plain(RTE_LOG_NOTICE,
				  "there is no user '%s': cygnetd stays root (user)", conf->user);
		return 0;
	}
	state_file_trust(user.uid);
	/* Files of state are for the group, too: the next process reads them as root of that group. */
	umask(027);
	unlimit_locked_memory();
	err = take_groups(conf->user);
	return err ? err : share_folders(conf);
}

/* --- the change --- */

int user_become(const struct conf *conf)
{
	char where[PATH_MAX + NAME_MAX];
	int err;

	if (!user_changes())
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
