/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creating, checking and opening the file. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lock.h"
#include "pool.h"
#include "sad.h"
#include "spd.h"

struct message {
	char *text;
	size_t size;
	const char *path;
};

__attribute__((format(printf, 3, 4)))
static int fail(struct message *m, int err, const char *format, ...)
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
	/* Keys stay out of core dumps. */
	if (madvise(base, size, MADV_DONTDUMP) < 0) {
		int err = fail_errno(m, "cannot keep the keys out of core dumps");

		munmap(base, size);
		return err;
	}
	db->header = base;
	db->size = size;
	return 0;
}

/* Called once the header is known to be good. */
static void attach(struct cygnet_db *db)
{
	struct header *h = db->header;
	uint8_t *base = (uint8_t *)h;

	db->geometry = h->geometry;
	db->sa_mask = h->sa_buckets - 1;
	db->policy_mask = h->policy_buckets - 1;
	db->replay_blocks = h->replay_blocks;
	db->seed = h->seed;
	db->sa_table = (uint32_t *)(void *)(base + h->sa_table);
	db->policy_table = (uint32_t *)(void *)(base + h->policy_table);
	db->sas = (struct cygnet_sa *)(void *)(base + h->sas);
	db->policies = (struct cygnet_policy *)(void *)(base + h->policies);
	db->replay = (struct replay_block *)(void *)(base + h->replay);
	db->events = (struct cygnet_event *)(void *)(base + h->events);
	db->wakes_seen = load_acquire(&h->event_wakes);
}

static int check_header(const struct header *h, size_t size, struct message *m)
{
	struct header expected = {.geometry = h->geometry};

	if (h->magic != LAYOUT_MAGIC)
		return fail(m, -EBADMSG, "not a Cygnet SAD/SPD file");
	if (h->abi != CYGNET_ABI_VERSION)
		return fail(m, -EPROTO, "has ABI version %u, this program needs %u: stop charon "
			    "and cygnetd, remove it, and start both again", h->abi,
			    CYGNET_ABI_VERSION);
	if (h->checksum != layout_checksum(h))
		return fail(m, -EBADMSG, "damaged: the checksum of its header is wrong");
	if (h->features)
		return fail(m, -EPROTO, "uses features unknown to this program: %#llx",
			    (unsigned long long)h->features);
	if (h->header_size != sizeof(*h) || !geometry_valid(&h->geometry))
		return fail(m, -EBADMSG, "damaged: impossible sizes in its header");
	layout_init(&expected);
	if (expected.file_size != h->file_size || expected.sas != h->sas ||
	    expected.sa_table != h->sa_table || expected.policy_table != h->policy_table ||
	    expected.policies != h->policies || expected.replay != h->replay ||
	    expected.events != h->events || expected.sa_buckets != h->sa_buckets ||
	    expected.policy_buckets != h->policy_buckets ||
	    expected.replay_blocks != h->replay_blocks)
		return fail(m, -EBADMSG, "damaged: its layout does not follow from its sizes");
	if (h->file_size != size)
		return fail(m, -EBADMSG, "damaged: %zu bytes long, should be %llu", size,
			    (unsigned long long)h->file_size);
	return 0;
}

static int check_owner(int fd, struct stat *st, struct message *m)
{
	if (fstat(fd, st) < 0)
		return fail_errno(m, "cannot stat");
	if (!S_ISREG(st->st_mode))
		return fail(m, -EPERM, "not a regular file");
	if (st->st_uid != geteuid())
		return fail(m, -EPERM, "owned by user %u, not %u", st->st_uid, geteuid());
	if (st->st_mode & 077)
		return fail(m, -EPERM, "mode %04o lets others in, must be 0600",
			    st->st_mode & 07777);
	return 0;
}

static int open_existing(struct cygnet_db *db, struct message *m)
{
	struct stat st;
	int err;

	db->fd = open(m->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (db->fd < 0)
		return fail_errno(m, "cannot open");
	err = check_owner(db->fd, &st, m);
	if (err)
		return err;
	if (st.st_size < (off_t)sizeof(struct header))
		return fail(m, -EBADMSG, "damaged: only %lld bytes long", (long long)st.st_size);
	err = map(db, (size_t)st.st_size, m);
	if (err)
		return err;
	err = check_header(db->header, db->size, m);
	if (!err)
		attach(db);
	return err;
}

static int make_folder(const char *path, struct message *m)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	if (mkdir(dirname(copy), 0700) < 0 && errno != EEXIST)
		return fail_errno(m, "cannot make its folder");
	return 0;
}

