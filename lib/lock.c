/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "lock.h"

/* The owner field of a glibc mutex in the state ENOTRECOVERABLE. */
#define NOT_RECOVERABLE (INT_MAX - 1)

static int init(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;
	int err = pthread_mutexattr_init(&attr);

	if (!err)
		err = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (!err)
		err = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (!err)
		err = pthread_mutex_init(mutex, &attr);
	return -err;
}

int lock_init(struct header *header)
{
	return init(&header->mutex);
}

bool lock_usable(const struct header *header)
{
	pthread_mutex_t fresh;

	return !init(&fresh) && header->mutex.__data.__kind == fresh.__data.__kind &&
	       header->mutex.__data.__owner != NOT_RECOVERABLE;
}

/* Print the reason, because abort() prints none. */
static void lock_failed(const struct cygnet_db *db, int err)
{
	fprintf(stderr,
		"cygnet: %s: cannot lock (%s): the file is damaged; stop "
		"charon and cygnetd, remove it, and start both again\n",
		db->path, strerror(err));
	abort();
}

void lock_take(struct cygnet_db *db)
{
	int err = pthread_mutex_lock(&db->header->mutex);

	if (err == EOWNERDEAD) {
		/* If this process dies in the repair, the next owner gets EOWNERDEAD again. */
		db->repair(db);
		db->header->recoveries++;
		err = pthread_mutex_consistent(&db->header->mutex);
	}
	/* Other errors (EINVAL, ENOTRECOVERABLE) mean a damaged file or a bug. Writing
	 * without the lock would corrupt the SAD. */
	if (err)
		lock_failed(db, err);
}

void lock_release(struct cygnet_db *db)
{
	pthread_mutex_unlock(&db->header->mutex);
}
