/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "lock.h"
#include "repair.h"

int lock_init(struct header *header)
{
	pthread_mutexattr_t attr;
	int err = pthread_mutexattr_init(&attr);

	if (!err)
		err = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (!err)
		err = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (!err)
		err = pthread_mutex_init(&header->mutex, &attr);
	return -err;
}

void lock_take(struct cygnet_db *db)
{
	int err = pthread_mutex_lock(&db->header->mutex);

	if (err == EOWNERDEAD) {
		/* If we die in here too, the next one gets EOWNERDEAD again. */
		repair(db);
		db->header->recoveries++;
		err = pthread_mutex_consistent(&db->header->mutex);
	}
	/* What remains (EINVAL, ENOTRECOVERABLE) means a damaged file or a bug of
	 * ours: going on without the lock would corrupt the SAD. */
	if (err)
		abort();
}

void lock_release(struct cygnet_db *db)
{
	pthread_mutex_unlock(&db->header->mutex);
}