static int init_file(int fd, const struct cygnet_geometry *geometry, struct message *m)
{
	struct header *h;
	struct header sizes = {.geometry = *geometry};
	int err;

	layout_init(&sizes);
	if (ftruncate(fd, (off_t)sizes.file_size) < 0)
		return fail_errno(m, "cannot size");
	h = mmap(NULL, sizeof(*h), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED)
		return fail_errno(m, "cannot map");
	*h = (struct header){
		.magic = LAYOUT_MAGIC,
		.abi = CYGNET_ABI_VERSION,
		.header_size = sizeof(*h),
		.geometry = *geometry,
		.epoch = 1,
	};
	layout_init(h);
	err = getrandom(&h->seed, sizeof(h->seed), 0) == sizeof(h->seed) ? 0 : -EIO;
	if (!err)
		err = lock_init(h);
	h->checksum = layout_checksum(h);
	munmap(h, sizeof(*h));
	return err ? fail(m, err, "cannot initialise: %s", strerror(-err)) : 0;
}

/* The file appears under its name when it is whole: made under another name,
 * then linked. Losing the race to another creator is as good as winning it. */
static int create(const struct cygnet_geometry *geometry, struct message *m)
{
	char temp[PATH_MAX];
	int fd, err;

	if (!geometry_valid(geometry))
		return fail(m, -EINVAL, "%u SAs and %u policies asked for; 1 to %u can be had",
			    geometry->sas, geometry->policies, CYGNET_MAX_ENTRIES);
	err = make_folder(m->path, m);
	if (err)
		return err;
	if (snprintf(temp, sizeof(temp), "%s.%d", m->path, getpid()) >= (int)sizeof(temp))
		return fail(m, -ENAMETOOLONG, "path too long");
	unlink(temp); /* of a process of the same number that died half-way */
	fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail_errno(m, "cannot create");
	err = init_file(fd, geometry, m);
	if (!err && link(temp, m->path) < 0 && errno != EEXIST)
		err = fail_errno(m, "cannot create");
	unlink(temp);
	close(fd);
	return err;
}

EXPORT int cygnet_db_open(const char *path, const struct cygnet_geometry *geometry,
			  struct cygnet_db **out, char *error, size_t size)
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
	err = open_existing(db, &m);
	if (err == -ENOENT && geometry) {
		err = create(geometry, &m);
		if (!err)
			err = open_existing(db, &m);
	}
	if (err) {
		cygnet_db_close(db);
		return err;
	}
	*out = db;
	return 0;
}

EXPORT void cygnet_db_close(struct cygnet_db *db)
{
	if (!db)
		return;
	if (db->header)
		munmap(db->header, db->size);
	if (db->fd >= 0)
		close(db->fd); /* gives the roles back */
	free(db->path);
	free(db);
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
		.replay_blocks = db->replay_blocks,
		.replay_blocks_free = db->replay_blocks - load_relaxed(&h->replay_used),
		.recoveries = load_relaxed(&h->recoveries),
	};
	if (cygnet_role_held(db, CYGNET_ROLE_CHARON))
		info->charon_pid = load_relaxed(&h->role_pid[CYGNET_ROLE_CHARON]);
	if (cygnet_role_held(db, CYGNET_ROLE_DATAPLANE))
		info->dataplane_pid = load_relaxed(&h->role_pid[CYGNET_ROLE_DATAPLANE]);
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
	for (uint32_t i = 0; i < slots.pool->fresh; i++) {
		uint32_t state = *slot_state(&slots, i);

		if (state == CYGNET_SA_LIVE || state == CYGNET_SA_LARVAL)
			pool_retire(db, &slots, i);
	}
}

EXPORT int cygnet_db_flush(struct cygnet_db *db)
{
	lock_take(db);
	for (uint32_t b = 0; b <= db->policy_mask; b++)
		store_release(&db->policy_table[b], 0);
	for (unsigned int l = 0; l < LAYOUT_TUPLE_LISTS; l++)
		for (uint32_t t = 0; t < LAYOUT_TUPLES; t++)
			store_release(&db->header->tuples[l].tuple[t].policies, 0);
	for (uint32_t b = 0; b <= db->sa_mask; b++)
		store_release(&db->sa_table[b], 0);
	retire_all(db, pool_policies(db));
	retire_all(db, pool_sas(db));
	store_release(&db->header->event_head, load_acquire(&db->header->event_tail));
	lock_release(db);
	cygnet_db_reclaim(db);
	return 0;
}
