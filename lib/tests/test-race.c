/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers and writers at the same time, as threads of one process; under
 * ThreadSanitizer by testing/tsan. All fields of an entry are computed from its
 * number, so that a reader can check them.
 *
 * The environment variable RACE_SECONDS is the length of a test (1 second).
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "fixture.h"
#include "layout.h"

#define NUMBERS	   200u
#define WRITERS	   2u
#define READERS	   2u
#define PATIENCE_S 30u

/* A snapshot races by design: it copies and then checks whether the copy is valid. ThreadSanitizer
 * ignores what this thread reads; a suppression would miss reports whose stack it has lost. */
#ifdef __SANITIZE_THREAD__
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#else
#define AnnotateIgnoreReadsBegin(file, line)
#define AnnotateIgnoreReadsEnd(file, line)
#endif

static struct cygnet_db *db;
static bool stopping;
static unsigned long found_sas, found_policies, snapshots, events, replacements;

static bool ended(void)
{
	return __atomic_load_n(&stopping, __ATOMIC_RELAXED);
}

static void count(unsigned long *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static unsigned int seconds(void)
{
	const char *text = getenv("RACE_SECONDS");

	return text ? (unsigned int)atoi(text) : 1;
}

/* Run the threads for seconds(). If a counter is still 0 because threads got no CPU time, wait for
 * up to PATIENCE_S more seconds. */
static void let_run(unsigned long *const *counters, unsigned int n)
{
	sleep(seconds());
	for (unsigned int i = 0, s = 0; i < n && s < PATIENCE_S;) {
		if (__atomic_load_n(counters[i], __ATOMIC_RELAXED))
			i++;
		else
			s += !sleep(1);
	}
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
}

/* cmocka's assertions are for one thread only. */
static void require(bool condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "test-race: %s\n", what);
		abort();
	}
}

static uint32_t rnd(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % n;
}

static struct cygnet_sa_params numbered_sa(uint32_t n)
{
	struct cygnet_sa_params p = sa_params(0x1000 + n, n & 1);

	p.reqid = n;
	p.replay_window = n & 1 ? (n & 2 ? 4096 : 64) : 0;
	if (n % 4 == 0)
		p.flags |= cygnet_sa_cpu_flags(n / 4);
	memset(p.cipher_key, (int)n, sizeof(p.cipher_key));
	memset(p.auth_key, (int)~n, sizeof(p.auth_key));
	return p;
}

static void check_sa(const struct cygnet_sa *sa)
{
	struct cygnet_sa_params p = numbered_sa(ntohl(sa->spi) - 0x1000);

	require(sa->reqid == p.reqid && sa->flags == p.flags &&
			sa->replay_window == p.replay_window,
		"an SA has the fields of another SA");
	require(!memcmp(sa->cipher_key, p.cipher_key, sizeof(p.cipher_key)) &&
			!memcmp(sa->auth_key, p.auth_key, sizeof(p.auth_key)),
		"an SA has the keys of another SA");
}

/* Destination of the SAs that have moved to IPv6. */
static const struct cygnet_addr far = {.bytes = {0x20, 1, 0xd, 0xb8, [15] = 1}};

/* Source address, family and destination are computed from the port, see check_path(). */
static struct cygnet_path other_path(const struct cygnet_path *path, uint32_t n)
{
	struct cygnet_path other = *path;

	other.src.v4 = htonl(n);
	other.sport = (uint16_t)n;
	if (n & 1) {
		other.af = AF_INET6;
		other.dst = far;
	}
	return other;
}

static void check_path(const struct cygnet_path *path)
{
	bool v6 = path->sport & 1;

	require(path->sport == 0 || path->src.v4 == htonl(path->sport), "a path is torn");
	require(path->af == (v6 ? AF_INET6 : AF_INET) && !memcmp(&path->dst, &far, 16) == v6,
		"a path mixes two families");
}

static struct cygnet_policy_params numbered_policy(uint32_t n)
{
	struct cygnet_policy_params p = {
		.sel = selector("10.0.0.0", n % 2 ? 24 : 32, "10.0.0.0", 8),
		.priority = n % 5,
		.reqid = n,
		.spi = htonl(0x1000 + n % NUMBERS / 2 * 2),
		.dir = CYGNET_OUT,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
		.per_cpu = n % 3 == 0,
		.dst = addr4("192.0.2.1"),
	};
	uint32_t net = htonl(n % 16 << 8);

	p.sel.src_lo.v4 |= net;
	p.sel.src_hi.v4 |= net;
	return p;
}

