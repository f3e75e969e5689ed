/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fixture.h"

static struct cygnet_policy_params policy(struct cygnet_selector sel, uint32_t priority,
					  enum cygnet_action action)
{
	return (struct cygnet_policy_params){
		.sel = sel,
		.priority = priority,
		.reqid = 1,
		.dir = CYGNET_OUT,
		.action = (uint8_t)action,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
		.dst = addr4("192.0.2.1"),
	};
}

static void priorities(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params wide = policy(selector("10.0.0.0", 8, "0.0.0.0", 0), 2000,
						  CYGNET_PROTECT);
	struct cygnet_policy_params narrow = policy(selector("10.1.0.0", 16, "0.0.0.0", 0), 1000,
						    CYGNET_PROTECT);
	struct cygnet_policy_params shunt = policy(selector("10.1.2.0", 24, "10.0.0.0", 8), 100,
						   CYGNET_BYPASS);
	struct cygnet_flow flow = flow4("10.1.2.3", "8.8.8.8", 17, 1, 2);
	struct cygnet_flow local = flow4("10.1.2.3", "10.9.9.9", 17, 1, 2);

	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	assert_int_equal(cygnet_policy_add(f->db, &wide), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->priority, 2000);
	assert_int_equal(cygnet_policy_add(f->db, &narrow), 0);
	assert_int_equal(cygnet_policy_add(f->db, &shunt), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->priority, 1000);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &local)->action, CYGNET_BYPASS);
	assert_null(cygnet_spd_lookup(f->db, CYGNET_IN, &flow));
	assert_int_equal(cygnet_policy_delete(f->db, &narrow), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->priority, 2000);
	assert_int_equal(cygnet_policy_delete(f->db, &wide), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &wide), -ENOENT);
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
}

static void rekey_installs_twice(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params sa1 = sa_params(0x1000, false), sa2 = sa_params(0x2000, false);
	struct cygnet_policy_params old = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
						 CYGNET_PROTECT);
	struct cygnet_policy_params new = old;
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1, 2);
	struct cygnet_policy *found;

	assert_int_equal(cygnet_sa_add(f->db, &sa1), 0);
	assert_int_equal(cygnet_sa_add(f->db, &sa2), 0);
	old.spi = sa1.id.spi;
	new.spi = sa2.id.spi;
	assert_int_equal(cygnet_policy_add(f->db, &old), 0);
	assert_int_equal(cygnet_policy_add(f->db, &old), 0); /* the second install */
	found = cygnet_spd_lookup(f->db, CYGNET_OUT, &flow);
	assert_int_equal(cygnet_policy_sa(f->db, found)->spi, sa1.id.spi);
	assert_int_equal(cygnet_policy_add(f->db, &new), 0);
	found = cygnet_spd_lookup(f->db, CYGNET_OUT, &flow);
	assert_int_equal(cygnet_policy_sa(f->db, found)->spi, sa2.id.spi);
	assert_int_equal(cygnet_policy_delete(f->db, &new), 0);
	found = cygnet_spd_lookup(f->db, CYGNET_OUT, &flow);
	assert_int_equal(cygnet_policy_sa(f->db, found)->spi, sa1.id.spi);
	assert_int_equal(cygnet_policy_delete(f->db, &old), 0);
	found = cygnet_spd_lookup(f->db, CYGNET_OUT, &flow);
	assert_non_null(found);
	assert_int_equal(cygnet_sa_delete(f->db, &sa1.id), 0);
	assert_null(cygnet_policy_sa(f->db, found)); /* its SA has been deleted */
	assert_int_equal(cygnet_policy_delete(f->db, &old), 0);
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
}

/* Two peers' inbound policies can be equal but for their end points; a policy is deleted also by other ones. */
static void ends_of_inbound(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params one = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
						 CYGNET_PROTECT);
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1, 2);
	struct cygnet_policy_params two, moved;
	struct cygnet_policy *found;

	one.dir = CYGNET_FWD;
	one.src = addr4("192.0.2.2");
	two = moved = one;
	two.src = addr4("192.0.2.3");
	moved.src = addr4("192.0.2.4");
	assert_int_equal(cygnet_policy_add(f->db, &one), 0);
	assert_int_equal(cygnet_policy_add(f->db, &two), 0);
	found = cygnet_spd_lookup(f->db, CYGNET_FWD, &flow);
	assert_memory_equal(&found->src, &two.src, sizeof(two.src));
	assert_int_equal(cygnet_policy_delete(f->db, &two), 0);
	found = cygnet_spd_lookup(f->db, CYGNET_FWD, &flow);
	assert_memory_equal(&found->src, &one.src, sizeof(one.src));
	assert_int_equal(cygnet_policy_delete(f->db, &moved), 0);
	assert_null(cygnet_spd_lookup(f->db, CYGNET_FWD, &flow));
}

