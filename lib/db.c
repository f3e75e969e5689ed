/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates, opens, checks, flushes and removes the file. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "boot.h"
#include "hold.h"
#include "ike.h"
#include "lock.h"
#include "pool.h"
#include "repair.h"
#include "role.h"
#include "sad.h"
#include "spd.h"

/* Time for another process to replace a file of another boot, ms. */
#define REPLACE_MS 2000u
/* What an administrator does with a file that processes of another version use. */
#define RESTART_BOTH "stop charon, restart cygnetd, and start charon"

struct message {
	char *text;
	size_t size;
	const char *path;
};

__attribute__((format(printf, 3, 4))) static int fail(struct message *m, int err,
						      const char *format, ...)
{
	va_list args;
	int used;

	if (!m->text || !m->size)
		return err;
	used = snprintf(m->text, m->size, "%s: ", m->path);
	if (used < 0 || (size_t)used >= m->size)
		return err;
	va_start(args, format);
	vsnprintf(m->text + used, m->size - (size_t)used, format, args);
	va_end(args);
	return err;
}

static int fail_errno(struct message *m, const char *what)
{
	int err = errno;

	return fail(m, -err, "%s: %s", what, strerror(err));
}

static bool geometry_valid(const struct cygnet_geometry *g)
{
	return g->sas && g->sas <= CYGNET_MAX_ENTRIES && g->policies &&
	       g->policies <= CYGNET_MAX_ENTRIES;
}

static int map(struct cygnet_db *db, size_t size, struct message *m)
{
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, db->fd, 0);

	if (base == MAP_FAILED)
		return fail_errno(m, "cannot map");
	/* Keys stay out of core dumps, and out of the scripts that charon forks. */
	if (madvise(base, size, MADV_DONTDUMP) < 0 || madvise(base, size, MADV_DONTFORK) < 0) {
		int err = fail_errno(m, "cannot exclude it from core dumps and forked processes");

		munmap(base, size);
		return err;
	}
	db->header = base;
	db->size = size;
	return 0;
}

static void attach(struct cygnet_db *db, const struct fixed *fixed)
{
	uint8_t *base = (uint8_t *)db->header;

	db->geometry = fixed->geometry;
	db->sa_mask = fixed->sa_buckets - 1;
	db->policy_mask = fixed->policy_buckets - 1;
	db->net_mask = fixed->net_buckets - 1;
	db->replay_blocks = fixed->replay_blocks;
	db->features = fixed->features;
	db->seed = fixed->seed;
	db->sa_table = (uint32_t *)(void *)(base + fixed->sa_table);
	db->policy_table = (uint32_t *)(void *)(base + fixed->policy_table);
	db->peer_nets = (struct peer_net *)(void *)(base + fixed->peer_nets);
	db->sharing = (uint32_t *)(void *)(base + fixed->sharing);
	db->sas = (struct cygnet_sa *)(void *)(base + fixed->sas);
	db->policies = (struct cygnet_policy *)(void *)(base + fixed->policies);
	db->replay = (struct replay_block *)(void *)(base + fixed->replay);
	db->events = (struct cygnet_event *)(void *)(base + fixed->events);
	db->ike_dst = NULL;
	db->ike_dst_mask = layout_ike_dsts(fixed) - 1;
	if (layout_ike_dst(fixed))
		db->ike_dst = (struct ike_dst *)(void *)(base + layout_ike_dst(fixed));
	db->wakes_seen = load_acquire(&db->header->event_wakes);
}

static int check_fixed(const struct fixed *f, size_t size, struct message *m)
{
	struct fixed expected = *f;

	if (f->magic != LAYOUT_MAGIC)
		return fail(m, -EBADMSG, "not a Cygnet SAD/SPD file");
	if (f->abi != CYGNET_ABI_VERSION)
		return fail(m, -EPROTO, "has ABI version %u, this program needs %u", f->abi,
			    CYGNET_ABI_VERSION);
	if (f->checksum != layout_checksum(f))
		return fail(m, -EBADMSG, "damaged: the checksum of its header is wrong");
	if (f->features & ~LAYOUT_FEATURES)
		return fail(m, -EPROTO, "uses features unknown to this program: %#llx",
			    (unsigned long long)(f->features & ~LAYOUT_FEATURES));
	if (!geometry_valid(&f->geometry))
		return fail(m, -EBADMSG, "damaged: sizes in its header are out of range");
	layout_init(&expected);
	if (memcmp(&expected, f, sizeof(expected)))
		return fail(m, -EBADMSG, "damaged: its layout does not follow from its sizes");
	if (f->file_size != size)
		return fail(m, -EBADMSG, "damaged: %zu bytes long, should be %llu", size,
			    (unsigned long long)f->file_size);
	return 0;
}

