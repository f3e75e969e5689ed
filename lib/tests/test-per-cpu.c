/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of several SAs with one selector a worker uses (RFC 9611). */
#include "layout.h"
#include "policy_fixture.h"

#define WORKERS	 4u
#define FALLBACK 0x1000u

/* The policy of an SA. */
static struct cygnet_policy_params policy_of(uint32_t spi)
{
	struct cygnet_policy_params p = policy(selector("10.1.0.0", 16, "10.2.0.0", 16), 1000,
					       CYGNET_PROTECT);

	p.spi = htonl(spi);
	p.src = addr4("192.0.2.2");
	p.per_cpu = 1;
	return p;
}

static void add_sa(struct fixture *f, uint32_t spi, int cpu)
{
	struct cygnet_sa_params sa = sa_params(spi, false);

	if (cpu != CYGNET_CPU_ANY)
		sa.flags |= cygnet_sa_cpu_flags((uint32_t)cpu);
	assert_int_equal(cygnet_sa_add(f->db, &sa), 0);
}

static void delete_sa(struct fixture *f, uint32_t spi)
{
	const struct cygnet_sa_params sa = sa_params(spi, false);

	assert_int_equal(cygnet_sa_delete(f->db, &sa.id), 0);
}

static void add_params(struct fixture *f, const struct cygnet_policy_params *p, int cpu)
{
	add_sa(f, ntohl(p->spi), cpu);
	assert_int_equal(cygnet_policy_add(f->db, p), 0);
}

static void add(struct fixture *f, uint32_t spi, int cpu)
{
	struct cygnet_policy_params p = policy_of(spi);

	add_params(f, &p, cpu);
}

/* As charon does it: the SA goes last. */
static void remove_sa(struct fixture *f, uint32_t spi)
{
	struct cygnet_policy_params p = policy_of(spi);

	assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	delete_sa(f, spi);
}

static struct cygnet_policy *applies(struct fixture *f)
{
	const struct cygnet_flow flow = flow4("10.1.2.3", "10.2.3.4", IPPROTO_UDP, 1, 2);
	struct cygnet_policy *policy = cygnet_spd_lookup(f->db, CYGNET_OUT, &flow);

	assert_non_null(policy);
	return policy;
}

/* @return the SPI of a worker's SA, or 0 */
static uint32_t sa_of(struct fixture *f, uint32_t worker, int *wants)
{
	const struct cygnet_sa *sa;

	sa = cygnet_policy_sa_for(f->db, applies(f), worker, WORKERS, wants);
	return sa ? ntohl(sa->spi) : 0;
}

static void expect(struct fixture *f, uint32_t worker, uint32_t spi, int wants)
{
	int wanted = 77;

	assert_int_equal(sa_of(f, worker, &wanted), spi);
	assert_int_equal(wanted, wants);
}

static void cpu_of_an_sa(void **state)
{
	static const int cpus[] = {0, 1, 255, CYGNET_CPU_MAX, CYGNET_CPU_ANY};
	struct fixture *f = *state;

	for (uint32_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		struct cygnet_sa copy;

		add_sa(f, FALLBACK + i, cpus[i]);
		assert_true(cygnet_sa_snapshot(f->db, i, &copy));
		assert_int_equal(cygnet_sa_cpu(&copy), cpus[i]);
		assert_false(copy.flags & CYGNET_SA_INBOUND);
	}
}

/* Each worker has its own SA, otherwise that for all CPUs, otherwise that of another worker. */
static void own_before_others(void **state)
{
	struct fixture *f = *state;

	add(f, FALLBACK, CYGNET_CPU_ANY);
	for (uint32_t worker = 0; worker < WORKERS; worker++)
		expect(f, worker, FALLBACK, (int)worker);
	add(f, 0x2001, 1);
	add(f, 0x2002, 2 + 3 * WORKERS); /* the peer has more CPUs */
	expect(f, 0, FALLBACK, 0);
	expect(f, 1, 0x2001, CYGNET_WANTS_NOTHING);
	expect(f, 2, 0x2002, CYGNET_WANTS_NOTHING);
	expect(f, 3, FALLBACK, 3);
	expect(f, CYGNET_NONE, FALLBACK, CYGNET_WANTS_NOTHING);
	remove_sa(f, FALLBACK);
	expect(f, 1, 0x2001, CYGNET_WANTS_NOTHING);
	expect(f, 3, 0x2002, CYGNET_CPU_ANY); /* the newest */
	expect(f, CYGNET_NONE, 0x2002, CYGNET_WANTS_NOTHING);
	remove_sa(f, 0x2002);
	expect(f, 2, 0x2001, CYGNET_CPU_ANY);
	/* The policy without SA stays: the packet waits for one. */
	delete_sa(f, 0x2001);
	expect(f, 1, 0, CYGNET_WANTS_NOTHING);
	expect(f, 3, 0, CYGNET_WANTS_NOTHING);
}