static void *writer(void *arg)
{
	uint32_t random = (uint32_t)(uintptr_t)arg;

	while (!ended()) {
		uint32_t n = rnd(&random, NUMBERS);
		struct cygnet_sa_params p = numbered_sa(n);
		struct cygnet_policy_params policy = numbered_policy(n);
		struct cygnet_path path = other_path(&p.path, 1 + rnd(&random, 1000));
		struct cygnet_sa_usage usage;
		struct cygnet_sa_id id = p.id;

		if (rnd(&random, 2)) {
			id.af = AF_INET6;
			id.dst = far;
		}
		switch (rnd(&random, 7)) {
		case 0:
			cygnet_sa_add(db, &p);
			break;
		case 1:
			cygnet_sa_delete(db, &id);
			break;
		case 2:
			cygnet_policy_add(db, &policy);
			break;
		case 3:
			cygnet_policy_delete(db, &policy);
			break;
		case 4:
			cygnet_sa_update(db, &id, &path, 0);
			break;
		case 5:
			cygnet_sa_query(db, &id, &usage);
			break;
		default:
			cygnet_db_reclaim(db);
		}
	}
	return NULL;
}

static void read_once(uint32_t *random)
{
	struct cygnet_flow flow = flow4("10.0.0.0", "10.1.1.1", 6, 1, 2);
	bool v6 = rnd(random, 2);
	struct cygnet_addr dst = v6 ? far : addr4("192.0.2.1");
	struct cygnet_policy *policy;
	struct cygnet_sa *sa;
	int wants;

	sa = cygnet_sad_lookup(db, htonl(0x1000 + rnd(random, NUMBERS)), IPPROTO_ESP,
			       v6 ? AF_INET6 : AF_INET, &dst);
	if (sa) {
		check_sa(sa);
		check_path(cygnet_sa_path(sa));
		count(&found_sas);
	}
	flow.src.v4 |= htonl(rnd(random, 16) << 8);
	policy = cygnet_spd_lookup(db, CYGNET_OUT, &flow);
	if (!policy)
		return;
	require(policy->priority == policy->reqid % 5, "a policy has the fields of another policy");
	count(&found_policies);
	sa = cygnet_policy_sa_for(db, policy, rnd(random, 2), 2, &wants);
	if (sa)
		check_sa(sa);
}

static void *reader(void *arg)
{
	unsigned int id = (unsigned int)(uintptr_t)arg;
	uint32_t random = id;

	require(!cygnet_reader_online(db, id), "cannot be a reader");
	while (!ended()) {
		for (int i = 0; i < 8; i++)
			read_once(&random);
		cygnet_reader_quiescent(db, id);
		if (!rnd(&random, 1000)) {
			cygnet_reader_offline(db, id);
			cygnet_reader_online(db, id);
		}
	}
	cygnet_reader_offline(db, id);
	return NULL;
}

/* Takes snapshots without being a registered reader. */
static void *onlooker(void *arg)
{
	struct cygnet_policy policy;
	struct cygnet_sa sa;

	(void)arg;
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	while (!ended()) {
		for (uint32_t i = 0; i < 1024; i++) {
			if (cygnet_sa_snapshot(db, i, &sa) && sa.state == CYGNET_SLOT_LIVE) {
				require(sa.reqid == ntohl(sa.spi) - 0x1000 && !sa.cipher_key[0],
					"a snapshot is torn");
				check_path(cygnet_sa_path(&sa));
				count(&snapshots);
			}
			if (cygnet_policy_snapshot(db, i, &policy))
				require(policy.priority == policy.reqid % 5,
					"a snapshot of a policy is torn");
		}
	}
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	return NULL;
}

static void *producer(void *arg)
{
	struct cygnet_event event = {.type = CYGNET_EVENT_ACQUIRE};

	(void)arg;
	while (!ended()) {
		event.reqid++;
		event.new_port = (uint16_t)event.reqid;
		while (cygnet_event_post(db, &event) && !ended())
			;
	}
	cygnet_event_wake(db);
	return NULL;
}

static void *consumer(void *arg)
{
	struct cygnet_event event;
	uint32_t last = 0;

	(void)arg;
	while (cygnet_event_wait(db, &event, -1) == 0) {
		require(event.reqid == last + 1 && event.new_port == (uint16_t)event.reqid,
			"an event is torn or out of order");
		last = event.reqid;
		count(&events);
	}
	return NULL;
}

static void readers_beside_writers(void **state)
{
	static void *(*const run[])(void *) = {onlooker, producer, consumer};
	static unsigned long *const counters[] = {&found_sas, &found_policies, &snapshots, &events};
	struct fixture *f = *state;
	pthread_t thread[WRITERS + READERS + 3];
	unsigned int n = 0;

	db = f->db;
	stopping = false;
	found_policies = 0;
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_DATAPLANE), 0);
	for (uintptr_t i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&thread[n++], NULL, writer, (void *)(i + 1)), 0);
	for (uintptr_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&thread[n++], NULL, reader, (void *)i), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[n++], NULL, run[i], NULL), 0);
	let_run(counters, 4);
	while (n)
		pthread_join(thread[--n], NULL);
	printf("%lu SAs and %lu policies found, %lu snapshots, %lu events\n", found_sas,
	       found_policies, snapshots, events);
	assert_true(found_sas && found_policies && snapshots && events);
}

