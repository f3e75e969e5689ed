/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the file: creation, files that are refused, and events. */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../../testing/slowdown.h"
#include "fixture.h"
#include "layout.h"

static int reopen(struct fixture *f, char *error, size_t size)
{
	struct cygnet_db *db;
	int err = cygnet_db_open_flags(f->path, NULL, CYGNET_OPEN_ON_DISK, &db, error, size);

	cygnet_db_close(db);
	return err;
}

static void created_private_and_small(void **state)
{
	struct fixture *f = *state;
	struct cygnet_db_info info;
	struct cygnet_db *db;
	struct stat st;
	char error[256];

	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	unlink(f->path);
	db = fixture_open(f, CYGNET_DEFAULT_SAS, CYGNET_DEFAULT_POLICIES);
	cygnet_db_info(db, &info);
	assert_true(info.size < 66 << 20);
	cygnet_db_close(db);
	unlink(f->path);
	db = fixture_open(f, 1 << 20, 1 << 20);
	assert_int_equal(cygnet_db_check(db, error, sizeof(error)), 0);
	cygnet_db_close(db);
}

static int open_error(const char *path, const struct cygnet_geometry *geometry, char error[256])
{
	struct cygnet_db *db;

	return cygnet_db_open_flags(path, geometry, CYGNET_OPEN_ON_DISK, &db, error, 256);
}

static void invalid_geometry(void **state)
{
	struct fixture *f = *state;
	const struct cygnet_geometry none = {0, 1}, many = {1, CYGNET_MAX_ENTRIES + 1};
	struct cygnet_db *db;
	char error[256];

	unlink(f->path);
	assert_int_equal(open_error(f->path, &none, error), -EINVAL);
	assert_int_equal(open_error(f->path, &many, error), -EINVAL);
	assert_non_null(strstr(error, f->path));
	assert_int_equal(open_error(f->path, NULL, error), -ENOENT);
	db = f->db;
	assert_int_equal(cygnet_db_open("./nowhere/at/all", &many, &db, NULL, 0), -EINVAL);
	assert_null(db);
	assert_int_equal(cygnet_db_open_flags(f->path, &many, 2, &db, error, sizeof(error)),
			 -EINVAL);
	assert_non_null(strstr(error, "flags"));
}

static void refuses_wrong_mode_and_links(void **state)
{
	struct fixture *f = *state;
	char error[256], link[160];

	assert_int_equal(chmod(f->path, 0640), 0);
	assert_int_equal(reopen(f, error, sizeof(error)), -EPERM);
	assert_non_null(strstr(error, "0600"));
	assert_int_equal(chmod(f->path, 0600), 0);
	assert_int_equal(reopen(f, error, sizeof(error)), 0);
	snprintf(link, sizeof(link), "%s.real", f->path);
	assert_int_equal(rename(f->path, link), 0);
	assert_int_equal(symlink("sadb.real", f->path), 0);
	assert_int_equal(reopen(f, error, sizeof(error)), -ELOOP);
	unlink(f->path);
	assert_int_equal(rename(link, f->path), 0);
}

static int mode_refused(struct fixture *f, mode_t folder, mode_t file)
{
	char error[256];
	int err;

	assert_int_equal(chmod(f->folder, folder), 0);
	assert_int_equal(chmod(f->path, file), 0);
	err = reopen(f, error, sizeof(error));
	assert_int_equal(chmod(f->folder, 02750), 0);
	assert_int_equal(chmod(f->path, 0660), 0);
	return err;
}

/* A set-group-ID folder shares the file with its group, and with nobody else. */
static void shared_with_group_of_folder(void **state)
{
	struct fixture *f = *state;
	struct stat folder, st;

	unlink(f->path);
	assert_int_equal(chmod(f->folder, 02750), 0);
	cygnet_db_close(fixture_open(f, 1024, 1024));
	assert_int_equal(stat(f->folder, &folder), 0);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	assert_int_equal(st.st_gid, folder.st_gid);
	assert_int_equal(mode_refused(f, 02750, 0660), 0);
	assert_int_equal(mode_refused(f, 02750, 0600), 0);
	assert_int_equal(mode_refused(f, 02750, 0640), -EPERM);
	assert_int_equal(mode_refused(f, 02750, 0664), -EPERM);
	assert_int_equal(mode_refused(f, 02750, 0661), -EPERM);
	assert_int_equal(mode_refused(f, 02751, 0660), -EPERM);
	assert_int_equal(mode_refused(f, 02754, 0660), -EPERM);
	assert_int_equal(mode_refused(f, 00750, 0660), -EPERM);
}

