/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mirror of the kernel's routes against a plain model of the kernel. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "eal_fixture.h"
#include "host/nexthop.h"
#include "host/route.h"

#define ROUTES	1024
#define OBJECTS ROUTES /* next-hop objects: as many as fit */

static const struct next_hop unreachable = {.kind = ROUTE_NONE},
			     refused = {.kind = ROUTE_BLACKHOLE};

static struct next_hop via(uint32_t gateway)
{
	return (struct next_hop){
		.kind = ROUTE_FORWARD,
		.interface = 1,
		.gateway = cygnet_addr4(gateway),
	};
}

static struct route make(uint32_t dst, uint8_t bits, uint32_t table, uint32_t metric,
			 uint32_t gateway)
{
	return (struct route){
		.af = AF_INET,
		.dst = cygnet_addr4(htonl(dst & (bits ? UINT32_MAX << (32 - bits) : 0))),
		.bits = bits,
		.table = table,
		.metric = metric,
		.hop = via(gateway),
		.id = gateway,
	};
}

static struct next_hop look(uint32_t dst)
{
	dst = htonl(dst);
	return route_lookup(AF_INET, &dst);
}

static void assert_hop(uint32_t dst, struct next_hop want)
{
	struct next_hop hop = look(dst);

	assert_memory_equal(&hop, &want, sizeof(hop));
}

static int setup(void **state)
{
	(void)state;
	return routes_init(1, ROUTES);
}

static int teardown(void **state)
{
	(void)state;
	routes_free();
	return 0;
}

static void nothing_before_commit(void **state)
{
	struct route r = make(0x0a000000, 8, RT_TABLE_MAIN, 0, 1);

	(void)state;
	assert_hop(0x0a010203, unreachable);
	assert_int_equal(route_add(&r, ROUTE_APPEND), 0);
	assert_hop(0x0a010203, unreachable);
	routes_commit();
	assert_hop(0x0a010203, via(1));
	assert_hop(0x0b010203, unreachable);
	assert_int_equal(route_delete(&r), 0);
	assert_hop(0x0a010203, via(1));
	routes_commit();
	assert_hop(0x0a010203, unreachable);
	assert_int_equal(route_delete(&r), -ENOENT);
}

static void metrics_and_replacement(void **state)
{
	struct route slow = make(0x0a000000, 8, RT_TABLE_MAIN, 200, 1);
	struct route fast = make(0x0a000000, 8, RT_TABLE_MAIN, 100, 2);
	struct route other = make(0x0a000000, 8, RT_TABLE_MAIN, 100, 3);
	struct route newer = make(0x0a000000, 8, RT_TABLE_MAIN, 100, 4);
	struct route first = make(0x0a000000, 8, RT_TABLE_MAIN, 100, 5);

	(void)state;
	route_add(&slow, ROUTE_APPEND);
	route_add(&fast, ROUTE_APPEND);
	routes_commit();
	assert_hop(0x0a000001, via(2));
	/* A route appended to an equal one is not used. It is used once the other is deleted. */
	route_add(&other, ROUTE_APPEND);
	routes_commit();
	assert_hop(0x0a000001, via(2));
	/* The first one is replaced. */
	route_add(&newer, ROUTE_REPLACE);
	routes_commit();
	assert_hop(0x0a000001, via(4));
	route_add(&first, ROUTE_PREPEND);
	routes_commit();
	assert_hop(0x0a000001, via(5));
	assert_int_equal(route_delete(&first), 0);
	routes_commit();
	assert_hop(0x0a000001, via(4));
	assert_int_equal(route_delete(&newer), 0);
	routes_commit();
	assert_hop(0x0a000001, via(3));
	assert_int_equal(route_delete(&other), 0);
	routes_commit();
	assert_hop(0x0a000001, via(1));
	/* What is told again is updated. */
	slow.hop = via(6);
	route_add(&slow, ROUTE_APPEND);
	routes_commit();
	assert_hop(0x0a000001, via(6));
	assert_int_equal(route_delete(&slow), 0);
	routes_commit();
	assert_hop(0x0a000001, unreachable);
}