static bool pool_plausible(const struct pool *pool, uint32_t capacity)
{
	return load_relaxed(&pool->fresh) <= capacity && load_relaxed(&pool->free) <= capacity &&
	       load_relaxed(&pool->retired_head) <= capacity &&
	       load_relaxed(&pool->retired_tail) <= capacity &&
	       load_relaxed(&pool->used) <= capacity && load_relaxed(&pool->retired) <= capacity;
}

/* Check fields that change, as far as possible without the mutex. cygnet_db_check() checks the
 * others. */
static int check_mutable(const struct header *h, const struct fixed *f, struct message *m)
{
	if (!lock_usable(h))
		return fail(m, -EBADMSG, "damaged: its lock is not a robust shared mutex");
	if (!pool_plausible(&h->sa_pool, f->geometry.sas) ||
	    !pool_plausible(&h->policy_pool, f->geometry.policies) ||
	    load_relaxed(&h->replay_fresh) > f->replay_blocks ||
	    load_relaxed(&h->replay_free) > f->replay_blocks ||
	    load_relaxed(&h->replay_used) > f->replay_blocks)
		return fail(m, -EBADMSG, "damaged: counters in its header are out of range");
	return 0;
}

/* Whether a folder shares its files with its group: it has the set-group-ID bit, which gives new files its group,
 * belongs to root or this user, and other users cannot enter it.
 * @param[out] group  of the folder */
static bool folder_shares(const char *path, gid_t *group)
{
	char copy[PATH_MAX];
	struct stat st;

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy) ||
	    stat(dirname(copy), &st) < 0)
		return false;
	*group = st.st_gid;
	return (st.st_mode & S_ISGID) && !(st.st_mode & S_IRWXO) &&
	       (st.st_uid == 0 || st.st_uid == geteuid());
}

static bool is_shared(const struct stat *st, const char *path)
{
	gid_t group;

	return (st->st_mode & (S_IRWXG | S_IRWXO)) == (S_IRGRP | S_IWGRP) &&
	       folder_shares(path, &group) && st->st_gid == group;
}

static int check_owner(int fd, struct stat *st, struct message *m)
{
	bool shared;

	if (fstat(fd, st) < 0)
		return fail_errno(m, "cannot stat");
	if (!S_ISREG(st->st_mode))
		return fail(m, -EPERM, "not a regular file");
	shared = is_shared(st, m->path);
	if (st->st_uid != geteuid() && !(shared && st->st_uid == 0))
		return fail(m, -EPERM, "owned by user %u, not %u", st->st_uid, geteuid());
	if ((st->st_mode & 077) && !shared)
		return fail(m, -EPERM,
			    "mode %04o gives other users access, must be 0600, or 0660 "
			    "with the group of a folder of mode 2750",
			    st->st_mode & 07777);
	return 0;
}

/* @param[out] memory  whether the file system of fd is in memory */
static int check_medium(int fd, unsigned int flags, bool *memory, struct message *m)
{
	struct statfs fs;
	uint32_t type;

	if (fstatfs(fd, &fs) < 0)
		return fail_errno(m, "cannot tell its file system");
	type = (uint32_t)fs.f_type;
	*memory = type == TMPFS_MAGIC || type == RAMFS_MAGIC || type == HUGETLBFS_MAGIC;
	if (*memory || (flags & CYGNET_OPEN_ON_DISK))
		return 0;
	return fail(m, -EMEDIUMTYPE,
		    "on a file system that is not in memory: use a tmpfs such as "
		    "/run, or allow it by sadb_on_disk in cygnetd.conf and on_disk in "
		    "kernel-cygnet.conf");
}

static int check_boot(struct header *h, bool memory, struct message *m)
{
	uint64_t id[2];
	int err = boot_read(id);

	if (err)
		return fail(m, err, "cannot read the id of this boot: %s", strerror(-err));
	return boot_same(h, id, memory) ? 0 : fail(m, -ESTALE, "of another boot");
}

