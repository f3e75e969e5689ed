/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two crypto cores that run when the test calls them: packets and batches overtake one another.
 * There are no routes and no policies, so an accepted packet is dropped for that reason. */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_cryptodev.h>

#include "base/event.h"
#include "crypto/core.h"
#include "crypto/device/sessions.h"
#include "esp_fixture.h"
#include "host/route.h"
#include "path/worker/worker.h"
#include "worker_fixture.h"

#define IN     DROP_POLICY_INBOUND
#define OUT    DROP_NO_ROUTE
#define CORES  2u
#define WINDOW 32u
#define SOME   150u			/* packets: five batches */
#define ROOM   (8u * CRYPTO_CORE_BATCH) /* for packets at the cores */

static struct worker *w = &workers[0];
static struct engine_device devices[STATS_MAX_DEVICES];

static int start(void **state)
{
	struct conf conf;

	conf_defaults(&conf);
	conf.ncrypto_cores = esp_crypto_cores = CORES;
	if (esp_fixture_start(state) || routes_init(1, 64) || events_init())
		return -1;
	memcpy(devices, engine_device, sizeof(devices));
	esp_worker(w);
	return crypto_cores_init(&conf) || crypto_lane_init(&w->crypto) ? -1 : 0;
}

static int finish(void **state)
{
	crypto_lane_free(&w->crypto);
	crypto_cores_free();
	routes_free();
	events_free();
	return esp_fixture_stop(state);
}

/* --- a CPU device that fails calls --- */

static bool fail;

/* Replaces DPDK's function. */
uint32_t rte_cryptodev_sym_cpu_crypto_process(uint8_t id, void *session,
					      union rte_crypto_sym_ofs ofs,
					      struct rte_crypto_sym_vec *vec)
{
	static uint32_t (*process)(uint8_t, void *, union rte_crypto_sym_ofs,
				   struct rte_crypto_sym_vec *);
	void *next = dlsym(RTLD_NEXT, "rte_cryptodev_sym_cpu_crypto_process");

	memcpy(&process, &next, sizeof(process));
	for (uint32_t i = 0; fail && i < vec->num; i++)
		vec->status[i] = EINVAL;
	return fail ? 0 : process(id, session, ofs, vec);
}

/* --- a device whose queues of crypto cores accept no packets --- */

static struct rte_crypto_fp_ops good;
static uint8_t hooked;

static bool is_workers(const void *qp)
{
	return qp == good.qp.data[0];
}

static uint16_t enqueue(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	return is_workers(qp) ? good.enqueue_burst(qp, ops, n) : 0;
}

static void hook(const struct esp_sa *e)
{
	hooked = engine_device[e->session->device].id;
	good = rte_crypto_fp_ops[hooked];
	rte_crypto_fp_ops[hooked].enqueue_burst = enqueue;
}

static void unhook(void)
{
	rte_crypto_fp_ops[hooked] = good;
}

/* --- packets --- */

static struct rte_mbuf *sealed(const struct esp_sa *e, uint64_t seq)
{
	struct rte_mbuf *m = esp_sealed(e, seq, IPPROTO_IPIP);

	packet(m)->handed = 1;
	return m;
}

static void receive(const struct esp_sa *e, uint64_t first, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		worker_pass(w, sealed(e, first + i));
}

static void turns(void)
{
	for (unsigned int i = 0; i < 100; i++) {
		worker_poll(w);
		crypto_core_turn(i % CORES);
	}
	worker_poll(w);
}

/* An SA served by that device, with a small replay window. */
static bool add(struct esp_sa *e, const struct esp_algorithm *algorithm, unsigned int options,
		unsigned int device)
{
	struct cygnet_sa_params params;

	*e = (struct esp_sa){.options = options};
	memset(w->stats, 0, sizeof(*w->stats));
	peer_init(&e->peer, algorithm, false, 3);
	params = esp_params(&e->peer, options);
	params.replay_window = options & ESP_INBOUND ? WINDOW : 0;
	return esp_sa_add_params(e, &params, device) && engine_device[0].at_once;
}

static const struct esp_algorithm *cbc(void)
{
	return &esp_algorithms[0];
}
static const struct esp_algorithm *gcm(void)
{
	return &esp_algorithms[esp_algorithm_count - 1];
}

