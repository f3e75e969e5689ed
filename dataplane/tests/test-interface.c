/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sides of interfaces, as a configuration has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "conf/conf_keys.h"
#include "host/interface.h"
#include "host/side.h"

static struct conf conf;

static void add_port(const char *name)
{
	conf.nlinks++;
	snprintf(conf.port[conf.nports++].name, sizeof(conf.port[0].name), "%s", name);
}

static void say_side(struct conf_port *port, uint32_t side)
{
	port->given[conf_key_find(CONF_PORT, "side") - conf_keys].line = 1;
	port->side = side;
}

static int setup(void **state)
{
	static const char *const names[] = {"wan", "lan", "kept"};

	(void)state;
	conf_defaults(&conf);
	add_port("wan");
	add_port("lan");
	for (ninterfaces = 0; ninterfaces < 3; ninterfaces++)
		interfaces[ninterfaces] = (struct interface){0};
	for (unsigned int i = 0; i < ninterfaces; i++)
		snprintf(interfaces[i].name, sizeof(interfaces[0].name), "%s", names[i]);
	return 0;
}

/* One that could not be removed has the side of a port without the key, whatever it had before. */
static void without_a_section(void **state)
{
	(void)state;
	interfaces[2].side = SIDE_INSIDE;
	sides_set(&conf);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(interfaces[i].side, SIDE_UNKNOWN);
	say_side(&conf.port[1], CONF_INSIDE);
	sides_set(&conf);
	assert_int_equal(interfaces[0].side, SIDE_OUTSIDE);
	assert_int_equal(interfaces[1].side, SIDE_INSIDE);
	assert_int_equal(interfaces[2].side, SIDE_OUTSIDE);
	assert_int_equal(sides_kernel, SIDE_OUTSIDE);
}

static void three_ports(void **state)
{
	(void)state;
	add_port("kept");
	sides_set(&conf);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(interfaces[i].side, SIDE_UNSAID);
	assert_int_equal(sides_kernel, SIDE_UNSAID);
}

/* It stays outside for decrypted packets when the configuration is applied again, and a side that is said counts. */
static void ends_a_tunnel(void **state)
{
	uint64_t before;

	(void)state;
	sides_set(&conf);
	before = changes_general();
	side_end_tunnel(&interfaces[0], 0);
	assert_int_equal(interfaces[0].side, SIDE_UNSAID);
	assert_int_equal(interfaces[1].side, SIDE_UNKNOWN);
	assert_int_not_equal(changes_general(), before);
	before = changes_general();
	side_end_tunnel(&interfaces[0], 0);
	assert_int_equal(changes_general(), before);
	sides_set(&conf);
	assert_int_equal(interfaces[0].side, SIDE_UNSAID);
	say_side(&conf.port[0], CONF_INSIDE);
	sides_set(&conf);
	assert_int_equal(interfaces[0].side, SIDE_INSIDE);
	side_end_tunnel(&interfaces[1], 0);
	assert_int_equal(interfaces[1].side, SIDE_OUTSIDE);
}

static void expect_outer(unsigned int outer)
{
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(interfaces[i].side, i == outer ? SIDE_UNSAID : SIDE_UNKNOWN);
}

/* If tunnels end at both ports, one stays the LAN's: a client in the LAN closes it for nobody. */
static void end_at_both(void **state)
{
	(void)state;
	sides_set(&conf);
	side_end_tunnel(&interfaces[1], 0);
	expect_outer(1);
	side_end_tunnel(&interfaces[0], 0);
	expect_outer(1);
	sides_set(&conf);
	expect_outer(1);
	side_end_tunnel(&interfaces[0], 1);
	expect_outer(0);
	sides_set(&conf);
	expect_outer(0);
	/* The default route leads to both: neither is the LAN's. */
	side_end_tunnel(&interfaces[0], 3);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(interfaces[i].side, SIDE_UNSAID);
	/* The default route alone says nothing. */
	setup(NULL);
	sides_set(&conf);
	side_end_tunnel(&interfaces[1], 1);
	expect_outer(1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_a_section, setup),
		cmocka_unit_test_setup(three_ports, setup),
		cmocka_unit_test_setup(ends_a_tunnel, setup),
		cmocka_unit_test_setup(end_at_both, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