/* Tables are searched in the order of the rules: a shorter prefix in an earlier table wins. */
static void tables_in_order(void **state)
{
	struct route main_default = make(0, 0, RT_TABLE_MAIN, 0, 1);
	struct route main_narrow = make(0x0a010000, 16, RT_TABLE_MAIN, 0, 2);
	struct route charon = make(0x0a000000, 8, 220, 0, 3);
	struct route except = make(0x0a010100, 24, 220, 0, 0);
	struct route fallback = make(0x0a010180, 25, RT_TABLE_DEFAULT, 0, 5);

	(void)state;
	except.throws = true;
	except.hop = unreachable;
	route_add(&main_default, ROUTE_APPEND);
	route_add(&main_narrow, ROUTE_APPEND);
	routes_commit();
	assert_hop(0x0a010001, via(2));
	route_add(&charon, ROUTE_APPEND);
	routes_commit();
	assert_hop(0x0a010001, via(3));
	assert_hop(0x0a020001, via(3));
	assert_hop(0x0b000001, via(1));
	route_add(&except, ROUTE_APPEND);
	routes_commit();
	assert_hop(0x0a010101, via(2));
	assert_hop(0x0a010001, via(3));
	/* The last table is searched only if main has no route. */
	route_add(&fallback, ROUTE_APPEND);
	routes_commit();
	assert_hop(0x0a010181, via(2));
	route_delete(&main_narrow);
	route_delete(&main_default);
	routes_commit();
	assert_hop(0x0a010181, via(5));
	assert_hop(0x0a010101, unreachable);
	route_delete(&charon);
	route_delete(&except);
	routes_commit();
	assert_hop(0x0a010181, via(5));
	assert_hop(0x0a000001, unreachable);
}

/* "lookup main suppress_prefixlength 0": its default route does not count, unless it refuses. */
static void suppressed(void **state)
{
	static const struct route_table tables[] = {{RT_TABLE_MAIN, 0}, {77, -1}};
	struct route forwards = make(0, 0, RT_TABLE_MAIN, 1, 1),
		     refuses = make(0, 0, RT_TABLE_MAIN, 0, 0);
	struct route narrow = make(0x0a010000, 16, RT_TABLE_MAIN, 0, 2),
		     other = make(0, 0, 77, 0, 7);

	(void)state;
	refuses.hop = refused;
	routes_set_tables(AF_INET, tables, RTE_DIM(tables));
	route_add(&forwards, ROUTE_APPEND);
	route_add(&narrow, ROUTE_APPEND);
	route_add(&other, ROUTE_APPEND);
	routes_commit();
	assert_hop(0x0a010001, via(2));
	assert_hop(0x0b000001, via(7));
	route_add(&refuses, ROUTE_APPEND);
	routes_commit();
	assert_hop(0x0a010001, via(2));
	assert_hop(0x0b000001, refused);
	route_delete(&refuses);
	route_delete(&forwards);
	route_delete(&narrow);
	route_delete(&other);
	routes_set_usual_tables(AF_INET);
	routes_commit();
}

static void dump_removes_what_is_gone(void **state)
{
	struct route a = make(0x0a000000, 8, RT_TABLE_MAIN, 0, 1);
	struct route b = make(0x0b000000, 8, RT_TABLE_MAIN, 0, 2);
	struct route c = make(0x0b000000, 8, RT_TABLE_MAIN, 5, 3);

	(void)state;
	route_add(&a, ROUTE_APPEND);
	route_add(&b, ROUTE_APPEND);
	route_add(&c, ROUTE_APPEND);
	routes_mark();
	route_add(&c, ROUTE_APPEND);
	routes_sweep();
	routes_commit();
	assert_hop(0x0a000001, unreachable);
	assert_hop(0x0b000001, via(3));
}

/* DPDK 22.11 alone miscounts /24s when a long prefix has the next hop of its parent. */
static void long_prefixes_like_their_parent(void **state)
{
	struct route parent = make(0, 0, RT_TABLE_MAIN, 0, 1);

	(void)state;
	route_add(&parent, ROUTE_APPEND);
	for (uint32_t i = 0; i < 4096; i++) {
		struct route r = make(0x0a000001 + (i << 8), 32, RT_TABLE_MAIN, 0, 1);

		assert_int_equal(route_add(&r, ROUTE_APPEND), 0);
		assert_int_equal(route_delete(&r), 0);
	}
	for (uint32_t i = 0; i < 200; i++) {
		struct route r = make(0x0a000001 + (i << 8), 32, RT_TABLE_MAIN, 0, 2);

		assert_int_equal(route_add(&r, ROUTE_APPEND), 0);
		routes_commit();
		assert_hop(0x0a000001 + (i << 8), via(2));
	}
}