/* On the first device that crypto cores have as well. */
static void add_any(struct esp_sa *e, const struct esp_algorithm *algorithm, unsigned int options)
{
	for (unsigned int d = 0; d < esp_devices; d++) {
		if (add(e, algorithm, options, d))
			return;
		if (e->session)
			esp_sa_delete(e);
	}
	fail_msg("no such device");
}

/* An SA that another device could serve too. */
static void add_second(const struct esp_sa *e)
{
	void *crypto = NULL;

	engine_devices = 2;
	for (unsigned int d = 0; d < esp_devices && !crypto; d++) {
		engine_device[1] = devices[d];
		if (devices[d].id != engine_device[0].id)
			session_crypto(e->sa, 1, &crypto);
	}
	assert_non_null(crypto);
	rte_cryptodev_sym_session_free(engine_device[1].id, crypto);
}

/* --- tests --- */

static void none_lost(struct esp_sa *e)
{
	receive(e, 1, SOME);
	turns();
	assert_int_equal(w->stats->drop[IN], SOME);
	assert_int_equal(w->stats->crypto_cores, SOME);
	assert_int_equal(w->stats->device[0].decrypted, SOME);
	assert_int_equal(e->sa->packets, SOME);
	assert_int_equal(e->session->in_flight, 0);
	assert_int_equal(w->crypto.in_flight, 0);
}

/* Each algorithm, by call or by queue as a core processes it. */
static void every_algorithm(void **state)
{
	struct esp_sa e;

	(void)state;
	for (unsigned int i = 0; i < esp_algorithm_count; i++) {
		add_any(&e, &esp_algorithms[i], ESP_INBOUND);
		none_lost(&e);
		esp_sa_delete(&e);
	}
}

/* With VAES a worker encrypts AES-GCM itself in less time than the transfer to a crypto core takes,
 * unless a crypto core has earlier packets of the SA. */
static void quick(void **state)
{
	bool here = rte_cpu_get_flag_enabled(RTE_CPUFLAG_VAES) > 0;
	struct rte_mbuf *m;
	struct esp_sa e;

	(void)state;
	add_any(&e, gcm(), 0);
	worker_pass(w, esp_plain(e.sa, 40));
	turns();
	assert_int_equal(w->stats->crypto_cores, !here);
	m = esp_plain(e.sa, 40);
	packet(m)->handed = 1;
	worker_pass(w, m);
	worker_pass(w, esp_plain(e.sa, 40));
	turns();
	assert_int_equal(w->stats->crypto_cores, !here + 2);
	assert_int_equal(w->stats->encapsulated, 3);
	esp_sa_delete(&e);
}

/* The batch sent first is completed last. Later packets wait for it, and none leaves a replay
 * window smaller than the number of packets that overtook. */
static void overtaken(void **state)
{
	struct crypto_lane *lane = &w->crypto.lane;
	struct crypto_batch *first = &lane->batch[lane->oldest & (lane->size - 1)];
	struct crypto_core_load before, after;
	struct esp_sa e;

	(void)state;
	add_any(&e, cbc(), ESP_INBOUND);
	receive(&e, 1, SOME);
	assert_true(crypto_core_load(1, &before));
	assert_false(crypto_core_load(CORES, &before));
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(crypto_core_turn(i), 1);
	assert_true(crypto_core_load(1, &after));
	assert_int_equal(after.batches, before.batches + 1);
	assert_true(after.busy_cycles > before.busy_cycles);
	first->done = false;
	turns();
	assert_int_equal(w->stats->drop[IN], 0);
	assert_int_equal(e.sa->seq, 0);
	first->done = true;
	turns();
	assert_int_equal(w->stats->drop[IN], SOME);
	assert_int_equal(w->stats->drop[DROP_REPLAY], 0);
	esp_sa_delete(&e);
}

/* When crypto cores are busy the worker processes further packets itself. These packets wait for
 * those at the cores. */
static void more_than_they_can(const struct esp_algorithm *algorithm)
{
	struct esp_sa e;

	add_any(&e, algorithm, ESP_INBOUND);
	receive(&e, 1, ROOM + 40);
	worker_poll(w);
	worker_poll(w);
	assert_int_equal(w->stats->drop[IN], 0);
	turns();
	assert_int_equal(w->stats->drop[IN], ROOM + 40);
	assert_int_equal(w->stats->drop[DROP_REPLAY], 0);
	assert_int_equal(w->stats->crypto_cores, ROOM);
	esp_sa_delete(&e);
}

