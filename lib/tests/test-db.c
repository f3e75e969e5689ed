/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file: what is created, what is refused, roles, and events. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"

static int reopen(struct fixture *f, char *error, size_t size)
{
	struct cygnet_db *db;
	int err = cygnet_db_open(f->path, NULL, &db, error, size);

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
	assert_true(info.size < 64 << 20);
	cygnet_db_close(db);
	unlink(f->path);
	db = fixture_open(f, 1 << 20, 1 << 20);
	assert_int_equal(cygnet_db_check(db, error, sizeof(error)), 0);
	cygnet_db_close(db);
}

static void impossible_geometry(void **state)
{
	struct fixture *f = *state;
	const struct cygnet_geometry none = {0, 1}, many = {1, CYGNET_MAX_ENTRIES + 1};
	struct cygnet_db *db;
	char error[256];

	unlink(f->path);
	assert_int_equal(cygnet_db_open(f->path, &none, &db, error, sizeof(error)), -EINVAL);
	assert_int_equal(cygnet_db_open(f->path, &many, &db, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, f->path));
	assert_int_equal(cygnet_db_open(f->path, NULL, &db, error, sizeof(error)), -ENOENT);
	assert_null(db);
	assert_int_equal(cygnet_db_open("./nowhere/at/all", &many, &db, NULL, 0), -EINVAL);
}

static void refuses_what_others_can_touch(void **state)
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

/* The header that is checked: everything that is written once. */
static void refuses_damage(void **state)
{
	struct fixture *f = *state;
	int fd = open(f->path, O_RDWR);
	char error[256];
	uint8_t byte, flipped;

	for (off_t at = 0; at < 120; at++) {
		for (int bit = 0; bit < 8; bit++) {
			int err;

			assert_int_equal(pread(fd, &byte, 1, at), 1);
			flipped = byte ^ (uint8_t)(1 << bit);
			assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
			*error = 0;
			err = reopen(f, error, sizeof(error));
			if (err != -EBADMSG && err != -EPROTO)
				fail_msg("byte %d, bit %d: %d", (int)at, bit, err);
			assert_non_null(strstr(error, f->path));
			assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		}
	}
	assert_int_equal(reopen(f, error, sizeof(error)), 0);
	close(fd);
}

static void refuses_another_abi(void **state)
{
	struct fixture *f = *state;
	int fd = open(f->path, O_RDWR);
	uint32_t abi = CYGNET_ABI_VERSION + 1;
	char error[256];

	assert_int_equal(pwrite(fd, &abi, sizeof(abi), 8), sizeof(abi));
	assert_int_equal(reopen(f, error, sizeof(error)), -EPROTO);
	assert_non_null(strstr(error, "ABI version 2"));
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
	/* The database that is still mapped must not be read again. */
	cygnet_db_close(f->db);
	f->db = NULL;
	for (off_t size = st.st_size - 1; size > 0; size = size * 2 / 3) {
		assert_int_equal(truncate(f->path, size), 0);
		assert_int_equal(reopen(f, error, sizeof(error)), -EBADMSG);
	}
	assert_int_equal(truncate(f->path, 0), 0);
	assert_int_equal(reopen(f, error, sizeof(error)), -EBADMSG);
}

/* Garbage in everything behind the header: readers neither crash nor hang. */
static void readers_survive_garbage(void **state)
{
	struct fixture *f = *state;
	struct cygnet_db_info info;
	int fd = open(f->path, O_RDWR);
	char error[256];

	cygnet_db_info(f->db, &info);
	srand(3);
	for (int round = 0; round < 20; round++) {
		/* Past the header with its locks; over tables, slots and ring. */
		for (int i = 0; i < 20000; i++) {
			uint32_t word = rand() % 2 ? (uint32_t)rand() % 1200 : (uint32_t)rand();
			off_t from = 112 * 1024;
			off_t at = from + rand() % ((off_t)info.size - from - 4);

			assert_int_equal(pwrite(fd, &word, sizeof(word), at & ~3l), sizeof(word));
		}
		for (int i = 0; i < 200; i++) {
			struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1, 2);
			struct cygnet_addr dst = addr4("192.0.2.1");
			struct cygnet_policy *policy;
			struct cygnet_sa *sa;
			struct cygnet_event event;

			flow.src.v4 = (uint32_t)rand();
			policy = cygnet_spd_lookup(f->db, CYGNET_OUT, &flow);
			if (policy)
				cygnet_policy_sa(f->db, policy);
			cygnet_sad_lookup(f->db, (uint32_t)rand(), IPPROTO_ESP, AF_INET, &dst);
			sa = cygnet_sa_at(f->db, (uint32_t)rand() % 1024);
			cygnet_replay_update(f->db, sa, (uint64_t)rand());
			cygnet_event_wait(f->db, &event, 0);
		}
		cygnet_db_check(f->db, error, sizeof(error));
	}
	close(fd);
	/* What is left of it passes no check; take it away before teardown looks. */
	cygnet_db_close(f->db);
	f->db = NULL;
}

static void roles_die_with_their_holder(void **state)
{
	struct fixture *f = *state;
	struct cygnet_db *db = fixture_open(f, 0, 0);
	struct cygnet_db_info info;
	int go[2], status;
	pid_t pid;
	char c;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		struct cygnet_db *mine = fixture_open(f, 0, 0);

		cygnet_role_take(mine, CYGNET_ROLE_DATAPLANE);
		cygnet_reader_online(mine, 0);
		if (write(go[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(go[0], &c, 1), 1);
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_DATAPLANE), -EBUSY);
	cygnet_db_info(db, &info);
	assert_int_equal(info.dataplane_pid, pid);
	assert_int_equal(info.charon_pid, 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(cygnet_role_held(db, CYGNET_ROLE_DATAPLANE));
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_DATAPLANE), 0);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), -EBUSY);
	cygnet_db_close(db);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), 0);
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

static void waiting_ends(void **state)
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(created_private_and_small),
		TEST(impossible_geometry),
		TEST(refuses_what_others_can_touch),
		TEST(refuses_damage),
		TEST(refuses_another_abi),
		TEST(refuses_truncated),
		TEST(readers_survive_garbage),
		TEST(roles_die_with_their_holder),
		TEST(events_in_order),
		TEST(waiting_ends),
	};

	return cmocka_run_group_tests_name("db", tests, NULL, NULL);
}