static void full(void **state)
{
	struct route r;
	unsigned int n;

	(void)state;
	for (n = 0; n < 4 * ROUTES; n++) {
		r = make(n << 16, 16, RT_TABLE_MAIN, 0, 1);
		if (route_add(&r, ROUTE_APPEND))
			break;
	}
	assert_in_range(n, ROUTES, 2 * ROUTES);
	assert_int_equal(route_add(&r, ROUTE_APPEND), -ENOSPC);
	routes_commit();
	assert_hop(0x00010001, via(1));
	assert_hop(ntohl(r.dst.v4), unreachable);
	r = make(0x00010000, 16, RT_TABLE_MAIN, 0, 1);
	assert_int_equal(route_delete(&r), 0);
	r = make(0xf0000000, 4, RT_TABLE_MAIN, 0, 7);
	assert_int_equal(route_add(&r, ROUTE_APPEND), 0);
	routes_commit();
	assert_hop(0x00010001, unreachable);
	assert_hop(0xf1000000, via(7));
}

/* --- a model: a list of routes, searched by the kernel's rules --- */

#define MODEL 96
static struct route model[MODEL];
static bool present[MODEL];

static const struct route *model_table(uint32_t table, uint32_t dst)
{
	const struct route *best = NULL;

	for (unsigned int i = 0; i < MODEL; i++) {
		const struct route *r = &model[i];
		uint32_t mask = r->bits ? UINT32_MAX << (32 - r->bits) : 0;

		if (present[i] && r->table == table && (dst & mask) == ntohl(r->dst.v4) &&
		    (!best || r->bits > best->bits ||
		     (r->bits == best->bits && r->metric < best->metric)))
			best = r;
	}
	return best;
}

static struct next_hop model_look(uint32_t dst)
{
	static const uint32_t tables[] = {RT_TABLE_LOCAL, 220, RT_TABLE_MAIN, RT_TABLE_DEFAULT};

	for (unsigned int i = 0; i < RTE_DIM(tables); i++) {
		const struct route *r = model_table(tables[i], dst);

		if (r && !r->throws)
			return r->hop;
	}
	return unreachable;
}

/* Few bits vary, so that routes overlap and share /24s. */
static uint32_t random_dst(void)
{
	return 0x0a000000 | ((uint32_t)random() & 0x00030300) | ((uint32_t)random() & 0xc3);
}

static void fill_model(void)
{
	static const uint8_t bits[] = {0, 6, 7, 8, 14, 15, 16, 22, 23, 24, 25, 26, 30, 31, 32};
	static const uint32_t tables[] = {RT_TABLE_LOCAL, 220,		 220,
					  RT_TABLE_MAIN,  RT_TABLE_MAIN, RT_TABLE_DEFAULT};

	/* Each route has its own metric, so that the best one is unique. */
	for (unsigned int i = 0; i < MODEL; i++) {
		model[i] = make(random_dst(), bits[random() % (long)RTE_DIM(bits)],
				tables[random() % (long)RTE_DIM(tables)], i,
				(uint32_t)random() % 7 + 1);
		model[i].throws = random() % 8 == 0;
		if (model[i].throws)
			model[i].hop = unreachable;
		present[i] = false;
	}
}

static void against_the_model(void **state)
{
	(void)state;
	srandom(7);
	fill_model();
	for (unsigned int round = 0; round < 3000; round++) {
		for (int k = 0; k < 3; k++) {
			unsigned int i = (unsigned int)random() % MODEL;

			if (present[i])
				assert_int_equal(route_delete(&model[i]), 0);
			else
				assert_int_equal(route_add(&model[i],
							   (enum route_place)(random() % 3)),
						 0);
			present[i] = !present[i];
		}
		routes_commit();
		for (int k = 0; k < 40; k++) {
			uint32_t dst = k ? random_dst() : (uint32_t)random();

			assert_hop(dst, model_look(dst));
		}
	}
}

