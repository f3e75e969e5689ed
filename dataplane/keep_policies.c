/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/log.h"
#include "base/sadb.h"
#include "base/state_file.h"
#include "dpdk_release.h"
#include "keep_policies.h"
#include "policy_file.h"

#define LOOK_S 10

static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stop = PTHREAD_COND_INITIALIZER;
static bool running, stopping;
static struct policy_keeper keeper;

static void set_path(char path[PATH_MAX + 16], const struct conf *conf)
{
	snprintf(path, PATH_MAX + 16, "%s/policies", conf->state);
}

static void set_copy_path(char copy[PATH_MAX + 32], const char *path)
{
	snprintf(copy, PATH_MAX + 32, "%s.copy", path);
}

/* --- at the start --- */

/* @return number of policies that are held now; failed: 0 or -errno of one that is not */
static uint32_t hold_list(struct cygnet_db *db, const struct policy_list *list, int *failed)
{
	uint32_t held = 0;
	int err = 0;

	*failed = 0;
	/* A policy that is refused must not leave those behind it in plaintext. */
	for (uint32_t i = 0; i < list->n && err != -EBUSY; i++) {
		err = cygnet_policy_hold(db, &list->policy[i]);
		held += !err;
		if (err && err != -EEXIST)
			*failed = err;
	}
	return held;
}

/* A policy for all packets of a family and direction, behind all others. */
static struct cygnet_policy_params everything(enum cygnet_dir dir, uint8_t af)
{
	struct cygnet_policy_params p = {
		.sel = {.sport_hi = UINT16_MAX, .dport_hi = UINT16_MAX, .af = af},
		.priority = CYGNET_PRIORITY_LAST,
		.rank = UINT32_MAX,
		.dir = (uint8_t)dir,
		.action = CYGNET_DISCARD,
	};
	size_t len = af == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);

	memset(p.sel.src_hi.bytes, 0xff, len);
	memset(p.sel.dst_hi.bytes, 0xff, len);
	return p;
}

static void hold_everything(const char *path, struct cygnet_db *db)
{
	struct cygnet_policy_params policy[2 * CYGNET_DIRS];
	const struct policy_list list = {policy, 2 * CYGNET_DIRS};
	int failed;

	for (unsigned int i = 0; i < list.n; i++)
		policy[i] = everything((enum cygnet_dir)(i / 2), i % 2 ? AF_INET6 : AF_INET);
	hold_list(db, &list, &failed);
	if (failed)
		log_error("%s: not everything is held: %s", path, strerror(-failed));
	else
		log_error(
			"%s: the policies of the last run are not known: all packets but IKE are dropped until charon has loaded its connections (hold_unknown)",
			path);
}

/* @return 0, -ENOENT (there is no file), or another -errno, logged: it cannot be used */
static int read_file(const char *path, struct cygnet_db *db, struct policy_list *list)
{
	char why[512] = "damaged, too long, or others can write it";
	struct cygnet_db_info info;
	char *text;
	int err;

	cygnet_db_info(db, &info);
	text = state_file_read(path, (size_t)info.geometry.policies * POLICY_LINE + PATH_MAX + 64,
			       &err);
	if (text)
		err = policy_list_parse(text, info.path, info.geometry.policies, list, why,
					sizeof(why));
	else if (err != -EINVAL)
		snprintf(why, sizeof(why), "%s", strerror(-err));
	free(text);
	if (err && err != -ENOENT)
		log_error("%s: %s: not used", path, why);
	return err;
}

/* Read the file, or its copy. @return as read_file() */
static int read_policies(const char *path, struct cygnet_db *db, struct policy_list *list)
{
	int err = read_file(path, db, list), failed;
	char copy[PATH_MAX + 32];

	if (!err)
		return 0;
	set_copy_path(copy, path);
	failed = read_file(copy, db, list);
	if (!failed)
		log_warn("%s: used, a copy", copy);
	return failed == -ENOENT ? err : failed;
}

/* @return whether the policies are held, or charon has come */
static bool hold_policies(const char *path, struct cygnet_db *db, const struct policy_list *list)
{
	int failed;
	uint32_t held = hold_list(db, list, &failed);

	if (failed == -EBUSY)
		log_warn("%s: charon has come: %u of %u policies are held", path, held, list->n);
	else if (failed)
		log_error("%s: %s: only %u of %u policies are held", path, strerror(-failed), held,
			  list->n);
	else
		log_info("%s: %u policies of the last run drop packets until charon installs its own",
			 path, held);
	return !failed || failed == -EBUSY;
}