static void too_much(void **state)
{
	(void)state;
	more_than_they_can(cbc());
	more_than_they_can(gcm());
}

static void one_forged(const struct esp_algorithm *algorithm)
{
	struct rte_mbuf *m;
	struct esp_sa e;

	add_any(&e, algorithm, ESP_INBOUND);
	receive(&e, 1, 10);
	m = sealed(&e, 1000);
	*rte_pktmbuf_mtod_offset(m, uint8_t *, rte_pktmbuf_data_len(m) - 1) ^= 1;
	worker_pass(w, m);
	receive(&e, 11, 10);
	worker_pass(w, sealed(&e, 12));
	turns();
	assert_int_equal(w->stats->drop[IN], 20);
	assert_int_equal(w->stats->drop[DROP_AUTH_FAILED], 1);
	assert_int_equal(w->stats->drop[DROP_REPLAY], 1);
	assert_int_equal(e.sa->seq, 20);
	esp_sa_delete(&e);
}

static void forged(void **state)
{
	(void)state;
	one_forged(cbc());
	one_forged(gcm());
}

/* A packet that a core fails to encrypt is lost. The worker's queue gets the next packets, with
 * failover to other devices. */
static void failing(void **state)
{
	struct esp_sa e;

	(void)state;
	add_any(&e, cbc(), 0);
	fail = true;
	worker_pass(w, esp_plain(e.sa, 40));
	turns();
	assert_int_equal(w->stats->drop[DROP_ENGINE_FAILED], 1);
	assert_int_equal(w->stats->device[0].failed, 1);
	assert_int_equal(w->stats->crypto_cores, 1);
	fail = false;
	worker_pass(w, esp_plain(e.sa, 40));
	turns();
	assert_int_equal(w->stats->drop[OUT], 1);
	assert_int_equal(w->stats->crypto_cores, 1);
	esp_sa_delete(&e);
}

/* A failed packet is not encrypted again by another device, because the core may have encrypted
 * it. */
static void never_twice(void **state)
{
	struct esp_sa e;

	(void)state;
	add_any(&e, cbc(), 0);
	add_second(&e);
	fail = true;
	worker_pass(w, esp_plain(e.sa, 40));
	turns();
	fail = false;
	assert_int_equal(w->stats->drop[DROP_ENGINE_FAILED], 1);
	assert_int_equal(w->stats->encapsulated, 0);
	assert_int_equal(w->stats->device[1].encrypted, 0);
	worker_pass(w, esp_plain(e.sa, 40));
	turns();
	assert_int_equal(w->stats->encapsulated, 1);
	assert_int_equal(w->stats->device[1].encrypted, 1);
	assert_int_equal(w->crypto.failover.device[0].failures, 1);
	w->crypto.failover.device[0].failures = 0;
	esp_sa_delete(&e);
}

/* A packet that a device's queue does not accept from a core is processed by another device. */
static void queue_takes_nothing(void **state)
{
	struct esp_sa e;

	(void)state;
	add_any(&e, cbc(), ESP_INBOUND);
	add_second(&e);
	e.session->by_call = false;
	hook(&e);
	receive(&e, 1, 20);
	turns();
	unhook();
	assert_true(engine_lost(0));
	assert_int_equal(w->stats->drop[IN], 20);
	assert_int_equal(w->stats->drop[DROP_REPLAY], 0);
	assert_int_equal(w->stats->device[1].decrypted, 20);
	assert_int_equal(e.session->in_flight, 0);
	engines_lost = 0;
	esp_sa_delete(&e);
}

/* A session is not released while a core has packets of it. */
static void sa_gone(void **state)
{
	struct esp_sa e;

	(void)state;
	add_any(&e, cbc(), ESP_INBOUND);
	receive(&e, 1, 20);
	worker_poll(w);
	esp_sa_delete(&e);
	assert_int_equal(e.session->in_flight, 20);
	turns();
	assert_int_equal(w->stats->drop[DROP_SA_GONE], 20);
	assert_int_equal(e.session->in_flight, 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, esp_fixture_clean)

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		TEST(every_algorithm), TEST(quick),   TEST(overtaken),
		TEST(too_much),	       TEST(forged),  TEST(failing),
		TEST(never_twice),     TEST(sa_gone), TEST(queue_takes_nothing),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}
