/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file keep_policies.h
 * The policies of the last run, for the next boot: until charon has installed its own, they are held
 * (cygnet_policy_hold()), so that packets that they protect do not leave in plaintext. They are in the file
 * "policies" of the folder of state (policy_file.h) and in its copy "policies.copy", which a thread writes. If there
 * is a file, and neither can be used, everything but IKE is held.
 */
#ifndef CYGNETD_KEEP_POLICIES_H
#define CYGNETD_KEEP_POLICIES_H

#include <stddef.h>

#include "conf/conf.h"
#include "cygnet.h"

/** What the thread knows from one look at the SPD to the next. */
struct policy_keeper {
	char path[PATH_MAX + 16]; /* of the file */
	char *seen; /* text of the policies at the last look; NULL: charon was not there */
	size_t seen_len;
	char *written; /* text in the file; NULL: not known */
	int charon;    /* its process id at the last look */
};

/** Hold the policies of the file if no policy was ever installed in the shared file: this is the first start
 * since boot. After the role of the dataplane was taken, and before ports are opened. Logs which policies
 * are held, or why none or everything is. */
void keep_policies_restore(const struct conf *conf, struct cygnet_db *db);
/**
 * Look at the SPD. The policies of the look before are written if the same charon is still there and they are not
 * in the file yet. So the few policies that are left while charon stops are never written.
 * @return 0, or -errno of the file
 */
int keep_policies_look(struct policy_keeper *keeper, struct cygnet_db *db);
/** Free what the keeper has. */
void keep_policies_forget(struct policy_keeper *keeper);
/** Start the thread, unless the configuration says no. With the role of the dataplane. @return 0 or -errno, logged */
int keep_policies_start(const struct conf *conf);
/** End the thread. */
void keep_policies_stop(void);

#endif