/* The counters change whenever a cached result of a lookup may be outdated. */
static void changes_are_counted(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params sa = sa_params(0x1000, false);
	struct cygnet_policy_params p = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
					       CYGNET_PROTECT);
	uint64_t before = cygnet_spd_changes(f->db), after, all;
	struct cygnet_path moved;

	p.spi = sa.id.spi;
	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	after = cygnet_spd_changes(f->db);
	assert_true(after > before);
	/* Installed again, now with an SA. */
	assert_int_equal(cygnet_sa_add(f->db, &sa), 0);
	assert_int_equal(cygnet_spd_changes(f->db), after);
	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	assert_true(cygnet_spd_changes(f->db) > after);
	after = cygnet_spd_changes(f->db);
	/* Moving or deleting an SA does not change the SPD, but the databases. */
	all = cygnet_db_changes(f->db);
	moved = sa.path;
	moved.dport = 4500;
	assert_int_equal(cygnet_sa_update(f->db, &sa.id, &moved, 0), 0);
	assert_true(cygnet_db_changes(f->db) > all);
	all = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_sa_delete(f->db, &sa.id), 0);
	assert_true(cygnet_db_changes(f->db) > all);
	assert_int_equal(cygnet_spd_changes(f->db), after);
	all = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	assert_true(cygnet_spd_changes(f->db) > after);
	assert_true(cygnet_db_changes(f->db) > all);
	after = cygnet_spd_changes(f->db);
	assert_int_equal(cygnet_db_flush(f->db), 0);
	assert_true(cygnet_spd_changes(f->db) > after);
}

static void ports_and_protocols(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params p = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
					       CYGNET_PROTECT);
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1000, 80);

	p.sel.proto = 6;
	p.sel.dport_lo = 80;
	p.sel.dport_hi = 89;
	assert_false(cygnet_spd_uses_ports(f->db, CYGNET_OUT, AF_INET));
	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	assert_true(cygnet_spd_uses_ports(f->db, CYGNET_OUT, AF_INET));
	assert_false(cygnet_spd_uses_ports(f->db, CYGNET_FWD, AF_INET));
	assert_non_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	flow.dport = 90;
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	flow.dport = 89;
	flow.proto = 17;
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	flow.proto = 6;
	flow.has_ports = 0;
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	flow.has_ports = 1;
	flow.interface = 7;
	assert_non_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
}

static void equal_priorities(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params sa = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 42,
						CYGNET_PROTECT);
	struct cygnet_policy_params trap = sa, newer = sa;
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1000, 80);

	sa.spi = newer.spi = 7;
	newer.reqid = sa.reqid + 1;
	trap.rank = 1;
	assert_int_equal(cygnet_policy_add(f->db, &sa), 0);
	assert_int_equal(cygnet_policy_add(f->db, &trap), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->spi, 7);
	assert_int_equal(cygnet_policy_add(f->db, &newer), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->reqid, newer.reqid);
	assert_int_equal(cygnet_policy_delete(f->db, &newer), 0);
	/* A policy with another rank is another policy. */
	sa.rank = 2;
	assert_int_equal(cygnet_policy_delete(f->db, &sa), -ENOENT);
	sa.rank = 0;
	assert_int_equal(cygnet_policy_delete(f->db, &sa), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->rank, 1);
}

static void interfaces(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params any = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
						 CYGNET_BYPASS);
	struct cygnet_policy_params bound = any;
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1000, 80);

	bound.sel.interface = cygnet_interface("wan");
	bound.priority = 998;
	bound.action = CYGNET_DISCARD;
	assert_int_equal(cygnet_policy_add(f->db, &any), 0);
	assert_false(cygnet_spd_binds(f->db));
	assert_int_equal(cygnet_policy_add(f->db, &bound), 0);
	assert_true(cygnet_spd_binds(f->db));
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->action, CYGNET_BYPASS);
	flow.interface = cygnet_interface("lan");
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->action, CYGNET_BYPASS);
	flow.interface = cygnet_interface("wan");
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->action, CYGNET_DISCARD);
	assert_int_equal(cygnet_policy_delete(f->db, &any), 0);
	flow.interface = 0;
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
}

