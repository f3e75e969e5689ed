/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The ways to peers: when kernel-net is asked for them, and when not.
 */

#include "fixture.h"
#include "../kernel_cygnet_way.h"

#include <daemon.h>

/** The clock: a second is as long as a test wants it */
static time_t now = 1000;

time_t time_monotonic(timeval_t *tv)
{
	if (tv)
	{
		*tv = (timeval_t){ .tv_sec = now };
	}
	return now;
}

/** What kernel-net has, and how often it was asked */
static struct {
	char *gateway, *if_name;
	int asked;
} net;

static kernel_cygnet_way_t *ways;
static host_t *moon, *sun, *moved;

static host_t *get_nexthop(kernel_net_t *this, host_t *dest, int prefix,
						   host_t *src, char **iface)
{
	net.asked++;
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

/** Find the way, which is as kernel-net had it at that time */
static void expect_way(host_t *src, char *gateway, char *if_name)
{
	char *name = NULL;
	host_t *found, *wanted;

	found = ways->find(ways, sun, src, &name);
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

/** One way is found; kernel-net has another one from then on */
static void change_way(void)
{
	expect_way(moon, "192.0.2.254", "wan");
	net.gateway = "192.0.2.253";
	net.if_name = "wan2";
}

static int test_setup(void **state)
{
	net.gateway = "192.0.2.254";
	net.if_name = "wan";
	net.asked = 0;
	ways = kernel_cygnet_way_create();
	return 0;
}

static int test_teardown(void **state)
{
	ways->destroy(ways);
	return 0;
}

static void test_once(void **state)
{
	change_way();
	expect_way(moon, "192.0.2.254", "wan");
	assert_int_equal(net.asked, 1);
	/* another address is another way */
	expect_way(moved, "192.0.2.253", "wan2");
	expect_way(moon, "192.0.2.254", "wan");
	assert_int_equal(net.asked, 2);
}

static void test_roam(void **state)
{
	change_way();
	charon->kernel->roam(charon->kernel, FALSE);
	expect_way(moon, "192.0.2.253", "wan2");
	net.gateway = "192.0.2.252";
	charon->kernel->roam(charon->kernel, TRUE);
	expect_way(moon, "192.0.2.252", "wan2");
	expect_way(moon, "192.0.2.252", "wan2");
	assert_int_equal(net.asked, 3);
}

static void test_second(void **state)
{
	change_way();
	now++;
	expect_way(moon, "192.0.2.253", "wan2");
	assert_int_equal(net.asked, 2);
}

static void test_none(void **state)
{
	net.gateway = NULL;
	expect_way(moon, NULL, "wan");
	net.gateway = "192.0.2.254";
	net.if_name = NULL;
	expect_way(moon, "192.0.2.254", NULL);
	net.if_name = "wan";
	expect_way(moon, "192.0.2.254", "wan");
	assert_int_equal(net.asked, 3);
}

static int setup(void **state)
{
	assert_true(library_init("", "test-way"));
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

#define TEST_WAY(name) \
	cmocka_unit_test_setup_teardown(name, test_setup, test_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_WAY(test_once),
		TEST_WAY(test_roam),
		TEST_WAY(test_second),
		TEST_WAY(test_none),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