/* --- IPv6: the same rules in a separate table --- */

static struct route make6(const char *dst, uint8_t bits, uint32_t table, const char *gateway)
{
	struct route r = {
		.af = AF_INET6,
		.bits = bits,
		.table = table,
		.hop = {.kind = ROUTE_FORWARD, .interface = 1},
	};

	assert_int_equal(inet_pton(AF_INET6, dst, &r.dst), 1);
	assert_int_equal(inet_pton(AF_INET6, gateway, &r.hop.gateway), 1);
	r.id = r.hop.gateway.words[0] ^ r.hop.gateway.words[1];
	return r;
}

static void assert_hop6(const char *dst, const struct next_hop *want)
{
	struct cygnet_addr addr;
	struct next_hop hop;

	assert_int_equal(inet_pton(AF_INET6, dst, &addr), 1);
	hop = route_lookup(AF_INET6, &addr);
	assert_memory_equal(&hop, want, sizeof(hop));
}

static void six(void **state)
{
	struct route all = make6("::", 0, RT_TABLE_MAIN, "fe80::1");
	struct route net = make6("2001:db8::", 32, RT_TABLE_MAIN, "fe80::2");
	struct route host = make6("2001:db8::1", 128, RT_TABLE_MAIN, "fe80::3");
	struct route charon = make6("2001:db8:0:1::", 63, 220, "fe80::4");

	(void)state;
	route_add(&all, ROUTE_APPEND);
	route_add(&net, ROUTE_APPEND);
	route_add(&host, ROUTE_APPEND);
	assert_hop6("2001:db8::1", &unreachable);
	routes_commit();
	assert_hop6("2001:db7:ffff::", &all.hop);
	assert_hop6("2001:db8::", &net.hop);
	assert_hop6("2001:db8::1", &host.hop);
	assert_hop6("2001:db8::2", &net.hop);
	/* An earlier table wins also over a longer prefix in main. */
	assert_int_equal(inet_pton(AF_INET6, "2001:db8::", &charon.dst), 1);
	route_add(&charon, ROUTE_APPEND);
	routes_commit();
	assert_hop6("2001:db8::1", &charon.hop);
	assert_hop6("2001:db8:0:1:ffff::", &charon.hop);
	assert_hop6("2001:db8:0:2::", &net.hop);
	assert_int_equal(route_delete(&charon), 0);
	assert_int_equal(route_delete(&net), 0);
	routes_commit();
	assert_hop6("2001:db8::1", &host.hop);
	assert_hop6("2001:db8::2", &all.hop);
	host.bits = 129;
	assert_int_equal(route_add(&host, ROUTE_APPEND), -EINVAL);
}

/* 0.0.0.0/0 and ::/0 have the same bytes, and longer prefixes may too. */
static void families_apart(void **state)
{
	struct route four = make(0x20010db8, 32, RT_TABLE_MAIN, 0, 4);
	struct route six_of = make6("2001:db8::", 32, RT_TABLE_MAIN, "fe80::6");
	struct route all = make(0, 0, RT_TABLE_MAIN, 0, 1);
	struct route gone = make6("::", 0, RT_TABLE_MAIN, "fe80::1");

	(void)state;
	route_add(&four, ROUTE_APPEND);
	route_add(&six_of, ROUTE_APPEND);
	route_add(&all, ROUTE_APPEND);
	routes_commit();
	assert_hop(0x20010db8, via(4));
	assert_hop(0x20010db9, via(1));
	assert_hop6("2001:db8::1", &six_of.hop);
	assert_hop6("3001::", &unreachable);
	assert_int_equal(route_delete(&gone), -ENOENT);
	assert_int_equal(route_delete(&six_of), 0);
	routes_commit();
	assert_hop(0x20010db8, via(4));
	assert_hop6("2001:db8::1", &unreachable);
}