static void invalid_params(void **state)
{
	struct fixture *f = *state;
	const struct cygnet_policy_params good = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1,
							CYGNET_PROTECT);
	struct cygnet_policy_params p;

#define BAD(field, value)                                                                          \
	p = good;                                                                                  \
	p.field = (value);                                                                         \
	assert_int_equal(cygnet_policy_add(f->db, &p), -EINVAL)
	BAD(dir, CYGNET_DIRS);
	BAD(action, CYGNET_DISCARD + 1);
	BAD(proto, IPPROTO_TCP);
	BAD(sel.af, 0);
	BAD(sel.sport_lo, 1 + (p.sel.sport_hi = 5));
	BAD(sel.src_hi.v4, 0);
	BAD(sel.src_lo.words[1], 1);
#undef BAD
}

/* An oracle: all policies in an array, searched one by one. */
#define ORACLE_POLICIES 400
static struct {
	struct cygnet_policy_params p;
	unsigned int order;
	bool installed;
} oracle[ORACLE_POLICIES];

static bool between(const struct cygnet_addr *lo, const struct cygnet_addr *x,
		    const struct cygnet_addr *hi)
{
	return memcmp(lo, x, sizeof(*x)) <= 0 && memcmp(x, hi, sizeof(*x)) <= 0;
}

static bool port_in(uint16_t lo, uint16_t hi, uint16_t port, bool known)
{
	return (!lo && hi == UINT16_MAX) || (known && port >= lo && port <= hi);
}

static bool oracle_wins(int a, int b)
{
	const struct cygnet_policy_params *p = &oracle[a].p, *q = &oracle[b].p;

	if (p->priority != q->priority)
		return p->priority < q->priority;
	if (p->rank != q->rank)
		return p->rank < q->rank;
	return oracle[a].order > oracle[b].order;
}

static int oracle_lookup(enum cygnet_dir dir, const struct cygnet_flow *flow)
{
	int best = -1;

	for (int i = 0; i < ORACLE_POLICIES; i++) {
		const struct cygnet_policy_params *p = &oracle[i].p;

		if (!oracle[i].installed || p->dir != dir || p->sel.af != flow->af ||
		    (p->sel.proto && p->sel.proto != flow->proto) ||
		    (p->sel.interface && p->sel.interface != flow->interface) ||
		    !between(&p->sel.src_lo, &flow->src, &p->sel.src_hi) ||
		    !between(&p->sel.dst_lo, &flow->dst, &p->sel.dst_hi) ||
		    !port_in(p->sel.sport_lo, p->sel.sport_hi, flow->sport, flow->has_ports) ||
		    !port_in(p->sel.dport_lo, p->sel.dport_hi, flow->dport, flow->has_ports))
			continue;
		if (best < 0 || oracle_wins(i, best))
			best = i;
	}
	return best;
}

/* Few distinct values, so that policies overlap. */
static struct cygnet_addr random_addr(uint8_t af)
{
	struct cygnet_addr addr = {0};
	unsigned int bytes = af == AF_INET ? 4 : 16;

	for (unsigned int i = 0; i < bytes; i++)
		addr.bytes[i] = (uint8_t)(i < bytes - 2 ? rand() % 2 : rand() % 256);
	return addr;
}

static void random_range(uint8_t af, struct cygnet_addr *lo, struct cygnet_addr *hi)
{
	unsigned int bits = (unsigned int)rand() % (af == AF_INET ? 33 : 129);

	*lo = random_addr(af);
	*hi = rand() % 4 ? *lo : random_addr(af);
	if (memcmp(lo, hi, sizeof(*lo)) > 0) {
		struct cygnet_addr swap = *lo;

		*lo = *hi;
		*hi = swap;
	} else if (!memcmp(lo, hi, sizeof(*lo))) {
		for (unsigned int bit = bits; bit < (af == AF_INET ? 32u : 128u); bit++) {
			lo->bytes[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);
			hi->bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
		}
	}
}