/* Policies of one hash chain: source ranges 10.0.0.0 to .2 and 10.0.0.0 to .3 have the same
 * prefix. */
static struct cygnet_policy_params chained(uint8_t last, uint32_t priority, uint32_t reqid)
{
	struct cygnet_policy_params p = {
		.sel = selector("10.0.0.0", 32, "10.0.0.0", 8),
		.priority = priority,
		.reqid = reqid,
		.dir = CYGNET_OUT,
		.action = CYGNET_DISCARD,
	};

	p.sel.src_hi.v4 |= htonl(last);
	return p;
}

/* Two policies for the same flow, of which one is replaced by the other in turn: at any time at least one of them
 * is installed. A third one comes and goes with each turn. */
struct turns {
	struct cygnet_policy_params one, two, third;
};

/* Slots become free when the readers have reported quiescent states. */
static void install(const struct cygnet_policy_params *p)
{
	while (cygnet_policy_add(db, p))
		sched_yield();
}

static void *replacer(void *arg)
{
	const struct turns *turns = arg;

	for (bool one = false; !ended(); one = !one) {
		install(one ? &turns->one : &turns->two);
		if (one)
			install(&turns->third);
		require(!cygnet_policy_delete(db, one ? &turns->two : &turns->one),
			"the replaced policy is missing");
		if (one)
			require(!cygnet_policy_delete(db, &turns->third),
				"the third policy is missing");
		count(&replacements);
	}
	return NULL;
}

static void *seeker(void *arg)
{
	const struct cygnet_flow flow = flow4("10.0.0.3", "10.1.1.1", 6, 1, 2);
	unsigned int id = (unsigned int)(uintptr_t)arg;

	require(!cygnet_reader_online(db, id), "cannot be a reader");
	while (!ended()) {
		const struct cygnet_policy *policy = cygnet_spd_lookup(db, CYGNET_OUT, &flow);

		require(policy && policy->reqid == 1, "a policy was missed");
		cygnet_reader_quiescent(db, id);
		count(&found_policies);
	}
	cygnet_reader_offline(db, id);
	return NULL;
}

static void no_miss(void **state, struct turns *turns)
{
	static unsigned long *const counters[] = {&found_policies, &replacements};
	struct fixture *f = *state;
	pthread_t thread[READERS + 1];

	db = f->db;
	stopping = false;
	found_policies = replacements = 0;
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_DATAPLANE), 0);
	assert_int_equal(cygnet_policy_add(db, &turns->one), 0);
	for (uintptr_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, seeker, (void *)i), 0);
	assert_int_equal(pthread_create(&thread[READERS], NULL, replacer, turns), 0);
	let_run(counters, 2);
	for (unsigned int i = 0; i < READERS + 1; i++)
		pthread_join(thread[i], NULL);
	printf("%lu policies found, %lu replaced\n", found_policies, replacements);
	assert_true(found_policies && replacements);
}

/* Rekeying replaces a policy by another user of its entry, which moves in its chain. */
static void no_miss_in_entry(void **state)
{
	struct turns turns = {chained(3, 3, 1), chained(3, 1, 1), chained(2, 2, 2)};

	no_miss(state, &turns);
}

/* Policies of two places, with other prefix lengths on both sides and another priority. */
static void no_miss_between_places(void **state)
{
	struct turns turns = {chained(255, 3, 1), chained(3, 1, 1), chained(3, 2, 2)};

	turns.two.sel.dst_lo = addr4("10.1.0.0");
	turns.two.sel.dst_hi = addr4("10.1.255.255");
	/* In the net of the first policy, and with another length than both. */
	turns.third.sel.src_lo = turns.third.sel.src_hi = addr4("10.9.9.9");
	no_miss(state, &turns);
}

/* The policy of an SA for CPU 1, or of the SA for all. */
static struct cygnet_policy_params sibling(uint32_t spi)
{
	struct cygnet_policy_params p = chained(3, 1, 1);

	p.action = CYGNET_PROTECT;
	p.proto = IPPROTO_ESP;
	p.spi = htonl(spi);
	p.af = AF_INET;
	p.per_cpu = 1;
	p.dst = addr4("192.0.2.1");
	return p;
}

static void add_sibling(uint32_t spi, uint32_t flags)
{
	const struct cygnet_policy_params p = sibling(spi);
	struct cygnet_sa_params sa = sa_params(spi, false);

	sa.flags = flags;
	while (cygnet_sa_add(db, &sa))
		sched_yield();
	install(&p);
}