static void full6(void **state)
{
	struct route r = make6("2001:db8::", 64, RT_TABLE_MAIN, "fe80::1");
	struct route four = make(0x0a000000, 8, RT_TABLE_MAIN, 0, 1);
	unsigned int n;

	(void)state;
	for (n = 0; n < 4096; n++) {
		r.dst.bytes[6] = (uint8_t)(n >> 8);
		r.dst.bytes[7] = (uint8_t)n;
		if (route_add(&r, ROUTE_APPEND))
			break;
	}
	assert_in_range(n, 1024, 4095);
	assert_int_equal(route_add(&r, ROUTE_APPEND), -ENOSPC);
	assert_int_equal(route_add(&four, ROUTE_APPEND), 0);
	routes_commit();
	assert_hop6("2001:db8::1", &r.hop);
	assert_hop6("2001:db8:0:3ff::1", &r.hop);
	assert_hop(0x0a000001, via(1));
}

/* Those that no route uses are told from next-hop objects that routes use, also when no more fit. */
static void objects(void **state)
{
	struct route r = make(0x0a000000, 8, RT_TABLE_MAIN, 0, 1);
	int err = 0;

	(void)state;
	assert_false(nexthop_is_used(0));
	assert_false(nexthop_is_used(1));
	for (uint32_t id = 1; id <= OBJECTS; id++)
		assert_int_equal(nexthop_hold(id * 3), 0);
	for (uint32_t id = 1; id <= 10 * OBJECTS && !err; id++)
		err = nexthop_hold(3 * id + 1);
	assert_int_equal(err, -ENOMEM);
	assert_int_equal(nexthop_hold(3), 0);
	nexthop_release(3);
	for (uint32_t id = 1; id <= 10 * OBJECTS; id++)
		nexthop_release(3 * id + 1);
	for (uint32_t id = 1; id <= 3 * OBJECTS; id++)
		assert_int_equal(nexthop_is_used(id), id % 3 == 0);
	for (uint32_t id = 1; id <= OBJECTS; id++)
		nexthop_release(id * 3);
	for (uint32_t id = 1; id <= 3 * OBJECTS; id++)
		assert_false(nexthop_is_used(id));
	/* As often as routes do, for a long time. */
	for (uint32_t id = UINT32_MAX; id > UINT32_MAX - 10 * OBJECTS; id--) {
		nexthop_hold(id);
		nexthop_hold(id);
		nexthop_release(id);
		assert_true(nexthop_is_used(id));
		nexthop_release(id);
		assert_false(nexthop_is_used(id));
		nexthop_release(id);
	}
	r.nexthop = 7;
	assert_int_equal(route_add(&r, ROUTE_APPEND), 0);
	assert_int_equal(route_add(&r, ROUTE_APPEND), 0);
	assert_true(nexthop_is_used(7));
	assert_int_equal(route_delete(&r), 0);
	assert_false(nexthop_is_used(7));
}

/* A route by an object that does not fit is there, but the kernel routes its packets, and they do not follow the route
 * that covers it. */
static void objects_beyond(void **state)
{
	const struct next_hop kernel = {.kind = ROUTE_KERNEL};
	struct route r = make(0x0a010000, 16, RT_TABLE_MAIN, 0, 2),
		     all = make(0, 0, RT_TABLE_MAIN, 0, 1);
	struct route known = make(0x0a020000, 16, RT_TABLE_MAIN, 0, 3);
	uint32_t most = 1;

	(void)state;
	all.nexthop = 1;
	known.nexthop = 2;
	assert_int_equal(route_add(&all, ROUTE_APPEND), 0);
	assert_int_equal(route_add(&known, ROUTE_APPEND), 0);
	assert_false(nexthops_left_out());
	while (!nexthop_hold(most + 2))
		most++;
	assert_true(nexthops_left_out()); /* netlink_on_nexthop(): any message leads to a resync */
	r.nexthop = most + 2;
	assert_int_equal(route_add(&r, ROUTE_APPEND), 0);
	assert_true(routes_commit());
	assert_hop(0x0a010203, kernel);
	assert_hop(0x0a020203, via(3));
	assert_hop(0x0b010203, via(1));
	/* One that changes from a known object to another one takes its place. */
	known.nexthop = most + 3;
	assert_int_equal(route_add(&known, ROUTE_APPEND), 0);
	assert_true(routes_commit());
	assert_hop(0x0a020203, via(3));
	assert_false(nexthop_is_used(2));
	/* One that changes to an object that does not fit has not its old next hop. */
	all.nexthop = 2;
	assert_int_equal(nexthop_hold(1), 0);
	assert_int_equal(route_add(&all, ROUTE_APPEND), 0);
	assert_true(routes_commit());
	assert_hop(0x0b010203, kernel);
	/* There is room again when the kernel tells of them. */
	for (uint32_t id = 1; id <= 4; id++)
		nexthop_release(id);
	routes_mark();
	assert_int_equal(route_add(&r, ROUTE_APPEND), 0);
	assert_int_equal(route_add(&all, ROUTE_APPEND), 0);
	assert_false(nexthops_left_out());
	assert_true(routes_commit());
	assert_hop(0x0a010203, via(2));
	assert_hop(0x0b010203, via(1));
	assert_int_equal(route_delete(&r), 0);
	assert_false(nexthop_is_used(r.nexthop));
}

