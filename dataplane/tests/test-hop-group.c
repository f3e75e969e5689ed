/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several next hops of one route: which of them flows take. */
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "eal_fixture.h"
#include "host/hop_group.h"
#include "host/route.h"

#define FLOWS 20000u

static struct hop_share share_of(uint32_t gateway, uint32_t weight)
{
	return (struct hop_share){
		.hop = {.kind = ROUTE_FORWARD, .interface = 1, .gateway = cygnet_addr4(gateway)},
		.weight = weight,
	};
}

static struct cygnet_flow flow_of(uint32_t number)
{
	return (struct cygnet_flow){
		.src = cygnet_addr4(htonl(0x0a010000 + number % 250)),
		.dst = cygnet_addr4(htonl(0x0a020000 + number % 7)),
		.sport = (uint16_t)(1024 + number),
		.dport = 443,
		.af = AF_INET,
		.proto = IPPROTO_TCP,
		.has_ports = 1,
	};
}

static uint32_t taken(const struct next_hop *hop, const struct cygnet_flow *flow)
{
	struct next_hop taken = *hop;

	route_choose(&taken, flow);
	assert_int_equal(taken.group, 0);
	return taken.gateway.v4;
}

/* By the gateways 1 to 9. */
static void count(const struct next_hop *hop, unsigned int flows[10])
{
	memset(flows, 0, 10 * sizeof(*flows));
	for (uint32_t i = 0; i < FLOWS; i++) {
		const struct cygnet_flow flow = flow_of(i);

		flows[taken(hop, &flow)]++;
	}
}

static void assert_share(unsigned int flows, double part)
{
	assert_in_range(flows, (unsigned int)(FLOWS * part * 0.85),
			(unsigned int)(FLOWS * part * 1.15));
}

static void by_weight(void **state)
{
	const struct hop_share shares[] = {share_of(1, 1), share_of(2, 1), share_of(3, 2)};
	struct next_hop hop = hop_group_take(shares, 3);
	unsigned int flows[10];

	(void)state;
	assert_int_not_equal(hop.group, 0);
	count(&hop, flows);
	assert_share(flows[1], 0.25);
	assert_share(flows[2], 0.25);
	assert_share(flows[3], 0.5);
	hop_group_put(hop.group);
}

/* One next hop of several goes, and comes back: no other flow moves. */
static void others_stay(void **state)
{
	const struct hop_share before[] = {share_of(1, 1), share_of(2, 3), share_of(3, 2),
					   share_of(4, 1)};
	const struct hop_share after[] = {share_of(4, 1), share_of(1, 1), share_of(3, 2)};
	struct next_hop all = hop_group_take(before, 4), rest = hop_group_take(after, 3);
	unsigned int moved = 0;

	(void)state;
	for (uint32_t i = 0; i < FLOWS; i++) {
		const struct cygnet_flow flow = flow_of(i);

		if (taken(&all, &flow) == 2)
			moved += taken(&rest, &flow) != 2;
		else
			assert_int_equal(taken(&rest, &flow), taken(&all, &flow));
	}
	assert_share(moved, 3.0 / 7);
	hop_group_put(all.group);
	hop_group_put(rest.group);
}

/* A heavier weight draws flows from the others, which send none to each other. */
static void heavier(void **state)
{
	const struct hop_share before[] = {share_of(1, 1), share_of(2, 1), share_of(3, 1)};
	const struct hop_share after[] = {share_of(1, 1), share_of(2, 2), share_of(3, 1)};
	struct next_hop light = hop_group_take(before, 3), heavy = hop_group_take(after, 3);

	(void)state;
	for (uint32_t i = 0; i < FLOWS; i++) {
		const struct cygnet_flow flow = flow_of(i);
		uint32_t now = taken(&heavy, &flow);

		assert_true(now == 2 || now == taken(&light, &flow));
	}
	hop_group_put(light.group);
	hop_group_put(heavy.group);
}

/* Parts of a packet take one way, whether they have ports or not; so do those of other protocols without ports. */
static void fragments(void **state)
{
	const struct hop_share shares[] = {share_of(1, 1), share_of(2, 1)};
	struct next_hop hop = hop_group_take(shares, 2);
	unsigned int differ = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		struct cygnet_flow first = flow_of(i), later, whole = first;

		first.fragment = 1;
		later = first;
		later.has_ports = 0;
		later.sport = later.dport = 0;
		assert_int_equal(taken(&hop, &first), taken(&hop, &later));
		differ += taken(&hop, &first) != taken(&hop, &whole);
	}
	assert_in_range(differ, 300, 700);
	hop_group_put(hop.group);
}

static void alone(void **state)
{
	const struct hop_share same[] = {share_of(1, 1), share_of(1, 2)};
	const struct hop_share twice[] = {share_of(1, 1), share_of(2, 1), share_of(1, 2)};
	struct next_hop hop = hop_group_take(same, 2);
	const struct hop_share *share;
	struct hop_share one;

	(void)state;
	assert_int_equal(hop.group, 0);
	assert_int_equal(hop_group_members(&hop, &one, &share), 1);
	assert_int_equal(share->weight, 1);
	hop = hop_group_take(twice, 3);
	assert_int_equal(hop_group_members(&hop, &one, &share), 2);
	assert_int_equal(share[0].weight, 3);
	hop_group_put(hop.group);
}

