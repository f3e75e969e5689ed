/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A role is an open-file-description lock on one byte of the file, and so is a mark. The kernel
 * releases it when its holder dies. The bytes are the same in all ABI versions: so no process replaces
 * a file of another version that is used. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ike.h"
#include "qsbr.h"
#include "role.h"

static struct flock role_lock(enum cygnet_role role)
{
	return (struct flock){
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = (off_t)role,
		.l_len = 1,
	};
}

/* Other processes open the file by its path, so a role in a file that the path no longer names is useless. */
static bool still_named(int fd, const char *path)
{
	struct stat ours, named;

	return !fstat(fd, &ours) && !lstat(path, &named) && ours.st_dev == named.st_dev &&
	       ours.st_ino == named.st_ino;
}

static int lock_file(int fd, const char *path, struct flock *lock)
{
	if (fcntl(fd, F_OFD_SETLK, lock) < 0)
		return errno == EAGAIN ? -EBUSY : -errno; /* EACCES: from AppArmor or the like */
	if (still_named(fd, path))
		return 0;
	lock->l_type = F_UNLCK;
	fcntl(fd, F_OFD_SETLK, lock);
	return -ESTALE;
}

int role_lock_all(int fd, const char *path)
{
	struct flock lock = role_lock(0);

	lock.l_len = CYGNET_ROLES;
	return lock_file(fd, path, &lock);
}

bool role_held_any(int fd)
{
	struct flock lock = role_lock(0);

	lock.l_len = CYGNET_ROLES;
	return fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

/* Map all pages now, so that neither the first packet of an SA nor its installation waits for a
 * page fault. Errors are ignored: Linux before 5.14 does not support it. */
EXPORT void cygnet_db_populate(struct cygnet_db *db)
{
	madvise(db->header, db->size, MADV_POPULATE_WRITE);
}

EXPORT int cygnet_db_lock(struct cygnet_db *db)
{
	size_t bytes = (size_t)db->geometry.sas * sizeof(db->sas[0]);

	return mlock2(db->sas, bytes, MLOCK_ONFAULT) ? -errno : 0;
}

/* Clear the expired flags of all SAs, so that the dataplane raises their expiries again. */
static void expire_again(struct cygnet_db *db)
{
	for (uint32_t i = 0; i < pool_fresh(&db->header->sa_pool, db->geometry.sas); i++)
		store_relaxed(&db->sas[i].expired, 0);
}

EXPORT int cygnet_role_take(struct cygnet_db *db, enum cygnet_role role)
{
	struct flock lock = role_lock(role);
	int err;

	if ((unsigned int)role >= CYGNET_ROLES)
		return -EINVAL;
	if (db->roles & 1u << role)
		return 0; /* readers of this process stay online */
	err = lock_file(db->fd, db->path, &lock);
	if (err)
		return err;
	/* Other programs may use the ports of a charon that died. */
	if (role == CYGNET_ROLE_CHARON)
		ike_forget(db->header);
	/* Until this store, cygnet_db_info() returns the pid of the previous holder. */
	store_release(&db->header->role_pid[role], getpid());
	cygnet_db_populate(db);
	db->roles |= 1u << role;
	if (role == CYGNET_ROLE_DATAPLANE) {
		qsbr_reset(db);
		/* Expiries that the previous dataplane had raised but not posted are lost. */
		expire_again(db);
	}
	return 0;
}

EXPORT void cygnet_role_release(struct cygnet_db *db, enum cygnet_role role)
{
	struct flock lock = role_lock(role);

	if ((unsigned int)role >= CYGNET_ROLES || !(db->roles & 1u << role))
		return;
	db->roles &= ~(1u << role);
	lock.l_type = F_UNLCK;
	fcntl(db->fd, F_OFD_SETLK, &lock);
}

EXPORT bool cygnet_role_held(struct cygnet_db *db, enum cygnet_role role)
{
	struct flock lock = role_lock(role);

	if ((unsigned int)role >= CYGNET_ROLES)
		return false;
	if (db->roles & 1u << role)
		return true;
	/* On an error assume that the role is held. */
	return fcntl(db->fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

/* A mark is a shared lock on one of the bytes behind those of the roles. */
static struct flock mark_lock(enum cygnet_mark mark, short type)
{
	return (struct flock){
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = (off_t)CYGNET_ROLES + (off_t)mark,
		.l_len = 1,
	};
}

EXPORT int cygnet_mark_set(struct cygnet_db *db, enum cygnet_mark mark, bool made)
{
	struct flock lock = mark_lock(mark, made ? F_RDLCK : F_UNLCK);

	if ((unsigned int)mark >= CYGNET_MARKS)
		return -EINVAL;
	return fcntl(db->fd, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

EXPORT bool cygnet_mark_made(struct cygnet_db *db, enum cygnet_mark mark)
{
	struct flock lock = mark_lock(mark, F_WRLCK);

	return (unsigned int)mark < CYGNET_MARKS && fcntl(db->fd, F_OFD_GETLK, &lock) == 0 &&
	       lock.l_type != F_UNLCK;
}