/* @return -ESTALE: the file is of another boot, -EPROTO: of another version; db->fd is open */
static int open_existing(struct cygnet_db *db, unsigned int flags, struct message *m)
{
	struct fixed fixed;
	struct stat st;
	bool memory;
	int err;

	db->fd = open(m->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (db->fd < 0)
		return fail_errno(m, "cannot open");
	err = check_owner(db->fd, &st, m);
	if (!err)
		err = check_medium(db->fd, flags, &memory, m);
	if (err)
		return err;
	if (st.st_size < (off_t)sizeof(struct header))
		return fail(m, -EBADMSG, "damaged: only %lld bytes long", (long long)st.st_size);
	err = map(db, (size_t)st.st_size, m);
	if (err)
		return err;
	/* Check a copy and use the copy: another process could change the file after the check. */
	fixed = db->header->fixed;
	err = check_fixed(&fixed, db->size, m);
	if (!err)
		err = check_boot(db->header, memory, m);
	if (!err)
		err = check_mutable(db->header, &fixed, m);
	if (!err)
		attach(db, &fixed);
	return err;
}

static int make_folder(const char *path, struct message *m)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	if (mkdir(dirname(copy), 0700) < 0 && errno != EEXIST)
		return fail_errno(m, "cannot create its folder");
	return 0;
}

/* The folder's set-group-ID bit has given the file its group. */
static int share(int fd, struct message *m)
{
	struct stat st;
	gid_t group;

	if (!folder_shares(m->path, &group))
		return 0;
	if (fstat(fd, &st) < 0)
		return fail_errno(m, "cannot stat");
	if (st.st_gid == group && fchmod(fd, 0660) < 0)
		return fail_errno(m, "cannot give its group access");
	return 0;
}

static int init_file(int fd, const struct cygnet_geometry *geometry, struct message *m)
{
	struct fixed fixed = {
		.magic = LAYOUT_MAGIC,
		.abi = CYGNET_ABI_VERSION,
		.features = LAYOUT_FEATURES,
		.geometry = *geometry,
	};
	struct header *h;
	uint64_t boot[2];
	int err;

	err = boot_read(boot);
	if (err)
		return fail(m, err, "cannot read the id of this boot: %s", strerror(-err));
	layout_init(&fixed);
	if (getrandom(&fixed.seed, sizeof(fixed.seed), 0) != sizeof(fixed.seed))
		return fail_errno(m, "cannot get random bytes from the kernel");
	fixed.checksum = layout_checksum(&fixed);
	/* Allocate all pages now: if the file system were full later, an lcore would get SIGBUS. */
	err = posix_fallocate(fd, 0, (off_t)fixed.file_size);
	if (err)
		return fail(m, -err, "cannot allocate %llu MiB: %s",
			    (unsigned long long)fixed.file_size >> 20, strerror(err));
	h = mmap(NULL, sizeof(*h), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED)
		return fail_errno(m, "cannot map");
	h->fixed = fixed;
	h->epoch = 1;
	memcpy(h->boot, boot, sizeof(boot));
	err = lock_init(h);
	munmap(h, sizeof(*h));
	return err ? fail(m, err, "cannot initialise: %s", strerror(-err)) : 0;
}

/* The file is created under a temporary name and then linked to its path, so that
 * no process opens an incomplete file. The temporary name is random, because pids
 * are not unique across containers. If another process has created the file
 * meanwhile, that file is used. */
static int create(const struct cygnet_geometry *geometry, unsigned int flags, struct message *m)
{
	char temp[PATH_MAX];
	uint64_t name;
	bool memory;
	int fd, err;

	if (!geometry_valid(geometry))
		return fail(m, -EINVAL, "%u SAs and %u policies requested; each must be 1 to %u",
			    geometry->sas, geometry->policies, CYGNET_MAX_ENTRIES);
	err = make_folder(m->path, m);
	if (err)
		return err;
	if (getrandom(&name, sizeof(name), 0) != sizeof(name))
		return fail_errno(m, "cannot get random bytes from the kernel");
	if (snprintf(temp, sizeof(temp), "%s.%016llx", m->path, (unsigned long long)name) >=
	    (int)sizeof(temp))
		return fail(m, -ENAMETOOLONG, "path too long");
	fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail_errno(m, "cannot create");
	err = check_medium(fd, flags, &memory, m);
	if (!err)
		err = share(fd, m);
	if (!err)
		err = init_file(fd, geometry, m);
	if (!err && link(temp, m->path) < 0 && errno != EEXIST)
		err = fail_errno(m, "cannot create");
	unlink(temp);
	close(fd);
	return err;
}

/* Undo open_existing(). */
static void detach(struct cygnet_db *db)
{
	if (db->header)
		munmap(db->header, db->size);
	if (db->fd >= 0)
		close(db->fd); /* releases the roles */
	db->header = NULL;
	db->fd = -1;
}