/* With one worker, each SA is its own. */
static void one_worker(void **state)
{
	struct fixture *f = *state;
	int wants;

	add(f, FALLBACK, CYGNET_CPU_ANY);
	assert_int_equal(cygnet_policy_sa_for(f->db, applies(f), 0, 1, &wants)->spi,
			 htonl(FALLBACK));
	assert_int_equal(wants, 0);
	add(f, 0x2003, 3);
	assert_int_equal(cygnet_policy_sa_for(f->db, applies(f), 0, 1, &wants)->spi, htonl(0x2003));
	assert_int_equal(wants, CYGNET_WANTS_NOTHING);
}

/* Before the old SA goes, the new one is used. */
static void rekeyed(void **state)
{
	struct fixture *f = *state;

	add(f, FALLBACK, CYGNET_CPU_ANY);
	add(f, 0x2001, 1);
	add(f, 0x2101, 1);
	expect(f, 1, 0x2101, CYGNET_WANTS_NOTHING);
	add(f, FALLBACK + 1, CYGNET_CPU_ANY);
	expect(f, 0, FALLBACK + 1, 0);
	remove_sa(f, FALLBACK);
	remove_sa(f, 0x2001);
	expect(f, 0, FALLBACK + 1, 0);
	expect(f, 1, 0x2101, CYGNET_WANTS_NOTHING);
	remove_sa(f, 0x2101);
	expect(f, 1, FALLBACK + 1, 1);
}

/* The SA of another peer, of another CHILD_SA, or of one that is not per CPU, is not used, nor that of a trap. */
static void only_siblings(void **state)
{
	struct cygnet_policy_params other[6];
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 6; i++)
		other[i] = policy_of(0x3000 + i);
	other[0].src = addr4("192.0.2.77");
	other[1].reqid = 77;
	other[2].mode = CYGNET_TRANSPORT;
	other[3].per_cpu = 0;
	other[4].rank = 1;
	other[5].priority = 1001;
	for (unsigned int i = 0; i < 6; i++)
		add_params(f, &other[i], 1);
	add(f, FALLBACK, CYGNET_CPU_ANY);
	expect(f, 1, FALLBACK, 1);
	expect(f, 0, FALLBACK, 0);
	add(f, 0x2001, 1);
	expect(f, 1, 0x2001, CYGNET_WANTS_NOTHING);
}

/* A policy that is not per CPU has its own SA, whatever the CPU. */
static void not_per_cpu(void **state)
{
	struct cygnet_policy_params p = policy_of(FALLBACK);
	struct fixture *f = *state;

	add(f, 0x2001, 1);
	p.per_cpu = 0;
	add_params(f, &p, 2);
	expect(f, 1, FALLBACK, CYGNET_WANTS_NOTHING);
	expect(f, 2, FALLBACK, CYGNET_WANTS_NOTHING);
	delete_sa(f, FALLBACK);
	expect(f, 1, 0, CYGNET_WANTS_NOTHING);
}

/* What is installed is read back, as the plugin compares it. */
static void read_back(void **state)
{
	struct cygnet_policy_params p = policy_of(FALLBACK);
	struct cygnet_policy_entry entry;
	struct fixture *f = *state;

	for (p.per_cpu = 0; p.per_cpu <= 1; p.per_cpu++) {
		assert_int_equal(cygnet_policy_add(f->db, &p), 0);
		assert_int_equal(cygnet_policy_entry(f->db, CYGNET_OUT, &p.sel, &entry), 0);
		assert_memory_equal(&entry.first, &p, sizeof(p));
		assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	}
}

