/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fixture.h"
#include "../kernel_cygnet_version.h"

#define DATA(str) chunk_create((u_char*)str, sizeof(str))

static void check_found(chunk_t data, const char *expected)
{
	chunk_t version;

	assert_true(kernel_cygnet_version_find(data, &version));
	assert_int_equal(version.len, strlen(expected));
	assert_memory_equal(version.ptr, expected, version.len);
}

static void check_none(chunk_t data)
{
	chunk_t version;

	assert_false(kernel_cygnet_version_find(data, &version));
}

static void test_charon(void **state)
{
	check_found(DATA("x\0Linux strongSwan %s\0"
					 "Starting IKE charon daemon (strongSwan 5.9.8, %s %s)"),
				"5.9.8");
	check_found(DATA("1.2.3\0(strongSwan 6.0.0beta6, %s"), "6.0.0beta6");
	check_found(DATA("(strongSwan 6.0.3rc1)"), "6.0.3rc1");
}

static void test_charon_systemd(void **state)
{
	check_found(DATA("daemon (strongSwan %s, %s)\0" "5.9.8\0more"), "5.9.8");
	check_found(DATA("127.0.0.1\0" "5.9.8"), "5.9.8");
}

static void test_none(void **state)
{
	check_none(DATA(""));
	check_none(chunk_empty);
	check_none(DATA("strongSwan "));
	check_none(DATA("strongSwan 5.9"));
	check_none(DATA("127.0.0.1\0" "2.3\0a.b.c\0" "1a.2.3\0" "v5.9.8"));
	/* not terminated: the version may be incomplete */
	check_none(chunk_create((u_char*)"5.9.8", 5));
}

/* set by the linker: first byte of this program, end of its constants */
extern u_char __executable_start[], edata[];

static void test_running_program(void **state)
{
	chunk_t version;

	/* finds a version of the tests above: the constants of this program are
	 * searched, not those of its libraries */
	assert_true(kernel_cygnet_version_of_daemon(&version));
	assert_true(version.ptr > __executable_start && version.ptr < edata);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_charon),
		cmocka_unit_test(test_charon_systemd),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_running_program),
	};
	int failed;

	library_init("", "test-version");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	library_deinit();
	return failed;
}