void keep_policies_restore(const struct conf *conf, struct cygnet_db *db)
{
	struct policy_list list = {0};
	char path[PATH_MAX + 16];
	bool known;
	int err;

	if (!conf->keep_policies || !cygnet_spd_unused(db))
		return;
	set_path(path, conf);
	if (cygnet_role_held(db, CYGNET_ROLE_CHARON)) {
		log_warn("%s: not used: charon was there before cygnetd", path);
		return;
	}
	err = read_policies(path, db, &list);
	if (err == -ENOENT)
		return;
	known = !err && hold_policies(path, db, &list);
	policy_list_free(&list);
	if (known)
		return;
	if (conf->hold_unknown)
		hold_everything(path, db);
	else
		log_error("%s: until charon has installed its policies, nothing is protected",
			  path);
}

/* --- while charon runs --- */

void keep_policies_forget(struct policy_keeper *k)
{
	free(k->seen);
	free(k->written);
	k->seen = k->written = NULL;
}

static int write_seen(struct policy_keeper *k)
{
	char copy[PATH_MAX + 32];
	int err;

	if (k->written && !strcmp(k->written, k->seen))
		return 0;
	set_copy_path(copy, k->path);
	err = state_file_write(k->path, k->seen, k->seen_len, 0644);
	if (!err)
		err = state_file_write(copy, k->seen, k->seen_len, 0644);
	if (err)
		return err;
	free(k->written);
	k->written = k->seen;
	k->seen = NULL;
	return 0;
}

static int see(struct policy_keeper *k, struct cygnet_db *db, const char *sadb_path)
{
	struct policy_list list;
	int err = policy_list_read(db, &list);

	free(k->seen);
	k->seen = err ? NULL : policy_list_text(&list, sadb_path, &k->seen_len);
	policy_list_free(&list);
	return k->seen ? 0 : -ENOMEM;
}

int keep_policies_look(struct policy_keeper *k, struct cygnet_db *db)
{
	struct cygnet_db_info info;
	int err = 0, failed;

	cygnet_db_info(db, &info);
	if (k->seen && info.charon_pid && info.charon_pid == k->charon)
		err = write_seen(k);
	k->charon = info.charon_pid;
	/* Of everything it is not known what is wanted: the next boot is to find out by what there is of the files. */
	if (info.charon_pid && !cygnet_everything_held(db)) {
		failed = see(k, db, info.path);
	} else {
		free(k->seen);
		k->seen = NULL;
		failed = 0;
	}
	return err ? err : failed;
}

/* @return false: the thread is to end */
static bool wait_for_look(void)
{
	struct timespec until;
	bool ends;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LOOK_S;
	pthread_mutex_lock(&mutex);
	while (!stopping && pthread_cond_clockwait(&stop, &mutex, CLOCK_MONOTONIC, &until) == 0)
		;
	ends = stopping;
	pthread_mutex_unlock(&mutex);
	return !ends;
}

static dpdk_thread_result keep(void *arg)
{
	(void)arg;
	while (wait_for_look()) {
		int err = keep_policies_look(&keeper, sadb);

		if (err)
			log_warn("%s: %s: after a boot the policies are not held", keeper.path,
				 strerror(-err));
	}
	return (dpdk_thread_result)0;
}

int keep_policies_start(const struct conf *conf)
{
	int err;

	if (!conf->keep_policies)
		return 0;
	stopping = false;
	set_path(keeper.path, conf);
	if (mkdir(conf->state, 0755) && errno != EEXIST)
		log_warn("%s: %s: after a boot the policies are not held", conf->state,
			 strerror(errno));
	err = dpdk_control_thread(&thread, "policies", keep, NULL);
	running = !err;
	if (err)
		log_error("policies: %s", strerror(-err));
	return err;
}

void keep_policies_stop(void)
{
	if (!running)
		return;
	running = false;
	pthread_mutex_lock(&mutex);
	stopping = true;
	pthread_cond_signal(&stop);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	keep_policies_forget(&keeper);
}