/* @return what opening the file gives to a user who is in the group, in a process of its own */
static int reopen_as(struct fixture *f, uid_t user, gid_t group)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct cygnet_db *db;

		/* The user may have no access to the folders above. */
		if (chdir(f->folder) || setgroups(0, NULL) || setgid(group) || setuid(user))
			_exit(255);
		_exit(-cygnet_db_open_flags("sadb", NULL, CYGNET_OPEN_ON_DISK, &db, NULL, 0));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

/* The file of root in a folder of another group. */
static void other_users_need_the_group(void **state)
{
	enum { GROUP = 60001, USER = 60002, OTHER = 60003 };
	struct fixture *f = *state;
	struct stat st;
	char error[256];

	if (geteuid() != 0)
		skip();
	unlink(f->path);
	assert_int_equal(chown(f->folder, 0, GROUP), 0);
	assert_int_equal(chmod(f->folder, 02750), 0);
	cygnet_db_close(fixture_open(f, 1024, 1024));
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(st.st_gid, GROUP);
	assert_int_equal(reopen_as(f, USER, GROUP), 0);
	assert_int_equal(reopen_as(f, USER, OTHER), -EACCES);
	/* Of another group than its folder. */
	assert_int_equal(chown(f->path, 0, OTHER), 0);
	assert_int_equal(reopen(f, error, sizeof(error)), -EPERM);
	/* Made by another user of the group. */
	assert_int_equal(chown(f->path, USER, GROUP), 0);
	assert_int_equal(reopen(f, error, sizeof(error)), -EPERM);
	/* In a folder whose owner may put another file there. */
	assert_int_equal(chown(f->path, 0, GROUP), 0);
	assert_int_equal(reopen(f, error, sizeof(error)), 0);
	assert_int_equal(chown(f->folder, USER, GROUP), 0);
	assert_int_equal(chmod(f->folder, 02750), 0);
	assert_int_equal(reopen(f, error, sizeof(error)), -EPERM);
}

/* Flip each bit of struct fixed, which is covered by the checksum. */
static void refuses_damaged_header(void **state)
{
	struct fixture *f = *state;
	int fd = open(f->path, O_RDWR);
	char error[256];
	uint8_t byte, flipped;

	for (off_t offset = 0; offset < (off_t)sizeof(struct fixed); offset++) {
		for (int bit = 0; bit < 8; bit++) {
			int err;

			assert_int_equal(pread(fd, &byte, 1, offset), 1);
			flipped = byte ^ (uint8_t)(1 << bit);
			assert_int_equal(pwrite(fd, &flipped, 1, offset), 1);
			*error = 0;
			err = reopen(f, error, sizeof(error));
			if (err != -EBADMSG && err != -EPROTO)
				fail_msg("byte %d, bit %d: %d", (int)offset, bit, err);
			assert_non_null(strstr(error, f->path));
			assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
		}
	}
	assert_int_equal(reopen(f, error, sizeof(error)), 0);
	close(fd);
}

/* A zeroed mutex would lock, but not between processes. */
static void refuses_unusable_mutex(void **state)
{
	struct fixture *f = *state;
	pthread_mutex_t *mutex = &f->db->header->mutex, good = *mutex;
	char error[256];

	memset(mutex, 0, sizeof(*mutex));
	assert_int_equal(reopen(f, error, sizeof(error)), -EBADMSG);
	assert_non_null(strstr(error, "lock"));
	*mutex = good;
	mutex->__data.__kind ^= 0x40;
	assert_int_equal(reopen(f, error, sizeof(error)), -EBADMSG);
	*mutex = good;
	mutex->__data.__owner = INT_MAX - 1; /* ENOTRECOVERABLE */
	assert_int_equal(reopen(f, error, sizeof(error)), -EBADMSG);
	*mutex = good;
	assert_int_equal(reopen(f, error, sizeof(error)), 0);
}

