/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of files that are on a disk, or of another boot or version. */
#include <dirent.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "fixture.h"
#include "layout.h"

static const struct cygnet_geometry geometry = {64, 64};
static unsigned long medium; /* type of all file systems */

/* Replaces libc's function in the library. */
EXPORT int fstatfs(int fd, struct statfs *fs)
{
	int rc = (int)syscall(SYS_fstatfs, fd, fs);

	fs->f_type = (__typeof__(fs->f_type))medium;
	return rc;
}

static int setup(void **state)
{
	medium = TMPFS_MAGIC;
	return fixture_setup(state);
}

static int try_open(struct fixture *f, const struct cygnet_geometry *create, unsigned int flags,
		    char error[512])
{
	cygnet_db_close(f->db);
	return cygnet_db_open_flags(f->path, create, flags, &f->db, error, 512);
}

static unsigned int sas(struct fixture *f)
{
	struct cygnet_db_info info;

	cygnet_db_info(f->db, &info);
	return info.sas;
}

static void add_sa(struct fixture *f)
{
	struct cygnet_sa_params p = sa_params(0x1000, true);

	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
}

static int files(const struct fixture *f)
{
	struct dirent *entry;
	DIR *folder = opendir(f->folder);
	int n = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		n += entry->d_name[0] != '.';
	closedir(folder);
	return n;
}

static void disk_only_if_asked(void **state)
{
	static const unsigned long memory[] = {TMPFS_MAGIC, RAMFS_MAGIC, HUGETLBFS_MAGIC};
	struct fixture *f = *state;
	char error[512];

	add_sa(f);
	medium = EXT4_SUPER_MAGIC;
	assert_int_equal(try_open(f, &geometry, 0, error), -EMEDIUMTYPE);
	assert_non_null(strstr(error, f->path));
	assert_non_null(strstr(error, "sadb_on_disk"));
	assert_int_equal(try_open(f, &geometry, CYGNET_OPEN_ON_DISK, error), 0);
	assert_string_equal(error, "");
	assert_int_equal(sas(f), 1);
	for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++) {
		medium = memory[i];
		assert_int_equal(try_open(f, &geometry, 0, error), 0);
	}
	/* Nor is a file created there, or left. */
	unlink(f->path);
	medium = EXT4_SUPER_MAGIC;
	assert_int_equal(try_open(f, &geometry, 0, error), -EMEDIUMTYPE);
	assert_int_equal(files(f), 0);
	assert_int_equal(try_open(f, &geometry, CYGNET_OPEN_ON_DISK, error), 0);
	assert_string_equal(error, "");
}

/* A writer of the other boot died with the mutex: nobody will release it. */
static void another_boot_is_replaced(void **state)
{
	struct fixture *f = *state;
	char error[512];

	add_sa(f);
	f->db->header->boot[1]++;
	f->db->header->mutex.__data.__lock = 1;
	f->db->header->mutex.__data.__owner = 1;
	assert_int_equal(try_open(f, NULL, 0, error), -ESTALE);
	assert_int_equal(files(f), 1);
	assert_int_equal(try_open(f, &geometry, 0, error), 0);
	assert_non_null(strstr(error, "another boot"));
	assert_int_equal(sas(f), 0);
	assert_int_equal(files(f), 1);
	add_sa(f);
	assert_int_equal(try_open(f, &geometry, 0, error), 0);
	assert_string_equal(error, "");
	assert_int_equal(sas(f), 1);
}

/* A library without boot ids has created the file. */
static void unknown_boot(void **state)
{
	struct fixture *f = *state;
	uint64_t id[2] = {f->db->header->boot[0], f->db->header->boot[1]};
	char error[512];

	assert_true(id[0] && id[1]);
	add_sa(f);
	f->db->header->boot[0] = f->db->header->boot[1] = 0;
	assert_int_equal(try_open(f, &geometry, 0, error), 0);
	assert_memory_equal(f->db->header->boot, id, sizeof(id));
	f->db->header->boot[0] = 0; /* another process is about to store it */
	assert_int_equal(try_open(f, &geometry, 0, error), 0);
	assert_memory_equal(f->db->header->boot, id, sizeof(id));
	assert_int_equal(sas(f), 1);

	medium = EXT4_SUPER_MAGIC;
	f->db->header->boot[0] = f->db->header->boot[1] = 0;
	assert_int_equal(try_open(f, &geometry, CYGNET_OPEN_ON_DISK, error), 0);
	assert_non_null(strstr(error, "another boot"));
	assert_int_equal(sas(f), 0);
	assert_memory_equal(f->db->header->boot, id, sizeof(id));
}