static void delete_sibling(uint32_t spi)
{
	const struct cygnet_policy_params p = sibling(spi);
	const struct cygnet_sa_params sa = sa_params(spi, false);

	require(!cygnet_policy_delete(db, &p) && !cygnet_sa_delete(db, &sa.id), "cannot delete");
}

/* The SA for CPU 1 comes, gets behind one for all, and goes; 0x1000 stays. */
static void *rekeyer(void *arg)
{
	(void)arg;
	for (; !ended(); count(&replacements)) {
		add_sibling(0x2000, cygnet_sa_cpu_flags(1));
		add_sibling(0x1001, 0);
		delete_sibling(0x2000);
		delete_sibling(0x1001);
	}
	return NULL;
}

static void *worker(void *arg)
{
	const struct cygnet_flow flow = flow4("10.0.0.3", "10.1.1.1", 6, 1, 2);
	unsigned int id = (unsigned int)(uintptr_t)arg;

	require(!cygnet_reader_online(db, id), "cannot be a reader");
	while (!ended()) {
		const struct cygnet_policy *policy = cygnet_spd_lookup(db, CYGNET_OUT, &flow);
		const struct cygnet_sa *sa;
		int wants;

		require(policy, "a policy was missed");
		sa = cygnet_policy_sa_for(db, policy, 1, 2, &wants);
		require(sa, "an SA was missed");
		if (cygnet_sa_cpu(sa) == 1) {
			require(wants == CYGNET_WANTS_NOTHING, "an SA is wanted that was found");
			count(&found_sas);
		} else {
			require(cygnet_sa_cpu(sa) == CYGNET_CPU_ANY && wants == 1,
				"another SA than that for all");
			count(&found_policies);
		}
		cygnet_reader_quiescent(db, id);
	}
	cygnet_reader_offline(db, id);
	return NULL;
}

/* A worker that looks for its own SA while that comes and goes finds it, or one for all. */
static void siblings_beside_rekeying(void **state)
{
	static unsigned long *const counters[] = {&found_sas, &found_policies, &replacements};
	struct fixture *f = *state;
	pthread_t thread[READERS + 1];

	db = f->db;
	stopping = false;
	found_sas = found_policies = replacements = 0;
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_DATAPLANE), 0);
	add_sibling(0x1000, 0);
	for (uintptr_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, worker, (void *)i), 0);
	assert_int_equal(pthread_create(&thread[READERS], NULL, rekeyer, NULL), 0);
	let_run(counters, 3);
	for (unsigned int i = 0; i < READERS + 1; i++)
		pthread_join(thread[i], NULL);
	printf("%lu own SAs and %lu for all found, %lu rekeyed\n", found_sas, found_policies,
	       replacements);
	assert_true(found_sas && found_policies && replacements);
}

static void *miscounter(void *arg)
{
	(void)arg;
	while (!ended())
		__atomic_fetch_add(&db->header->spd_changes, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* A lookup that never sees a consistent state, here because a damaged count changes all the time, drops its packet. */
static void closed_without_consistent_state(void **state)
{
	const struct cygnet_policy_params bypass = chained(3, 1, 1);
	const struct cygnet_flow flow = flow4("10.0.0.3", "10.1.1.1", 6, 1, 2);
	struct cygnet_policy *policy;
	struct fixture *f = *state;
	time_t end = time(NULL) + PATIENCE_S;
	pthread_t thread;

	db = f->db;
	stopping = false;
	assert_int_equal(cygnet_policy_add(db, &bypass), 0);
	/* A chain in which a lookup takes longer than a change. */
	for (uint16_t i = 0; i < 1000; i++) {
		struct cygnet_policy_params other = chained(3, 0, 2);

		other.sel.sport_lo = other.sel.sport_hi = (uint16_t)(1000 + i);
		assert_int_equal(cygnet_policy_add(db, &other), 0);
	}
	assert_int_equal(pthread_create(&thread, NULL, miscounter, NULL), 0);
	do
		policy = cygnet_spd_lookup(db, CYGNET_OUT, &flow);
	while (cygnet_policy_index(db, policy) != CYGNET_NONE && time(NULL) < end);
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_int_equal(cygnet_policy_index(db, policy), CYGNET_NONE);
	assert_true(cygnet_policy_held(policy));
	assert_int_equal(policy->action, CYGNET_DISCARD);
	assert_null(cygnet_policy_sa(db, policy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_miss_in_entry, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(no_miss_between_places, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(siblings_beside_rekeying, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(closed_without_consistent_state, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(readers_beside_writers, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests_name("race", tests, NULL, NULL);
}
