/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The shared file: roles, replacement of a damaged file, and wiping at the end.
 */

#include "charon.h"
#include "../kernel_cygnet_ipsec.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <daemon.h>

static void test_second_charon(void **state)
{
	/* a process may open a file only once, so use another one */
	pid_t pid;
	int status;

	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
	{
		struct cygnet_db *db;

		_exit(cygnet_db_open_flags(dataplane_path, NULL, CYGNET_OPEN_ON_DISK, &db, NULL, 0) ? 1 :
			  cygnet_role_take(db, CYGNET_ROLE_CHARON) == -EBUSY ? 42 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
}

/* when charon ends, its SAs, policies and keys are removed */
static void test_destroy(void **state)
{
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	assert_int_not_equal(dataplane_ask(DATAPLANE_LAG, NULL).keys, 0);
	assert_true(charon_remove_ipsec());
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 0);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).policies, 0);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).keys, 0);
}

/** Start a process that damages the databases. With dataplane it keeps the role
 * until it is killed, otherwise it exits. */
static pid_t start_vandal(bool dataplane)
{
	struct cygnet_db *db;
	int ready[2];
	pid_t pid;
	char done;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
	{
		if (cygnet_db_open_flags(dataplane_path, NULL, CYGNET_OPEN_ON_DISK, &db, NULL, 0) ||
			(dataplane && cygnet_role_take(db, CYGNET_ROLE_DATAPLANE)))
		{
			_exit(1);
		}
		/* a live slot that is in no chain */
		cygnet_sa_at(db, 0)->state = CYGNET_SLOT_LIVE;
		if (write(ready[1], "", 1) != 1 || !dataplane)
		{
			_exit(0);
		}
		pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &done, 1), 1);
	close(ready[0]);
	return pid;
}

static void start_and_end(void)
{
	kernel_cygnet_ipsec_t *ipsec;

	ipsec = kernel_cygnet_ipsec_create();
	assert_non_null(ipsec);
	assert_non_null(strstr(log_text, "kernel-cygnet uses"));
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 0);
	ipsec->interface.destroy(&ipsec->interface);
}

/** A damaged file is not used, and not replaced while a dataplane has it */
static void test_damaged(void **state)
{
	pid_t vandal;

	vandal = start_vandal(TRUE);
	assert_null(kernel_cygnet_ipsec_create());
	assert_int_equal(log_lines, 2);
	assert_non_null(strstr(log_text, "in use"));
	kill(vandal, SIGKILL);
	waitpid(vandal, NULL, 0);
	start_and_end();
	assert_int_equal(log_lines, 5);

	/* a file that cannot be opened */
	waitpid(start_vandal(FALSE), NULL, 0);
	assert_int_equal(truncate(dataplane_path, 4096), 0);
	start_and_end();
	assert_int_equal(log_lines, 8);
}

static void test_invalid_size(void **state)
{
	lib->settings->set_int(lib->settings, "%s.plugins.kernel-cygnet.sas", -1,
						   lib->ns);
	assert_null(kernel_cygnet_ipsec_create());
	assert_non_null(strstr(log_text, "sas is -1"));
	lib->settings->set_int(lib->settings, "%s.plugins.kernel-cygnet.sas", 64,
						   lib->ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_second_charon),
		TEST(test_destroy),
		TEST(test_damaged),
		TEST(test_invalid_size),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}
