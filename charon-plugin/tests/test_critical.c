/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fixture.h"
#include "../kernel_cygnet_critical.h"

/* set an option of the daemon */
static void set(char *key, char *value)
{
	lib->settings->set_str(lib->settings, "%s.%s", value, lib->ns, key);
}

/* set load, the option by which a plugin is loaded */
static void set_load(char *plugin, char *value)
{
	lib->settings->set_str(lib->settings, "%s.plugins.%s.load", value, lib->ns,
						   plugin);
}

static int setup(void **state)
{
	set("load_modular", "yes");
	set("load", "");
	set_load("kernel-cygnet", "no");
	set_load("kernel-cygnet!", "no");
	return 0;
}

static void test_not_configured(void **state)
{
	assert_false(kernel_cygnet_critical());
}

/* as in kernel-cygnet.conf, and with yes instead of a priority */
static void test_modular(void **state)
{
	set_load("kernel-cygnet!", "100");
	assert_true(kernel_cygnet_critical());
	set_load("kernel-cygnet!", "yes");
	assert_true(kernel_cygnet_critical());
}

static void test_modular_not_loaded(void **state)
{
	set_load("kernel-cygnet!", "0");
	assert_false(kernel_cygnet_critical());
	set_load("kernel-cygnet!", "-1");
	assert_false(kernel_cygnet_critical());
}

/* without the exclamation mark, also if an unused list has it */
static void test_modular_not_critical(void **state)
{
	set_load("kernel-cygnet", "100");
	assert_false(kernel_cygnet_critical());
	set("load", "kernel-cygnet!");
	assert_false(kernel_cygnet_critical());
}

static void test_list(void **state)
{
	set("load_modular", "no");
	set("load", "random nonce kernel-cygnet! kernel-netlink");
	assert_true(kernel_cygnet_critical());
}

static void test_list_not_critical(void **state)
{
	set("load_modular", "no");
	assert_false(kernel_cygnet_critical());
	set("load", "random kernel-cygnet kernel-netlink!");
	assert_false(kernel_cygnet_critical());
	set("load", "xkernel-cygnet! kernel-cygnet!x");
	assert_false(kernel_cygnet_critical());
	/* nor if an unused section has it */
	set_load("kernel-cygnet!", "100");
	assert_false(kernel_cygnet_critical());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_not_configured, setup),
		cmocka_unit_test_setup(test_modular, setup),
		cmocka_unit_test_setup(test_modular_not_loaded, setup),
		cmocka_unit_test_setup(test_modular_not_critical, setup),
		cmocka_unit_test_setup(test_list, setup),
		cmocka_unit_test_setup(test_list_not_critical, setup),
	};
	int failed;

	library_init("", "test-critical");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	library_deinit();
	return failed;
}