/* A library that does not know the mark leaves it in the slot, where the next policy has another generation. */
static void mark_of_an_earlier_policy(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy *policy;

	add(f, FALLBACK, CYGNET_CPU_ANY);
	policy = applies(f);
	assert_true(cygnet_policy_per_cpu(policy));
	policy->generation++;
	assert_false(cygnet_policy_per_cpu(policy));
	expect(f, 1, FALLBACK, CYGNET_WANTS_NOTHING);
}

/* A policy that is held has no SA, and nothing is wanted for it. */
static void held(void **state)
{
	struct fixture *f = *state;

	add(f, FALLBACK, CYGNET_CPU_ANY);
	add(f, 0x2001, 1);
	assert_int_equal(cygnet_db_hold(f->db), 0);
	assert_true(cygnet_policy_held(applies(f)));
	expect(f, 1, 0, CYGNET_WANTS_NOTHING);
}

/* Whether the changes since a value of cygnet_db_changes() concern the flow of applies(). */
static bool concerned(struct fixture *f, uint64_t since)
{
	const struct cygnet_flow flow = flow4("10.1.2.3", "10.2.3.4", IPPROTO_UDP, 1, 2);
	uint16_t changed[CYGNET_SCOPES], of_flow[CYGNET_FLOW_SCOPES];
	unsigned int n = cygnet_db_changed(f->db, since, cygnet_db_changes(f->db), changed);

	cygnet_flow_scopes(f->db, flow.af, &flow.src, &flow.dst, of_flow);
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < CYGNET_FLOW_SCOPES; k++)
			if (changed[i] == of_flow[k])
				return true;
	return false;
}

/* Known flows are looked up again when an SA beside theirs comes or goes. */
static void users_have_a_scope(void **state)
{
	struct cygnet_policy_params older = policy_of(0x2001);
	struct fixture *f = *state;
	uint64_t before;

	add(f, 0x2001, 1);
	add(f, FALLBACK, CYGNET_CPU_ANY);
	assert_int_equal(ntohl(applies(f)->spi), FALLBACK);
	/* Behind the first one: it gets an SA again. */
	delete_sa(f, 0x2001);
	add_sa(f, 0x2001, 1);
	before = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_policy_add(f->db, &older), 0);
	assert_true(concerned(f, before));
	assert_int_equal(cygnet_policy_delete(f->db, &older), 0);
	before = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_policy_delete(f->db, &older), 0);
	assert_true(concerned(f, before));
	/* A policy of a lower rank goes behind, too. */
	older.rank = 1;
	before = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_policy_add(f->db, &older), 0);
	assert_true(concerned(f, before));
	delete_sa(f, 0x2001);
}

/* A peer may negotiate more SAs than are looked at: then a worker's own may not be found, but another one is. */
static void many(void **state)
{
	struct fixture *f = *state;

	add(f, 0x2001, 1);
	add(f, FALLBACK, CYGNET_CPU_ANY);
	for (uint32_t i = 0; i < 254; i++)
		add(f, 0x3000 + i, 2);
	expect(f, 1, 0x2001, CYGNET_WANTS_NOTHING);
	add(f, 0x4000, 2);
	expect(f, 1, FALLBACK, 1);
	add(f, 0x4001, 2);
	expect(f, 1, 0x4001, CYGNET_CPU_ANY);
	expect(f, 2, 0x4001, CYGNET_WANTS_NOTHING);
}

/* The list of a damaged file is a loop, or leads nowhere. */
static void damaged_list(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy *first, *user;

	add(f, FALLBACK, CYGNET_CPU_ANY);
	add(f, 0x2001, 1);
	first = applies(f);
	user = &f->db->policies[first->user - 1];
	for (uint32_t ref = 1; ref; ref *= 3) {
		user->user = ref;
		expect(f, 3, FALLBACK, 3);
		expect(f, 1, 0x2001, CYGNET_WANTS_NOTHING);
		if (ref > UINT32_MAX / 3)
			break;
	}
	user->user = cygnet_policy_index(f->db, first) + 1;
	expect(f, 3, FALLBACK, 3);
	user->user = 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cpu_of_an_sa),  TEST(own_before_others),
		TEST(one_worker),    TEST(rekeyed),
		TEST(only_siblings), TEST(not_per_cpu),
		TEST(read_back),     TEST(mark_of_an_earlier_policy),
		TEST(held),	     TEST(users_have_a_scope),
		TEST(many),	     TEST(damaged_list),
	};

	return cmocka_run_group_tests_name("per-cpu", tests, NULL, NULL);
}