/* As a dump tells of the routes of a prefix in another order. */
static void any_order(void **state)
{
	const struct hop_share one[] = {share_of(1, 1), share_of(2, 5), share_of(3, 1)};
	const struct hop_share other[] = {share_of(3, 1), share_of(1, 1), share_of(2, 5)};
	struct next_hop first = hop_group_take(one, 3), second = hop_group_take(other, 3);

	(void)state;
	assert_memory_equal(&first, &second, sizeof(first));
	hop_group_put(first.group);
	hop_group_put(second.group);
}

/* The same next hops are the same group. Beyond HOP_GROUPS a route has its first next hop, until one is free. */
static void full(void **state)
{
	uint16_t group[HOP_GROUPS];
	struct next_hop hop;

	(void)state;
	for (uint32_t i = 0; i < HOP_GROUPS; i++) {
		const struct hop_share shares[] = {share_of(1, 1), share_of(100 + i, 1)};

		group[i] = hop_group_take(shares, 2).group;
		assert_int_not_equal(group[i], 0);
		assert_int_equal(hop_group_take(shares, 2).group, group[i]);
		hop_group_put(group[i]);
	}
	assert_false(hop_groups_missed());
	for (uint32_t round = 0; round < 2; round++) {
		const struct hop_share shares[] = {share_of(7, 1), share_of(8, 1)};

		hop = hop_group_take(shares, 2);
		assert_int_equal(hop.gateway.v4, 7);
		if (!round) {
			assert_int_equal(hop.group, 0);
			hop_group_put(group[5]);
			assert_true(hop_groups_missed());
		}
	}
	assert_int_equal(hop.group, group[5]);
	for (uint32_t i = 0; i < HOP_GROUPS; i++)
		hop_group_put(group[i]);
}

/* --- in the FIB --- */

static int setup(void **state)
{
	(void)state;
	return routes_init(1, 1024);
}

static int teardown(void **state)
{
	(void)state;
	routes_free();
	return 0;
}

static struct route by_gateway6(uint8_t last, uint16_t weight)
{
	struct route r = {
		.af = AF_INET6,
		.bits = 32,
		.table = RT_TABLE_MAIN,
		.hop = {.kind = ROUTE_FORWARD, .interface = 1},
		.sibling = true,
		.weight = weight,
		.id = last,
	};

	assert_int_equal(inet_pton(AF_INET6, "2001:db8::", &r.dst), 1);
	r.hop.gateway.v4 = last; /* which count() looks at */
	return r;
}

static struct next_hop look6(void)
{
	struct cygnet_addr addr;

	assert_int_equal(inet_pton(AF_INET6, "2001:db8::1", &addr), 1);
	return route_lookup(AF_INET6, &addr);
}

/* IPv6 routes that differ in their gateway alone are one. */
static void siblings(void **state)
{
	struct route one = by_gateway6(1, 1), other = by_gateway6(2, 3),
		     another = by_gateway6(3, 0), shown;
	unsigned int flows[10], rows = 0, weights = 0;
	struct next_hop hop;
	uint32_t cursor = 0;

	(void)state;
	another.sibling = false; /* on link: a route of its own, behind the first */
	assert_int_equal(route_add(&one, ROUTE_APPEND), 0);
	assert_int_equal(route_add(&another, ROUTE_APPEND), 0);
	assert_true(routes_commit());
	assert_int_equal(look6().group, 0);
	assert_int_equal(route_add(&other, ROUTE_APPEND), 0);
	assert_true(routes_commit());
	hop = look6();
	count(&hop, flows);
	assert_share(flows[1], 0.25);
	assert_share(flows[2], 0.75);
	while (route_next(&cursor, &shown)) {
		rows++;
		weights += shown.weight;
		assert_int_equal(shown.bits, 32);
	}
	assert_int_equal(rows, 2);
	assert_int_equal(weights, 4);
	assert_int_equal(route_delete(&one), 0);
	assert_true(routes_commit());
	hop = look6();
	assert_int_equal(hop.group, 0);
	assert_int_equal(hop.gateway.v4, 3);
}

/* By the same next-hop object; a route by another one stands behind. */
static void objects(void **state)
{
	struct route one = by_gateway6(1, 1), other = by_gateway6(2, 1), behind = by_gateway6(3, 1);
	unsigned int flows[10];
	struct next_hop hop;

	(void)state;
	one.sibling = other.sibling = behind.sibling = false;
	one.nexthop = other.nexthop = 9;
	behind.nexthop = 10;
	assert_int_equal(route_add(&one, ROUTE_APPEND), 0);
	assert_int_equal(route_add(&other, ROUTE_APPEND), 0);
	assert_int_equal(route_add(&behind, ROUTE_APPEND), 0);
	assert_true(routes_commit());
	hop = look6();
	count(&hop, flows);
	assert_share(flows[1], 0.5);
	assert_share(flows[2], 0.5);
}

/* Groups go with the routes: as many changes as there are groups, and more. */
static void references(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2 * HOP_GROUPS; i++) {
		struct route one = by_gateway6(1, (uint16_t)(1 + i)),
			     other = by_gateway6(2, (uint16_t)(2 + 7 * i));

		assert_int_equal(route_add(&one, ROUTE_APPEND), 0);
		assert_int_equal(route_add(&other, ROUTE_APPEND), 0);
		assert_true(routes_commit());
		assert_int_not_equal(look6().group, 0);
	}
}

int main(int argc, char **argv)
{
#define IN_FIB(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_weight),
		cmocka_unit_test(others_stay),
		cmocka_unit_test(heavier),
		cmocka_unit_test(fragments),
		cmocka_unit_test(alone),
		cmocka_unit_test(any_order),
		cmocka_unit_test(full),
		IN_FIB(siblings),
		IN_FIB(objects),
		IN_FIB(references),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	hop_groups_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
