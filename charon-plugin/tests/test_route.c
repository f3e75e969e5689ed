/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which of several policies has the route to a net.
 */

#include "fixture.h"
#include "../kernel_cygnet_db.h"
#include "../kernel_cygnet_policy.h"
#include "../kernel_cygnet_route.h"
#include "../kernel_cygnet_spd.h"

#include <unistd.h>

#include <daemon.h>
#include <collections/array.h>

#define OTHER_SUN "192.0.2.3"

/** Routes as text, the one in the routing table last: as kernel-netlink, the
 * kernel-net interface remembers what a later route has replaced */
static array_t *table;
/** Numbers of routes added and deleted */
static int added, deleted;
/** Next hop to all peers, or NULL: each peer is its own */
static char *nexthop;

/** The shared file, without a dataplane */
static char path[] = "/tmp/test-route.XXXXXX/sadb";
static struct cygnet_db *db;

static kernel_cygnet_spd_t *spd;
static kernel_cygnet_route_t *routes;

/** This host's address in the source selector */
static host_t *inside;

static host_t *get_nexthop(kernel_net_t *this, host_t *dest, int prefix,
						   host_t *src, char **iface)
{
	*iface = strdup("wan");
	return nexthop ? host_create_from_string(nexthop, 0) : dest->clone(dest);
}

static enumerator_t *create_address_enumerator(kernel_net_t *this,
											   kernel_address_type_t which)
{
	return enumerator_create_single(inside, NULL);
}

/** Allocate a text; fmt may have strongSwan's conversions */
static char *print(char *fmt, ...)
{
	char text[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return strdup(text);
}

static char *print_route(chunk_t net, uint8_t prefixlen, host_t *gateway,
						 char *if_name, bool pass)
{
	host_t *dst = host_create_from_chunk(AF_INET, net, 0);
	char *text;

	text = pass ? print("throw %H/%d", dst, prefixlen) :
				  print("%H/%d via %H dev %s", dst, prefixlen, gateway, if_name);
	dst->destroy(dst);
	return text;
}

static status_t add_route(kernel_net_t *this, chunk_t net, uint8_t prefixlen,
						  host_t *gateway, host_t *src_ip, char *if_name,
						  bool pass)
{
	array_insert(table, ARRAY_TAIL, print_route(net, prefixlen, gateway,
												if_name, pass));
	added++;
	return SUCCESS;
}

static status_t del_route(kernel_net_t *this, chunk_t net, uint8_t prefixlen,
						  host_t *gateway, host_t *src_ip, char *if_name,
						  bool pass)
{
	char *text, *found;
	int i;

	text = print_route(net, prefixlen, gateway, if_name, pass);
	for (i = 0; i < array_count(table); i++)
	{
		array_get(table, i, &found);
		if (streq(found, text))
		{
			array_remove(table, i, NULL);
			free(found);
			free(text);
			deleted++;
			return SUCCESS;
		}
	}
	free(text);
	return NOT_FOUND;
}

static void free_text(void *text, int i, void *user)
{
	free(text);
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
		.create_address_enumerator = create_address_enumerator,
		.add_route = add_route,
		.del_route = del_route,
		.destroy = destroy_net,
	);
	return this;
}

/** Check the route in the table, and the number of routes added for it; NULL if
 * there is none */
static void expect_route(char *wanted, int count)
{
	char *text = NULL;

	array_get(table, ARRAY_TAIL, &text);
	if (wanted)
	{
		assert_non_null(text);
		assert_string_equal(text, wanted);
	}
	else
	{
		assert_null(text);
	}
	assert_int_equal(added, count);
}

/** Parameters of a tunnel policy for an SA of a peer, spi 0 for its trap */
static struct cygnet_policy_params tunnel(char *peer, uint32_t spi)
{
	struct cygnet_policy_params params;
	fixture_policy_t policy;
	const char *why;

	fixture_policy_init(&policy);
	policy.data.dst->destroy(policy.data.dst);
	policy.data.dst = host_create_from_string(peer, 0);
	policy.sa.esp.spi = htonl(spi);
	policy.data.prio = spi ? POLICY_PRIORITY_DEFAULT : POLICY_PRIORITY_ROUTED;
	assert_int_equal(kernel_cygnet_policy_params(&policy.id, &policy.data,
												 &params, &why), SUCCESS);
	fixture_policy_deinit(&policy);
	return params;
}

/** Parameters of a passthrough policy with the same selector */
static struct cygnet_policy_params passthrough(void)
{
	struct cygnet_policy_params params;
	ipsec_sa_cfg_t none = {};
	fixture_policy_t policy;
	const char *why;

	fixture_policy_init(&policy);
	policy.data.sa = &none;
	policy.data.type = POLICY_PASS;
	policy.data.prio = POLICY_PRIORITY_PASS;
	assert_int_equal(kernel_cygnet_policy_params(&policy.id, &policy.data,
												 &params, &why), SUCCESS);
	fixture_policy_deinit(&policy);
	return params;
}

static void add(struct cygnet_policy_params params)
{
	kernel_cygnet_spd_change_t change;

	assert_int_equal(spd->add(spd, &params, &change), 0);
	if (change.first)
	{
		routes->update(routes, &params.sel);
	}
}

static void remove_it(struct cygnet_policy_params params)
{
	kernel_cygnet_spd_change_t change;

	assert_int_equal(spd->remove(spd, &params, &change), 0);
	if (change.first)
	{
		routes->update(routes, &params.sel);
	}
}

static int test_setup(void **state)
{
	table = array_create(0, 0);
	added = deleted = 0;
	nexthop = NULL;
	spd = kernel_cygnet_spd_create(db);
	routes = kernel_cygnet_route_create(db);
	return 0;
}

