/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Policies with an SA for each CPU (RFC 9611): which SA a worker sends with, and when charon is asked for its own one. */
#include <arpa/inet.h>

#include "base/acquire.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/sadb.h"
#include "path/sa_wait.h"
#include "sa_wait_fixture.h"

static struct worker *w = &workers[0];

static struct cygnet_policy_params per_cpu(const struct cygnet_sa *sa)
{
	struct cygnet_policy_params policy = waiting_policy(sa);

	policy.per_cpu = 1;
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	return policy;
}

/* An SA for a CPU, beside another SA. */
static void add_own(struct esp_sa *own, const struct esp_sa *beside, uint32_t cpu)
{
	struct cygnet_sa_params params = esp_params(&beside->peer, 0);

	*own = *beside;
	params.id.spi = htonl(ESP_SPI + 1);
	params.flags |= cygnet_sa_cpu_flags(cpu);
	esp_sa_any_params(own, &params);
}

/* @return number of acquires, all of them for the worker's CPU */
static unsigned int asked_for_cpu(void)
{
	struct cygnet_event event;
	unsigned int n = 0;

	events_post();
	for (; cygnet_event_wait(sadb, &event, 0) == 0; n++) {
		assert_int_equal(event.reqid, WAITING_REQID);
		waiting_assert_flow(&event.flow, &waiting_sent);
		assert_int_equal(event.cpu, w->id + 1);
	}
	return n;
}

/* The acquires of other tests are over. */
static void forget_acquires(void)
{
	clock_now += ACQUIRE_CPU_SECONDS;
}

static void send_now(void)
{
	uint64_t before = w->stats->encapsulated;

	waiting_send_one();
	esp_worker_finish(w);
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(w->stats->encapsulated, before + 1);
}

/* Without an SA of its own a worker sends with that for all CPUs at once. It asks for its own SA once. */
static void own_sa_is_asked_for(void **state)
{
	struct esp_sa all;

	(void)state;
	forget_acquires();
	esp_sa_any(&all, &esp_algorithms[0], 0);
	per_cpu(all.sa);
	for (unsigned int i = 0; i < 3; i++)
		send_now();
	assert_int_equal(asked_for_cpu(), 1);
	clock_now += ACQUIRE_CPU_SECONDS - 1;
	send_now();
	assert_int_equal(asked_for_cpu(), 0);
	clock_now++;
	send_now();
	assert_int_equal(asked_for_cpu(), 1);
	assert_int_equal(all.sa->seq, 5);
	esp_sa_delete(&all);
}

/* The own SA is used when it comes, and asked for again at once when it goes. */
static void own_sa_comes_and_goes(void **state)
{
	struct cygnet_policy_params policy;
	struct esp_sa all, own;

	(void)state;
	forget_acquires();
	esp_sa_any(&all, &esp_algorithms[0], 0);
	per_cpu(all.sa);
	send_now();
	assert_int_equal(asked_for_cpu(), 1);
	add_own(&own, &all, 5);
	policy = per_cpu(own.sa);
	send_now();
	assert_int_equal(own.sa->seq, 1);
	assert_int_equal(all.sa->seq, 1);
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	esp_sa_delete(&own);
	send_now();
	assert_int_equal(all.sa->seq, 2);
	assert_int_equal(asked_for_cpu(), 1);
	esp_sa_delete(&all);
}

/* The event queue is full: the next packet asks. */
static void own_sa_when_there_is_room(void **state)
{
	const struct cygnet_event another = {.type = CYGNET_EVENT_ACQUIRE, .reqid = 77};
	struct cygnet_event event;
	struct esp_sa all;

	(void)state;
	forget_acquires();
	esp_sa_any(&all, &esp_algorithms[0], 0);
	per_cpu(all.sa);
	while (event_raise(&another))
		;
	send_now();
	for (events_post(); cygnet_event_wait(sadb, &event, 0) == 0; events_post())
		assert_int_equal(event.reqid, 77);
	send_now();
	assert_int_equal(asked_for_cpu(), 1);
	esp_sa_delete(&all);
}

/* With no SA at all packets wait, and charon is asked for one for all CPUs. */
static void first_sa_per_cpu(void **state)
{
	struct esp_sa all;

	(void)state;
	esp_sa_any(&all, &esp_algorithms[0], 0);
	per_cpu(all.sa);
	esp_sa_delete(&all);
	waiting_send_one();
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(waiting_acquires(), 1);
}

/* The worker with the SA of another one asks for that for all CPUs, as a trap does. Acquires for several CPUs do not keep each
 * other from being raised. */
static void asked_for_each_cpu(void **state)
{
	struct cygnet_policy *policy;
	struct cygnet_event event;

	(void)state;
	forget_acquires();
	waiting_trap();
	policy = cygnet_spd_lookup(sadb, CYGNET_OUT, &waiting_sent);
	for (int cpu = CYGNET_CPU_ANY; cpu < 4; cpu++) {
		assert_true(acquire_raise_cpu(policy, &waiting_sent, cpu));
		assert_false(acquire_raise_cpu(policy, &waiting_sent, cpu));
		events_post();
		assert_int_equal(cygnet_event_wait(sadb, &event, 0), 0);
		assert_int_equal(event.cpu, cpu + 1);
		assert_int_not_equal(cygnet_event_wait(sadb, &event, 0), 0);
	}
	assert_false(acquire_raise(policy, &waiting_sent, 1));
	acquire_answered(policy, &waiting_sent, 2);
	assert_false(acquire_raise_cpu(policy, &waiting_sent, 1));
	assert_true(acquire_raise_cpu(policy, &waiting_sent, 2));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_teardown(name, waiting_clean)
	const struct CMUnitTest tests[] = {
		TEST(own_sa_is_asked_for),	 TEST(own_sa_comes_and_goes),
		TEST(own_sa_when_there_is_room), TEST(first_sa_per_cpu),
		TEST(asked_for_each_cpu),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	clock_now = 1000;
	return cmocka_run_group_tests_name("sa-per-cpu", tests, waiting_start, waiting_stop);
}
