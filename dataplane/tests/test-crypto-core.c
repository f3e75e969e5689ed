/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two crypto cores, which take their turns when the test says so: what overtakes what. There are no
 * routes and no policies: a packet that gets through is dropped for that. */
#include <netinet/in.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_cryptodev.h>

#include "base/event.h"
#include "crypto/device/sessions.h"
#include "esp_fixture.h"
#include "path/pipeline.h"

#define IN DROP_POLICY_INBOUND
#define OUT DROP_NO_ROUTE
#define CORES 2u
#define WINDOW 32u
#define SOME 150u /* packets: five batches */
#define ROOM (8u * CRYPTO_BATCH) /* for packets at the cores */

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
	return crypto_cores_init(&conf);
}

static int stop(void **state)
{
	crypto_cores_free();
	routes_free();
	events_free();
	return esp_fixture_stop(state);
}

/* --- a driver that holds back what one core has given it --- */

static struct rte_crypto_fp_ops good;
static uint8_t held_device;
static bool fail;
static void *held;

static uint16_t dequeue(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	n = qp == held ? 0 : good.dequeue_burst(qp, ops, n);
	for (uint16_t i = 0; fail && i < n; i++)
		ops[i]->status = RTE_CRYPTO_OP_STATUS_ERROR;
	return n;
}

static void hook(const struct esp_sa *e)
{
	held_device = engine_device[e->session->device].id;
	good = rte_crypto_fp_ops[held_device];
	rte_crypto_fp_ops[held_device].dequeue_burst = dequeue;
}

static void unhook(void)
{
	held = NULL;
	fail = false;
	rte_crypto_fp_ops[held_device] = good;
}

/* Queue pair 0 is the worker's. */
static void hold_core(unsigned int core)
{
	held = good.qp.data[1 + core];
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
		protect(w, sealed(e, first + i));
}

static void turns(void)
{
	for (unsigned int i = 0; i < 100; i++) {
		crypt_poll(w);
		crypto_core_turn(i % CORES);
	}
	crypt_poll(w);
}

/* An SA served by that device, whose packets come in with a small window. */
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

static const struct esp_algorithm *cbc(void) { return &esp_algorithms[0]; }
static const struct esp_algorithm *gcm(void) { return &esp_algorithms[esp_algorithm_count - 1]; }

/* On the first device that the cores have, too. */
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

/* That another device could serve it as well. */
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
	assert_int_equal(w->in_flight, 0);
}

/* Each algorithm, in whichever way a core does it. */
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

/* AES-GCM takes less with VAES than to have another core do it, unless that has some before it. */
static void quick(void **state)
{
	bool here = rte_cpu_get_flag_enabled(RTE_CPUFLAG_VAES) > 0;
	struct rte_mbuf *m;
	struct esp_sa e;

	(void)state;
	add_any(&e, gcm(), 0);
	protect(w, esp_plain(e.sa, 40));
	turns();
	assert_int_equal(w->stats->crypto_cores, !here);
	m = esp_plain(e.sa, 40);
	packet(m)->handed = 1;
	protect(w, m);
	protect(w, esp_plain(e.sa, 40));
	turns();
	assert_int_equal(w->stats->crypto_cores, !here + 2);
	assert_int_equal(w->stats->encapsulated, 3);
	esp_sa_delete(&e);
}

/* What the second core has done waits for what the first one has not: nothing falls out of
 * a window that is smaller than what overtook it. */
static void overtaken(void **state)
{
	struct esp_sa e;

	(void)state;
	add_any(&e, cbc(), ESP_INBOUND);
	hook(&e);
	hold_core(0);
	receive(&e, 1, SOME);
	turns();
	assert_int_equal(w->stats->drop[IN], 0);
	assert_int_equal(e.sa->seq, 0);
	held = NULL;
	turns();
	assert_int_equal(w->stats->drop[IN], SOME);
	assert_int_equal(w->stats->drop[DROP_REPLAY], 0);
	unhook();
	esp_sa_delete(&e);
}

/* Cores that have enough to do: the worker does the rest itself, and it waits for theirs. */
static void more_than_they_can(const struct esp_algorithm *algorithm)
{
	struct esp_sa e;

	add_any(&e, algorithm, ESP_INBOUND);
	receive(&e, 1, ROOM + 40);
	crypt_poll(w);
	crypt_poll(w);
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
	protect(w, m);
	receive(&e, 11, 10);
	protect(w, sealed(&e, 12));
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

/* What a core fails to encrypt is lost; what comes next the worker's own queue has, with which other
 * devices take over. */
static void failing(void **state)
{
	struct esp_sa e;

	(void)state;
	add_any(&e, cbc(), 0);
	hook(&e);
	fail = true;
	protect(w, esp_plain(e.sa, 40));
	turns();
	assert_int_equal(w->stats->drop[DROP_ENGINE_FAILED], 1);
	assert_int_equal(w->stats->device[0].failed, 1);
	assert_int_equal(w->stats->crypto_cores, 1);
	unhook();
	protect(w, esp_plain(e.sa, 40));
	turns();
	assert_int_equal(w->stats->drop[OUT], 1);
	assert_int_equal(w->stats->crypto_cores, 1);
	esp_sa_delete(&e);
}

/* Nor is it encrypted again where another device could: the core may have done it. */
static void never_twice(void **state)
{
	struct esp_sa e;

	(void)state;
	add_any(&e, cbc(), 0);
	add_second(&e);
	hook(&e);
	fail = true;
	protect(w, esp_plain(e.sa, 40));
	turns();
	unhook();
	assert_int_equal(w->stats->drop[DROP_ENGINE_FAILED], 1);
	assert_int_equal(w->stats->encapsulated, 0);
	assert_int_equal(w->stats->device[1].encrypted, 0);
	protect(w, esp_plain(e.sa, 40));
	turns();
	assert_int_equal(w->stats->encapsulated, 1);
	assert_int_equal(w->stats->device[1].encrypted, 1);
	assert_int_equal(w->failures[0], 1);
	w->failures[0] = 0;
	esp_sa_delete(&e);
}

/* A session is not given up while a core has packets of it. */
static void sa_gone(void **state)
{
	struct esp_sa e;

	(void)state;
	add_any(&e, cbc(), ESP_INBOUND);
	receive(&e, 1, 20);
	crypt_poll(w);
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
		TEST(every_algorithm), TEST(quick), TEST(overtaken), TEST(too_much),
		TEST(forged),	       TEST(failing),	TEST(never_twice),
		TEST(sa_gone),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, stop);
}