/** No route is left, whichever policies are */
static int test_teardown(void **state)
{
	bool empty;

	spd->flush(spd);
	routes->destroy(routes);
	spd->destroy(spd);
	empty = array_count(table) == 0 && added == deleted;
	array_destroy_function(table, free_text, NULL);
	return !empty;
}

#define ROUTE_TEST(name) \
	cmocka_unit_test_setup_teardown(name, test_setup, test_teardown)

/* two peers with the same nets: the newer has the route, and when it goes, the
 * other one, whose policies have been there all the time */
static void test_newer_goes(void **state)
{
	add(tunnel(SUN, 1));
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 1);
	add(tunnel(OTHER_SUN, 2));
	expect_route("10.2.0.0/16 via 192.0.2.3 dev wan", 2);
	remove_it(tunnel(OTHER_SUN, 2));
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 3);
	remove_it(tunnel(SUN, 1));
	expect_route(NULL, 3);
}

static void test_older_goes(void **state)
{
	add(tunnel(SUN, 1));
	add(tunnel(OTHER_SUN, 2));
	remove_it(tunnel(SUN, 1));
	expect_route("10.2.0.0/16 via 192.0.2.3 dev wan", 2);
	remove_it(tunnel(OTHER_SUN, 2));
	expect_route(NULL, 2);
}

/* of three, in any order: the newest that is left */
static void test_three(void **state)
{
	add(tunnel(SUN, 1));
	add(tunnel(OTHER_SUN, 2));
	add(tunnel(SUN, 3));
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 3);
	remove_it(tunnel(OTHER_SUN, 2));
	remove_it(tunnel(SUN, 3));
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 3);
	add(tunnel(OTHER_SUN, 4));
	expect_route("10.2.0.0/16 via 192.0.2.3 dev wan", 4);
	remove_it(tunnel(OTHER_SUN, 4));
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 5);
}

/* another install of a policy does not make it newer */
static void test_installed_again(void **state)
{
	add(tunnel(SUN, 1));
	add(tunnel(OTHER_SUN, 2));
	add(tunnel(SUN, 1));
	expect_route("10.2.0.0/16 via 192.0.2.3 dev wan", 2);
	remove_it(tunnel(SUN, 1));
	expect_route("10.2.0.0/16 via 192.0.2.3 dev wan", 2);
	remove_it(tunnel(OTHER_SUN, 2));
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 3);
	remove_it(tunnel(SUN, 1));
	expect_route(NULL, 3);
}

/* the route of a rekeyed SA is not touched; the next hop it has by then is that
 * of the survivor */
static void test_rekeyed(void **state)
{
	add(tunnel(SUN, 1));
	add(tunnel(SUN, 2));
	remove_it(tunnel(SUN, 1));
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 1);
	assert_int_equal(deleted, 0);
	add(tunnel(OTHER_SUN, 3));
	nexthop = "192.0.2.254";
	charon->kernel->roam(charon->kernel, FALSE);
	remove_it(tunnel(OTHER_SUN, 3));
	expect_route("10.2.0.0/16 via 192.0.2.254 dev wan", 3);
}

/* a trap has the route while there is no SA, also if it was installed later */
static void test_trap(void **state)
{
	add(tunnel(OTHER_SUN, 0));
	expect_route("10.2.0.0/16 via 192.0.2.3 dev wan", 1);
	add(tunnel(SUN, 1));
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 2);
	remove_it(tunnel(OTHER_SUN, 0));
	add(tunnel(OTHER_SUN, 0));
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 2);
	remove_it(tunnel(SUN, 1));
	expect_route("10.2.0.0/16 via 192.0.2.3 dev wan", 3);
}

/* a passthrough policy precedes the tunnel with the same nets */
static void test_passthrough(void **state)
{
	add(passthrough());
	expect_route("throw 10.2.0.0/16", 1);
	add(tunnel(SUN, 1));
	expect_route("throw 10.2.0.0/16", 1);
	remove_it(passthrough());
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 2);
}

/* a policy is removed with addresses that it had not when it was added */
static void test_moved(void **state)
{
	add(tunnel(SUN, 1));
	add(tunnel(OTHER_SUN, 2));
	remove_it(tunnel("192.0.2.9", 2));
	expect_route("10.2.0.0/16 via 192.0.2.2 dev wan", 3);
}

static int setup(void **state)
{
	assert_true(library_init("", "test-route"));
	assert_true(libcharon_init());
	inside = host_create_from_string("10.1.0.1", 0);
	*strrchr(path, '/') = '\0';
	assert_non_null(mkdtemp(path));
	path[strlen(path)] = '/';
	lib->settings->set_str(lib->settings, "%s.plugins.kernel-cygnet.path", path,
						   lib->ns);
	lib->settings->set_bool(lib->settings, "%s.plugins.kernel-cygnet.on_disk",
							TRUE, lib->ns);
	db = kernel_cygnet_db_open(0);
	assert_non_null(db);
	return !charon->kernel->add_net_interface(charon->kernel, create_net);
}

static int teardown(void **state)
{
	kernel_cygnet_db_close(db, FALSE);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	inside->destroy(inside);
	libcharon_deinit();
	library_deinit();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROUTE_TEST(test_newer_goes),
		ROUTE_TEST(test_older_goes),
		ROUTE_TEST(test_three),
		ROUTE_TEST(test_installed_again),
		ROUTE_TEST(test_rekeyed),
		ROUTE_TEST(test_trap),
		ROUTE_TEST(test_passthrough),
		ROUTE_TEST(test_moved),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
