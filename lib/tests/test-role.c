/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of roles and marks: who uses the file. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fixture.h"
#include "layout.h"

static void roles_end_with_their_holder(void **state)
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

/* Several may have made a mark; it ends with the last of them. */
static void marks(void **state)
{
	struct fixture *f = *state;
	struct cygnet_db *a = fixture_open(f, 0, 0), *b = fixture_open(f, 0, 0);

	assert_int_equal(cygnet_role_take(a, CYGNET_ROLE_DATAPLANE), 0);
	assert_false(cygnet_mark_made(f->db, CYGNET_MARK_SERVING));
	assert_int_equal(cygnet_mark_set(a, CYGNET_MARK_SERVING, true), 0);
	assert_int_equal(cygnet_mark_set(b, CYGNET_MARK_SERVING, true), 0);
	assert_true(cygnet_mark_made(f->db, CYGNET_MARK_SERVING));
	assert_false(cygnet_mark_made(f->db, CYGNET_MARK_CLOSED));
	cygnet_db_close(a);
	assert_false(cygnet_role_held(f->db, CYGNET_ROLE_DATAPLANE));
	assert_true(cygnet_mark_made(f->db, CYGNET_MARK_SERVING));
	assert_int_equal(cygnet_mark_set(b, CYGNET_MARK_SERVING, false), 0);
	assert_false(cygnet_mark_made(f->db, CYGNET_MARK_SERVING));
	assert_int_equal(cygnet_mark_set(b, CYGNET_MARKS, true), -EINVAL);
	assert_false(cygnet_mark_made(b, CYGNET_MARKS));
	cygnet_db_close(b);
}

static struct cygnet_db *onlooker; /* NULL: do not look */
static int named;		   /* charon_pid while the pages of the file are mapped */

/* Replaces libc's function in the library. */
EXPORT int madvise(void *addr, size_t length, int advice)
{
	struct cygnet_db_info info;

	if (onlooker && advice == MADV_POPULATE_WRITE) {
		cygnet_db_info(onlooker, &info);
		named = info.charon_pid;
	}
	return (int)syscall(SYS_madvise, addr, length, advice);
}

/* A holder that lets go of its role keeps the file open, and can take the role again. */
static void roles_can_be_released(void **state)
{
	struct fixture *f = *state;
	struct cygnet_db *db = fixture_open(f, 0, 0);

	cygnet_db_populate(db);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), 0);
	cygnet_role_release(db, CYGNET_ROLE_DATAPLANE); /* not its own */
	cygnet_role_release(f->db, CYGNET_ROLE_CHARON); /* not held */
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_DATAPLANE), -EBUSY);
	cygnet_role_release(f->db, CYGNET_ROLE_DATAPLANE);
	assert_false(cygnet_role_held(f->db, CYGNET_ROLE_DATAPLANE));
	assert_int_equal(cygnet_reader_online(f->db, 0), -EPERM);
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_DATAPLANE), 0);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), -EBUSY);
	cygnet_role_release(db, CYGNET_ROLE_DATAPLANE);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), 0);
	cygnet_db_close(db);
}

/* Mapping the pages takes long. The pid of the previous holder must be replaced before. */
static void role_pid_before_pages(void **state)
{
	struct fixture *f = *state;

	onlooker = fixture_open(f, 0, 0);
	onlooker->header->role_pid[CYGNET_ROLE_CHARON] = getpid() + 1;
	named = 0;
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_CHARON), 0);
	assert_int_equal(named, getpid());
	cygnet_db_close(onlooker);
	onlooker = NULL;
}

/* Charon and cygnetd must not use two different files of the same path. */
static void no_role_in_a_removed_file(void **state)
{
	struct fixture *f = *state;
	struct cygnet_db *db;

	unlink(f->path);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), -ESTALE);
	db = fixture_open(f, 64, 64);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_CHARON), -ESTALE);
	assert_false(cygnet_role_held(f->db, CYGNET_ROLE_CHARON));
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_CHARON), 0);
	cygnet_db_close(db);
}

static void removes_only_unused_files(void **state)
{
	struct fixture *f = *state;
	uint64_t other = 1;
	char error[256];
	int fd;

	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), 0);
	assert_int_equal(cygnet_db_remove(f->path, error, sizeof(error)), -EBUSY);
	assert_non_null(strstr(error, "in use"));
	cygnet_db_close(f->db);
	f->db = NULL;
	fd = open(f->path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(pwrite(fd, &other, 1, 0), 1);
	assert_int_equal(cygnet_db_remove(f->path, error, sizeof(error)), -EBADMSG);
	assert_int_equal(pwrite(fd, "C", 1, 0), 1);
	assert_int_equal(cygnet_db_remove(f->path, error, sizeof(error)), 0);
	assert_int_equal(cygnet_db_remove(f->path, error, sizeof(error)), -ENOENT);
	close(fd);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(roles_end_with_their_holder), TEST(marks),
		TEST(roles_can_be_released),	   TEST(role_pid_before_pages),
		TEST(no_role_in_a_removed_file),   TEST(removes_only_unused_files),
	};

	return cmocka_run_group_tests_name("role", tests, NULL, NULL);
}