static void refuses_counters_out_of_range(void **state)
{
	struct fixture *f = *state;
	uint32_t *word = (uint32_t *)&f->db->header->sa_pool, good;
	uint32_t *end = (uint32_t *)(&f->db->header->policy_pool + 1);
	char error[256];

	for (; word < end; word++) {
		good = *word;
		*word = 1025;
		assert_int_equal(reopen(f, error, sizeof(error)), -EBADMSG);
		assert_non_null(strstr(error, "counters"));
		*word = good;
	}
	f->db->header->replay_used = UINT32_MAX;
	assert_int_equal(reopen(f, error, sizeof(error)), -EBADMSG);
	f->db->header->replay_used = 0;
	assert_int_equal(reopen(f, error, sizeof(error)), 0);
}

/* A process that cannot lock the mutex of an open file prints the reason before it aborts. */
static void abort_prints_reason(void **state)
{
	struct fixture *f = *state;
	char text[512] = "";
	int out[2], status;
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (!pid) {
		struct cygnet_db *db = fixture_open(f, 0, 0);

		dup2(out[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		db->header->mutex.__data.__owner = INT_MAX - 1;
		cygnet_db_reclaim(db);
		_exit(0);
	}
	close(out[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_true(read(out[0], text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, f->path));
	close(out[0]);
	f->db->header->mutex.__data.__owner = 0;
}

static void refuses_another_abi(void **state)
{
	struct fixture *f = *state;
	int fd = open(f->path, O_RDWR);
	uint32_t abi = CYGNET_ABI_VERSION + 1;
	char error[256], version[32];

	assert_int_equal(pwrite(fd, &abi, sizeof(abi), 8), sizeof(abi));
	assert_int_equal(reopen(f, error, sizeof(error)), -EPROTO);
	snprintf(version, sizeof(version), "ABI version %u", abi);
	assert_non_null(strstr(error, version));
	abi = CYGNET_ABI_VERSION;
	assert_int_equal(pwrite(fd, &abi, sizeof(abi), 8), sizeof(abi));
	close(fd);
}

static void refuses_truncated(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	char error[256];

	assert_int_equal(stat(f->path, &st), 0);
	/* Close the mapping: reading it beyond the end of the file would be SIGBUS. */
	cygnet_db_close(f->db);
	f->db = NULL;
	for (off_t size = st.st_size - 1; size > 0; size = size * 2 / 3) {
		assert_int_equal(truncate(f->path, size), 0);
		assert_int_equal(reopen(f, error, sizeof(error)), -EBADMSG);
	}
	assert_int_equal(truncate(f->path, 0), 0);
	assert_int_equal(reopen(f, error, sizeof(error)), -EBADMSG);
}

/* Overwrite all but struct fixed and the mutex: lists, counters, tables, slots, event ring. */
static void scribble(struct cygnet_db *db)
{
	size_t from = offsetof(struct header, order), words = (db->size - from) / 4;
	uint32_t *word = (uint32_t *)(void *)((uint8_t *)db->header + from);
	size_t header_words = (sizeof(struct header) - from) / 4;

	for (int i = 0; i < 20000; i++) {
		/* Half of the values are plausible indices; a quarter goes to the header. */
		uint32_t value = rand() % 2 ? (uint32_t)rand() % 1200 : (uint32_t)rand() * 2;
		size_t index = (size_t)rand() % (rand() % 4 ? words : header_words);

		word[index] = value;
	}
	for (int i = 0; i < 10; i++)
		word[rand() % 40] = (uint32_t)rand() * 2 + 1; /* the pools' counters */
}

static void read_garbage(struct cygnet_db *db)
{
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1, 2);
	struct cygnet_addr dst = addr4("192.0.2.1");
	struct cygnet_policy *policy, policy_copy;
	struct cygnet_sa *sa, copy;
	struct cygnet_event event = {.type = CYGNET_EVENT_ACQUIRE};
	uint64_t first;
	int wants;

	flow.src.v4 = (uint32_t)rand();
	policy = cygnet_spd_lookup(db, CYGNET_OUT, &flow);
	if (policy)
		cygnet_policy_sa(db, policy);
	policy = &db->policies[(uint32_t)rand() % db->geometry.policies];
	policy->per_cpu = (uint16_t)(policy->generation | CYGNET_POLICY_PER_CPU);
	cygnet_policy_sa_for(db, policy, 1, 3, &wants);
	cygnet_spd_uses_ports(db, CYGNET_IN, AF_INET6);
	cygnet_sad_lookup(db, (uint32_t)rand(), IPPROTO_ESP, AF_INET, &dst);
	sa = cygnet_sa_at(db, (uint32_t)rand() % 1024);
	cygnet_replay_seq(sa, (uint32_t)rand());
	cygnet_replay_update(db, sa, (uint64_t)rand() << (rand() % 32));
	cygnet_sa_reserve_seq(sa, 32, &first);
	cygnet_sa_snapshot(db, (uint32_t)rand() % 1024, &copy);
	cygnet_policy_snapshot(db, (uint32_t)rand() % 1024, &policy_copy);
	cygnet_ike_port(db, AF_INET, (uint16_t)rand());
	cygnet_ike_noted(db, AF_INET, &event.id.dst, (uint32_t)rand());
	cygnet_event_post(db, &event);
	cygnet_event_wait(db, &event, 0);
}

static void write_garbage(struct cygnet_db *db)
{
	struct cygnet_sa_params p = sa_params(0x1000 + (uint32_t)rand() % 64, rand() % 2);
	struct cygnet_policy_params policy = {
		.sel = selector("10.0.0.0", 8u + (unsigned int)rand() % 8, "10.0.0.0", 8),
		.proto = IPPROTO_ESP,
		.dir = (uint8_t)(rand() % CYGNET_DIRS),
	};
	struct cygnet_sa_usage usage;
	uint32_t spi;
	uint64_t used;

	p.replay_window = rand() % 2 ? 4096 : 64;
	cygnet_sa_add(db, &p);
	cygnet_spi_reserve(db, IPPROTO_ESP, AF_INET, &p.id.dst, 0, 0, &spi);
	cygnet_policy_add(db, &policy);
	cygnet_sa_query(db, &p.id, &usage);
	cygnet_policy_query(db, CYGNET_OUT, &policy.sel, &used);
	cygnet_sa_update(db, &p.id, &p.path, 0);
	cygnet_ike_open(db, AF_INET6, (uint16_t)rand(), rand() % 2);
	cygnet_ike_note(db, AF_INET6, &p.id.dst, (uint32_t)rand());
	if (rand() % 2)
		cygnet_sa_delete(db, &p.id);
	if (rand() % 2)
		cygnet_policy_delete(db, &policy);
	cygnet_db_reclaim(db);
}

/* A file overwritten by another process causes no crash and no endless loop. */
static void survives_garbage(void **state)
{
	struct fixture *f = *state;
	struct cygnet_db_info info;
	char error[256];

	srand(3);
	alarm(120 * slowdown());
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 50 && round % 4 == 0; i++)
			write_garbage(f->db);
		scribble(f->db);
		for (int i = 0; i < 50; i++) {
			read_garbage(f->db);
			write_garbage(f->db);
		}
		cygnet_db_info(f->db, &info);
		cygnet_db_check(f->db, error, sizeof(error));
		if (round % 2) /* the next call repairs */
			f->db->header->mutex.__data.__lock = FUTEX_OWNER_DIED;
		if (round % 3 == 0)
			cygnet_db_flush(f->db);
	}
	alarm(0);
	/* The file fails cygnet_db_check(): close it so that teardown does not check it. */
	cygnet_db_close(f->db);
	f->db = NULL;
}

/* Ten processes that create the file at once create one, and leave no temporary file. */
static void created_once(void **state)
{
	struct fixture *f = *state;
	struct dirent *entry;
	int status, files = 0;
	DIR *folder;

	unlink(f->path);
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (!pid) {
			const struct cygnet_geometry geometry = {64, 64};
			struct cygnet_db *db;

			if (cygnet_db_open_flags(f->path, &geometry, CYGNET_OPEN_ON_DISK, &db, NULL,
						 0))
				_exit(1);
			_exit(cygnet_db_check(db, NULL, 0) ? 2 : 0);
		}
	}
	for (int i = 0; i < 10; i++) {
		assert_true(wait(&status) > 0);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	folder = opendir(f->folder);
	assert_non_null(folder);
	while ((entry = readdir(folder)))
		files += entry->d_name[0] != '.';
	closedir(folder);
	assert_int_equal(files, 1);
}

/* Keys must not be visible to the scripts that charon starts. */
static void not_mapped_in_forked_children(void **state)
{
	struct fixture *f = *state;
	int status;
	pid_t pid;

#ifdef __SANITIZE_THREAD__
	skip(); /* ThreadSanitizer maps its own memory there */
#endif
	pid = fork();
	if (!pid) {
		unsigned char in_core;

		/* ENOMEM: nothing is mapped there. */
		_exit(mincore(f->db->header, 1, &in_core) < 0 && errno == ENOMEM ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void events_in_order(void **state)
{
	struct fixture *f = *state;
	struct cygnet_event event = {.type = CYGNET_EVENT_ACQUIRE};
	uint32_t posted = 0, taken = 0;

	for (int round = 0; round < 5; round++) {
		for (;; posted++) {
			event.reqid = posted;
			if (cygnet_event_post(f->db, &event))
				break;
		}
		assert_int_equal(posted - taken, 4096);
		for (; taken < posted - 100; taken++) {
			assert_int_equal(cygnet_event_wait(f->db, &event, 0), 0);
			assert_int_equal(event.reqid, taken);
		}
	}
	cygnet_db_flush(f->db);
	assert_int_equal(cygnet_event_wait(f->db, &event, 1), -ETIMEDOUT);
}

static void *post_later(void *db)
{
	struct cygnet_event event = {.type = CYGNET_EVENT_EXPIRE, .reqid = 42};

	usleep(50000);
	cygnet_event_post(db, &event);
	usleep(50000);
	cygnet_event_wake(db);
	return NULL;
}

static void wait_returns(void **state)
{
	struct fixture *f = *state;
	struct cygnet_event event;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, post_later, f->db), 0);
	assert_int_equal(cygnet_event_wait(f->db, &event, -1), 0);
	assert_int_equal(event.reqid, 42);
	assert_int_equal(cygnet_event_wait(f->db, &event, -1), -EINTR);
	assert_int_equal(cygnet_event_wait(f->db, &event, 1), -ETIMEDOUT);
	pthread_join(thread, NULL);
}

static unsigned long locked_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[256];

	assert_non_null(status);
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "VmLck: %lu kB", &kib) == 1)
			break;
	fclose(status);
	return kib;
}

static void keys_can_be_locked(void **state)
{
	struct fixture *f = *state;
	unsigned long before = locked_kib();
	struct cygnet_db_info info;
	int err = cygnet_db_lock(f->db);

	if (err == -EPERM || err == -ENOMEM)
		skip(); /* this user may not */
	assert_int_equal(err, 0);
	cygnet_db_info(f->db, &info);
	assert_true((locked_kib() - before) * 1024 >= info.geometry.sas * sizeof(struct cygnet_sa));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(created_private_and_small),
		TEST(invalid_geometry),
		TEST(refuses_wrong_mode_and_links),
		TEST(shared_with_group_of_folder),
		TEST(other_users_need_the_group),
		TEST(refuses_damaged_header),
		TEST(refuses_unusable_mutex),
		TEST(refuses_counters_out_of_range),
		TEST(abort_prints_reason),
		TEST(refuses_another_abi),
		TEST(refuses_truncated),
		TEST(survives_garbage),
		TEST(created_once),
		TEST(not_mapped_in_forked_children),
		TEST(events_in_order),
		TEST(wait_returns),
		TEST(keys_can_be_locked),
	};

	return cmocka_run_group_tests_name("db", tests, NULL, NULL);
}