/*
 * Remove a file of another boot or version that open_existing() has left open. The lock on all roles is held meanwhile,
 * so that one of several processes removes the file, and none that another one uses. A later process finds that the path
 * names another file, so it does not remove the new file.
 * @param what  why it is of no use
 * @return 0, also if another process has removed it
 */
static int remove_stale(struct cygnet_db *db, const char *what, struct message *m)
{
	int err = role_lock_all(db->fd, m->path);

	for (unsigned int ms = 0; err == -EBUSY && ms < REPLACE_MS; ms++) {
		usleep(1000);
		err = role_lock_all(db->fd, m->path);
	}
	if (err == -ESTALE)
		return 0;
	if (err == -EBUSY)
		return fail(m, err, "%s, but charon or cygnetd uses it: " RESTART_BOTH, what);
	if (err)
		return fail(m, err, "%s, cannot lock: %s", what, strerror(-err));
	return unlink(m->path) < 0 ? fail_errno(m, "of no use, cannot remove") : 0;
}

static void say_version(const struct fixed *fixed, char *what, size_t size)
{
	snprintf(what, size, "of another version (ABI %u, features %#llx; this one has %u, %#llx)",
		 fixed->abi, (unsigned long long)fixed->features, CYGNET_ABI_VERSION,
		 LAYOUT_FEATURES);
}

/* Why open_existing() has refused a file, in words for those who replace it. */
static void say_what(const struct cygnet_db *db, int err, char *what, size_t size)
{
	if (err == -ESTALE)
		snprintf(what, size, "of another boot");
	else
		say_version(&db->header->fixed, what, size);
}

static int open_or_create(struct cygnet_db *db, const struct cygnet_geometry *geometry,
			  unsigned int flags, struct message *m)
{
	int err = open_existing(db, flags, m);
	char what[128] = "";

	if ((err == -ESTALE || err == -EPROTO) && geometry) {
		say_what(db, err, what, sizeof(what));
		err = remove_stale(db, what, m);
		detach(db);
		if (!err)
			err = open_existing(db, flags, m);
	}
	if (err == -ENOENT && geometry) {
		err = create(geometry, flags, m);
		if (!err)
			err = open_existing(db, flags, m);
	}
	if (!err && m->text && m->size)
		*m->text = '\0'; /* clear the message of a failed attempt */
	if (!err && *what)
		fail(m, 0, "was %s: its SAs, policies and sequence numbers are gone", what);
	return err;
}

EXPORT int cygnet_db_open_flags(const char *path, const struct cygnet_geometry *geometry,
				unsigned int flags, struct cygnet_db **out, char *error,
				size_t size)
{
	struct message m = {error, size, path ? path : CYGNET_SADB_PATH};
	struct cygnet_db *db = calloc(1, sizeof(*db));
	int err;

	*out = NULL;
	if (!db || !(db->path = strdup(m.path))) {
		free(db);
		return fail(&m, -ENOMEM, "out of memory");
	}
	db->fd = -1;
	db->repair = repair;
	err = flags & ~(unsigned int)CYGNET_OPEN_ON_DISK
		      ? fail(&m, -EINVAL, "unknown flags %#x", flags)
		      : open_or_create(db, geometry, flags, &m);
	if (err) {
		cygnet_db_close(db);
		return err;
	}
	*out = db;
	return 0;
}

EXPORT int cygnet_db_open(const char *path, const struct cygnet_geometry *geometry,
			  struct cygnet_db **out, char *error, size_t size)
{
	return cygnet_db_open_flags(path, geometry, 0, out, error, size);
}

EXPORT void cygnet_db_close(struct cygnet_db *db)
{
	if (!db)
		return;
	detach(db);
	free(db->path);
	free(db);
}

/* @return -ENOENT if there is no file, -EPROTO if it is of another version */
static int check_version(int fd, char *what, size_t size)
{
	struct fixed fixed;

	if (fd < 0)
		return -errno;
	if (pread(fd, &fixed, sizeof(fixed), 0) != sizeof(fixed) || fixed.magic != LAYOUT_MAGIC)
		return 0;
	if (fixed.abi == CYGNET_ABI_VERSION && !(fixed.features & ~LAYOUT_FEATURES))
		return 0;
	say_version(&fixed, what, size);
	return -EPROTO;
}

