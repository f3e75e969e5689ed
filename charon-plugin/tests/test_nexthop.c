/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * When next hops come from the cache, and when from the kernel-net interface.
 */

#include "fixture.h"
#include "../kernel_cygnet_nexthop.h"

#include <daemon.h>

/** The clock, advanced by tests */
static time_t now = 1000;

time_t time_monotonic(timeval_t *tv)
{
	if (tv)
	{
		*tv = (timeval_t){ .tv_sec = now };
	}
	return now;
}

/** Next hop that the kernel-net interface returns, and number of calls */
static struct {
	char *gateway, *if_name;
	int calls;
} net;

static kernel_cygnet_nexthop_t *nexthops;
static host_t *moon, *sun, *moved;

static host_t *get_nexthop(kernel_net_t *this, host_t *dest, int prefix,
						   host_t *src, char **iface)
{
	net.calls++;
	*iface = net.if_name ? strdup(net.if_name) : NULL;
	return net.gateway ? host_create_from_string(net.gateway, 0) : NULL;
}

static void destroy_net(kernel_net_t *this)
{
	free(this);
}

static kernel_net_t *create_net(void)
{
	kernel_net_t *this;

	INIT(this,
		.get_nexthop = get_nexthop,
		.destroy = destroy_net,
	);
	return this;
}

/** Find the next hop to sun, and check it */
static void expect_nexthop(host_t *src, char *gateway, char *if_name)
{
	char *name = NULL;
	host_t *found, *wanted;

	found = nexthops->find(nexthops, sun, src, &name);
	if (gateway)
	{
		wanted = host_create_from_string(gateway, 0);
		assert_non_null(found);
		assert_true(found->ip_equals(found, wanted));
		wanted->destroy(wanted);
		found->destroy(found);
	}
	else
	{
		assert_null(found);
	}
	if (if_name)
	{
		assert_string_equal(name, if_name);
	}
	else
	{
		assert_null(name);
	}
	free(name);
}

/** Have a next hop cached; then kernel-net returns another one */
static void change_nexthop(void)
{
	expect_nexthop(moon, "192.0.2.254", "wan");
	net.gateway = "192.0.2.253";
	net.if_name = "wan2";
}

static int test_setup(void **state)
{
	net.gateway = "192.0.2.254";
	net.if_name = "wan";
	net.calls = 0;
	nexthops = kernel_cygnet_nexthop_create();
	return 0;
}

static int test_teardown(void **state)
{
	nexthops->destroy(nexthops);
	return 0;
}

static void test_cached(void **state)
{
	change_nexthop();
	expect_nexthop(moon, "192.0.2.254", "wan");
	assert_int_equal(net.calls, 1);
	/* another local address is another entry */
	expect_nexthop(moved, "192.0.2.253", "wan2");
	expect_nexthop(moon, "192.0.2.254", "wan");
	assert_int_equal(net.calls, 2);
}

static void test_roam(void **state)
{
	change_nexthop();
	charon->kernel->roam(charon->kernel, FALSE);
	expect_nexthop(moon, "192.0.2.253", "wan2");
	net.gateway = "192.0.2.252";
	charon->kernel->roam(charon->kernel, TRUE);
	expect_nexthop(moon, "192.0.2.252", "wan2");
	expect_nexthop(moon, "192.0.2.252", "wan2");
	assert_int_equal(net.calls, 3);
}

static void test_older_than_a_second(void **state)
{
	change_nexthop();
	now++;
	expect_nexthop(moon, "192.0.2.253", "wan2");
	assert_int_equal(net.calls, 2);
}

static void test_incomplete_is_not_cached(void **state)
{
	net.gateway = NULL;
	expect_nexthop(moon, NULL, "wan");
	net.gateway = "192.0.2.254";
	net.if_name = NULL;
	expect_nexthop(moon, "192.0.2.254", NULL);
	net.if_name = "wan";
	expect_nexthop(moon, "192.0.2.254", "wan");
	assert_int_equal(net.calls, 3);
}

static int setup(void **state)
{
	assert_true(library_init("", "test-nexthop"));
	assert_true(libcharon_init());
	assert_true(charon->kernel->add_net_interface(charon->kernel, create_net));
	moon = host_create_from_string(MOON, 0);
	moved = host_create_from_string("192.0.2.3", 0);
	sun = host_create_from_string(SUN, 0);
	return 0;
}

static int teardown(void **state)
{
	moon->destroy(moon);
	moved->destroy(moved);
	sun->destroy(sun);
	libcharon_deinit();
	library_deinit();
	return 0;
}

#define TEST_NEXTHOP(name) \
	cmocka_unit_test_setup_teardown(name, test_setup, test_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_NEXTHOP(test_cached),
		TEST_NEXTHOP(test_roam),
		TEST_NEXTHOP(test_older_than_a_second),
		TEST_NEXTHOP(test_incomplete_is_not_cached),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