/* A file that a process still serves, one of a library without boot ids say, is not removed. */
static void in_use_is_refused(void **state)
{
	struct fixture *f = *state;
	struct cygnet_db *served = fixture_open(f, 0, 0);
	char error[512];

	assert_int_equal(cygnet_role_take(served, CYGNET_ROLE_DATAPLANE), 0);
	served->header->boot[0]++;
	assert_int_equal(try_open(f, &geometry, 0, error), -EBUSY);
	assert_non_null(strstr(error, "uses it"));
	cygnet_db_close(served);
	assert_int_equal(try_open(f, &geometry, 0, error), 0);
}

/* Ten processes that find the file at once have the same new one. */
static void replaced_once(void **state)
{
	struct fixture *f = *state;
	int go[2], status;
	char c;

	f->db->header->boot[0]++;
	assert_int_equal(pipe(go), 0);
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();
		struct stat ours, named;
		struct cygnet_db *db;

		if (pid)
			continue;
		close(go[1]);
		if (read(go[0], &c, 1) || cygnet_db_open(f->path, &geometry, &db, NULL, 0))
			_exit(1);
		_exit(fstat(db->fd, &ours) || stat(f->path, &named) || ours.st_ino != named.st_ino);
	}
	close(go[0]);
	close(go[1]); /* all begin */
	for (int i = 0; i < 10; i++) {
		assert_true(wait(&status) > 0);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	assert_int_equal(files(f), 1);
}

/* The words by which a library knows that a file is not for it. */
static void make_other(struct header *h, int how)
{
	switch (how) {
	case 0:
		h->fixed.abi--;
		break;
	case 1:
		h->fixed.abi++;
		break;
	default:
		h->fixed.features |= 1ull << 63;
		h->fixed.checksum = layout_checksum(&h->fixed);
	}
	/* The rest has another layout. */
	memset(&h->mutex, 0xa5, sizeof(*h) - offsetof(struct header, mutex));
}

/* After an upgrade or a rollback. */
static void another_version_is_replaced(void **state)
{
	struct fixture *f = *state;
	char error[512];

	for (int how = 0; how < 3; how++) {
		add_sa(f);
		make_other(f->db->header, how);
		assert_int_equal(cygnet_db_check_version(f->path, error, sizeof(error)), 0);
		assert_int_equal(try_open(f, NULL, 0, error), -EPROTO);
		assert_int_equal(files(f), 1);
		assert_int_equal(try_open(f, &geometry, 0, error), 0);
		assert_non_null(strstr(error, "of another version"));
		assert_int_equal(sas(f), 0);
		assert_int_equal(files(f), 1);
	}
}

/* The other process, which was started before the upgrade, keeps its file. */
static void version_in_use_is_refused(void **state)
{
	struct fixture *f = *state;
	char error[512];

	for (int how = 0; how < 3; how++) {
		for (enum cygnet_role role = 0; role < CYGNET_ROLES; role++) {
			struct cygnet_db *served = fixture_open(f, 64, 64);

			assert_int_equal(cygnet_role_take(served, role), 0);
			assert_int_equal(cygnet_db_check_version(f->path, error, sizeof(error)), 0);
			make_other(served->header, how);
			assert_int_equal(cygnet_db_check_version(f->path, error, sizeof(error)),
					 -EBUSY);
			assert_non_null(strstr(error, "restart cygnetd"));
			assert_int_equal(try_open(f, &geometry, 0, error), -EBUSY);
			assert_non_null(strstr(error, "restart cygnetd"));
			cygnet_db_close(served);
			assert_int_equal(try_open(f, &geometry, 0, error), 0);
		}
	}
	cygnet_db_close(f->db);
	f->db = NULL;
	unlink(f->path);
	assert_int_equal(cygnet_db_check_version(f->path, error, sizeof(error)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(disk_only_if_asked, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(another_boot_is_replaced, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(unknown_boot, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(in_use_is_refused, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(replaced_once, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(another_version_is_replaced, setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(version_in_use_is_refused, setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