static void random_ports(uint16_t *lo, uint16_t *hi)
{
	*lo = 0;
	*hi = UINT16_MAX;
	if (rand() % 2)
		return;
	*lo = (uint16_t)(rand() % 4);
	*hi = (uint16_t)(*lo + (rand() % 2 ? 0 : rand() % 3));
}

static void random_policy(struct cygnet_policy_params *p)
{
	uint8_t af = rand() % 2 ? AF_INET : AF_INET6;

	memset(p, 0, sizeof(*p));
	p->sel.af = af;
	random_range(af, &p->sel.src_lo, &p->sel.src_hi);
	random_range(af, &p->sel.dst_lo, &p->sel.dst_hi);
	p->sel.proto = rand() % 2 ? 0 : rand() % 2 ? 6 : 17;
	random_ports(&p->sel.sport_lo, &p->sel.sport_hi);
	random_ports(&p->sel.dport_lo, &p->sel.dport_hi);
	p->sel.interface = rand() % 8 ? 0 : 2;
	p->priority = (uint32_t)(rand() % 25);
	p->rank = (uint32_t)(rand() % 2);
	p->reqid = (uint32_t)rand();
	p->dir = (uint8_t)(rand() % CYGNET_DIRS);
	p->action = (uint8_t)(rand() % 3);
	p->proto = IPPROTO_ESP;
}

static struct cygnet_flow random_flow(void)
{
	uint8_t af = rand() % 2 ? AF_INET : AF_INET6;

	return (struct cygnet_flow){
		.src = random_addr(af),
		.dst = random_addr(af),
		.sport = (uint16_t)(rand() % 6),
		.dport = (uint16_t)(rand() % 6),
		.interface = (uint32_t)(rand() % 3),
		.af = af,
		.proto = rand() % 2 ? 6 : 17,
		.has_ports = rand() % 8 != 0,
	};
}

static void against_oracle(void **state)
{
	struct fixture *f = *state;
	unsigned int order = 0, hits = 0;

	srand(1);
	for (int round = 0; round < 4000; round++) {
		int i = rand() % ORACLE_POLICIES;

		if (oracle[i].installed) {
			assert_int_equal(cygnet_policy_delete(f->db, &oracle[i].p), 0);
		} else {
			random_policy(&oracle[i].p);
			oracle[i].order = ++order;
			assert_int_equal(cygnet_policy_add(f->db, &oracle[i].p), 0);
		}
		oracle[i].installed = !oracle[i].installed;
		for (int j = 0; j < 25; j++) {
			struct cygnet_flow flow = random_flow();
			enum cygnet_dir dir = (enum cygnet_dir)(rand() % CYGNET_DIRS);
			struct cygnet_policy *got = cygnet_spd_lookup(f->db, dir, &flow);
			int want = oracle_lookup(dir, &flow);

			if ((want < 0) != !got || (got && got->reqid != oracle[want].p.reqid))
				fail_msg("round %d, flow %d: not the policy of the oracle",
					 round, j);
			hits += want >= 0;
		}
	}
	assert_in_range(hits, 10000, 90000); /* many flows match and many do not */
}

static void common_bits(void **state)
{
	struct cygnet_addr lo = {0}, hi = {0};

	(void)state;
	lo.bytes[15] = 1;
	hi.bytes[15] = 2;
	assert_int_equal(cygnet_addr_common(AF_INET6, &lo, &hi), 126);
	assert_int_equal(cygnet_addr_common(AF_INET6, &lo, &lo), 128);
	assert_int_equal(cygnet_addr_common(AF_INET, &lo, &hi), 32);
	hi.bytes[0] = 0x80;
	assert_int_equal(cygnet_addr_common(AF_INET6, &lo, &hi), 0);
	lo.bytes[0] = 0x81;
	assert_int_equal(cygnet_addr_common(AF_INET, &lo, &hi), 7);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(priorities),
		TEST(rekey_installs_twice),
		TEST(ends_of_inbound),
		TEST(changes_are_counted),
		TEST(ports_and_protocols),
		TEST(equal_priorities),
		TEST(interfaces),
		TEST(invalid_params),
		TEST(against_oracle),
		TEST(common_bits),
	};

	return cmocka_run_group_tests_name("spd", tests, NULL, NULL);
}
