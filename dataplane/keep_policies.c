/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
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

/* --- at the start --- */

static void hold_all(const char *path, struct cygnet_db *db, const struct policy_list *list)
{
	int err = 0, failed = 0;
	uint32_t held = 0;

	/* A policy that is refused must not leave those behind it in plaintext. */
	for (uint32_t i = 0; i < list->n && err != -EBUSY; i++) {
		err = cygnet_policy_hold(db, &list->policy[i]);
		held += !err;
		if (err && err != -EEXIST)
			failed = err;
	}
	if (failed == -EBUSY)
		log_warn("%s: charon has come: %u of %u policies are held", path, held, list->n);
	else if (failed)
		log_error("%s: %s: only %u of %u policies are held", path, strerror(-failed), held,
			  list->n);
	else
		log_info("%s: %u policies of the last run drop packets until charon installs its own",
			 path, held);
}

/* @return false: there is no file, or it cannot be used, which is logged */
static bool read_file(const char *path, struct cygnet_db *db, struct policy_list *list)
{
	struct cygnet_db_info info;
	char why[512] = "damaged";
	char *text;
	int err;

	cygnet_db_info(db, &info);
	text = state_file_read(path, (size_t)info.geometry.policies * POLICY_LINE + PATH_MAX + 64,
			       &err);
	if (!text && err == -ENOENT)
		return false;
	if (text)
		err = policy_list_parse(text, info.path, info.geometry.policies, list, why,
					sizeof(why));
	else if (err != -EINVAL)
		snprintf(why, sizeof(why), "%s", strerror(-err));
	free(text);
	if (err)
		log_error(
			"%s: %s: not used: until charon has installed its policies, nothing is protected",
			path, why);
	return !err;
}

void keep_policies_restore(const struct conf *conf, struct cygnet_db *db)
{
	struct policy_list list = {0};
	char path[PATH_MAX + 16];

	if (!conf->keep_policies || !cygnet_spd_unused(db))
		return;
	set_path(path, conf);
	if (cygnet_role_held(db, CYGNET_ROLE_CHARON)) {
		log_warn("%s: not used: charon was there before cygnetd", path);
		return;
	}
	if (!read_file(path, db, &list))
		return;
	hold_all(path, db, &list);
	policy_list_free(&list);
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
	int err;

	if (k->written && !strcmp(k->written, k->seen))
		return 0;
	err = state_file_write(k->path, k->seen, k->seen_len, 0600);
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
	if (info.charon_pid) {
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