/* --- an lcore looks up while the control thread changes routes --- */

static bool stop;
static unsigned int wrong, seen;

static void *reader(void *arg)
{
	uint32_t dst[8];

	for (uint32_t i = 0; i < RTE_DIM(dst); i++)
		dst[i] = htonl(0x0a000001 + (i << 8));
	route_reader_online(0);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		/* The route of this address or of the next one, no other. */
		for (uint32_t i = 0; i < RTE_DIM(dst); i++) {
			struct next_hop hop = route_lookup(AF_INET, &dst[i]);

			if (hop.kind != ROUTE_FORWARD ||
			    (hop.gateway.v4 != 100 && hop.gateway.v4 != i + 1))
				wrong++;
		}
		__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
		route_reader_quiescent(0);
	}
	route_reader_offline(0);
	return arg;
}

static void old_or_new_under_changes(void **state)
{
	struct route parent = make(0x0a000000, 8, RT_TABLE_MAIN, 0, 100);
	pthread_t thread;

	(void)state;
	stop = false;
	wrong = seen = 0;
	route_add(&parent, ROUTE_APPEND);
	routes_commit();
	assert_int_equal(pthread_create(&thread, NULL, reader, NULL), 0);
	for (unsigned int round = 0;
	     round < 1500 || __atomic_load_n(&seen, __ATOMIC_RELAXED) < 1000; round++) {
		uint32_t i = round % 8;
		struct route r = make(0x0a000000 + (i << 8), 25, RT_TABLE_MAIN, 0, i + 1);

		/* Each route needs a second-level table that the deleted one had. */
		route_add(&r, ROUTE_APPEND);
		routes_commit();
		route_delete(&r);
		routes_commit();
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(wrong, 0);
}

/* The control thread waits for the lcore once. A dump restores routes that were refused
 * meanwhile. */
static void a_worker_hangs(void **state)
{
	struct route old = make(0x0a000000, 8, RT_TABLE_MAIN, 0, 1);
	struct route new = make(0x0b000000, 8, RT_TABLE_MAIN, 0, 2);

	(void)state;
	route_reader_online(0);
	assert_int_equal(route_add(&old, ROUTE_APPEND), 0);
	assert_false(routes_commit());
	assert_hop(0x0a010203, via(1));
	assert_false(routes_missed());
	assert_int_equal(route_add(&new, ROUTE_APPEND), -EAGAIN);
	assert_int_equal(route_delete(&old), -EAGAIN);
	assert_false(routes_commit());
	assert_hop(0x0a010203, via(1));
	assert_hop(0x0b010203, unreachable);
	assert_true(routes_missed());
	assert_false(routes_missed());

	route_reader_quiescent(0);
	assert_true(routes_commit());
	route_reader_offline(0);
	routes_mark();
	assert_int_equal(route_add(&new, ROUTE_APPEND), 0);
	routes_sweep();
	assert_true(routes_commit());
	assert_hop(0x0a010203, unreachable);
	assert_hop(0x0b010203, via(2));
	assert_false(routes_missed());
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(nothing_before_commit),
		TEST(metrics_and_replacement),
		TEST(tables_in_order),
		TEST(suppressed),
		TEST(dump_removes_what_is_gone),
		TEST(full),
		TEST(long_prefixes_like_their_parent),
		TEST(against_the_model),
		TEST(old_or_new_under_changes),
		TEST(a_worker_hangs),
		TEST(six),
		TEST(families_apart),
		TEST(full6),
		TEST(objects),
		TEST(objects_beyond),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