EXPORT int cygnet_db_check_version(const char *path, char *error, size_t size)
{
	struct message m = {error, size, path ? path : CYGNET_SADB_PATH};
	int fd = open(m.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char what[128];
	int err = check_version(fd, what, sizeof(what));

	if (err == -EPROTO && role_held_any(fd))
		err = fail(&m, -EBUSY, "%s, but charon or cygnetd uses it: " RESTART_BOTH, what);
	else if (err == -EPROTO || err == -ENOENT)
		err = 0;
	else if (err)
		err = fail(&m, err, "cannot open: %s", strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

/* A file of another program is never removed, even if configured as the SAD/SPD. */
static int check_magic(int fd, struct message *m)
{
	uint64_t magic = 0;

	if (pread(fd, &magic, sizeof(magic), offsetof(struct header, fixed.magic)) < 0)
		return fail_errno(m, "cannot read");
	return magic == LAYOUT_MAGIC ? 0 : fail(m, -EBADMSG, "not a Cygnet SAD/SPD file");
}

static int remove_open(int fd, struct message *m)
{
	struct stat st;
	int err = check_owner(fd, &st, m);

	if (!err)
		err = check_magic(fd, m);
	if (err)
		return err;
	err = role_lock_all(fd, m->path);
	if (err)
		return fail(m, err,
			    err == -EBUSY ? "in use: stop charon and cygnetd first"
					  : "has just been replaced");
	return unlink(m->path) < 0 ? fail_errno(m, "cannot remove") : 0;
}

EXPORT int cygnet_db_remove(const char *path, char *error, size_t size)
{
	struct message m = {error, size, path ? path : CYGNET_SADB_PATH};
	int fd = open(m.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int err;

	if (fd < 0)
		return fail_errno(&m, "cannot open");
	err = remove_open(fd, &m);
	close(fd);
	return err;
}

EXPORT void cygnet_db_info(struct cygnet_db *db, struct cygnet_db_info *info)
{
	const struct header *h = db->header;

	*info = (struct cygnet_db_info){
		.path = db->path,
		.size = db->size,
		.geometry = db->geometry,
		.sas = load_relaxed(&h->sa_pool.used),
		.policies = load_relaxed(&h->policy_pool.used),
		.sas_waiting = load_relaxed(&h->sa_pool.retired),
		.policies_waiting = load_relaxed(&h->policy_pool.retired),
		.replay_blocks = db->replay_blocks,
		.replay_blocks_free = db->replay_blocks - load_relaxed(&h->replay_used),
		.recoveries = load_relaxed(&h->recoveries),
	};
	if (cygnet_role_held(db, CYGNET_ROLE_CHARON))
		info->charon_pid = load_relaxed(&h->role_pid[CYGNET_ROLE_CHARON]);
	if (cygnet_role_held(db, CYGNET_ROLE_DATAPLANE))
		info->dataplane_pid = load_relaxed(&h->role_pid[CYGNET_ROLE_DATAPLANE]);
}

EXPORT uint32_t cygnet_sas_used(struct cygnet_db *db)
{
	return load_relaxed(&db->header->sa_pool.used);
}

EXPORT unsigned int cygnet_db_reclaim(struct cygnet_db *db)
{
	struct slots sas = pool_sas(db), policies = pool_policies(db);
	unsigned int waiting;

	lock_take(db);
	pool_reclaim(db, &sas, sas.capacity);
	pool_reclaim(db, &policies, policies.capacity);
	waiting = sas.pool->retired + policies.pool->retired;
	lock_release(db);
	return waiting;
}

static void retire_all(struct cygnet_db *db, struct slots slots)
{
	uint32_t fresh = pool_fresh(slots.pool, slots.capacity);

	for (uint32_t i = 0; i < fresh; i++) {
		uint32_t state = *slot_state(&slots, i);

		if (state == CYGNET_SLOT_LIVE || state == CYGNET_SLOT_LARVAL)
			pool_retire(db, &slots, i, CYGNET_SCOPE_ALL);
	}
}

/* The caller holds the mutex. */
static void forget_charon(struct cygnet_db *db)
{
	sad_forget(db);
	retire_all(db, pool_sas(db));
	ike_forget(db->header);
	store_release(&db->header->event_head, load_acquire(&db->header->event_tail));
}

EXPORT int cygnet_db_flush(struct cygnet_db *db)
{
	lock_take(db);
	spd_forget(db);
	retire_all(db, pool_policies(db));
	forget_charon(db);
	lock_release(db);
	cygnet_db_reclaim(db);
	return 0;
}

EXPORT int cygnet_db_hold(struct cygnet_db *db)
{
	lock_take(db);
	hold_all(db);
	forget_charon(db);
	lock_release(db);
	cygnet_db_reclaim(db);
	return 0;
}
