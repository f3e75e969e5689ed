/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device failures, which this test causes in real devices, and more SAs than sessions. There are
 * no routes and no policies, so an accepted packet is dropped for that reason. */
#include <netinet/in.h>
#include <string.h>

#include <rte_cryptodev.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "crypto/failover.h"
#include "esp_fixture.h"
#include "host/route.h"
#include "path/worker/worker.h"
#include "worker_fixture.h"

#define IN	 DROP_POLICY_INBOUND
#define OUT	 DROP_NO_ROUTE
#define FAILURES 16 /* as in failover.c */
#define KEEPS \
	0x100u /* a flag beside the fixture's options: the device leaves failed packets
		      * unchanged */

static struct worker *w = &workers[0];
static struct engine_device devices[STATS_MAX_DEVICES];
static unsigned int first; /* the first device that supports the SA, which serves it */

static int start(void **state)
{
	if (esp_fixture_start(state) || routes_init(1, 64) || events_init())
		return -1;
	memcpy(devices, engine_device, sizeof(devices));
	return esp_devices < 2; /* one to fail, one to take over */
}

static int finish(void **state)
{
	routes_free();
	events_free();
	return esp_fixture_stop(state);
}

/* --- failing devices --- */

static enum fault { GOOD, REFUSING, HALF_DONE, SPOILING } fault[RTE_CRYPTO_MAX_DEVS];
static struct rte_crypto_fp_ops good[RTE_CRYPTO_MAX_DEVS];
static struct rte_crypto_op *kept[64];
static uint16_t nkept;

/* Completes packets with an error and unchanged. */
static uint16_t keep(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	(void)qp;
	for (uint16_t i = 0; i < n; i++)
		kept[nkept++] = ops[i];
	return n;
}

static uint16_t give_back(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	uint16_t given = RTE_MIN(n, nkept);

	(void)qp;
	nkept = (uint16_t)(nkept - given);
	for (uint16_t i = 0; i < given; i++) {
		ops[i] = kept[nkept + i];
		ops[i]->status = RTE_CRYPTO_OP_STATUS_ERROR;
	}
	return given;
}

/* The same, but some bytes in the middle of each packet are encrypted. */
static uint16_t spoil(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	uint16_t given = give_back(qp, ops, n);

	for (uint16_t i = 0; i < given; i++)
		for (unsigned int offset = 36; offset < 52; offset++)
			*rte_pktmbuf_mtod_offset(ops[i]->sym->m_src, uint8_t *, offset) ^= 0x5a;
	return given;
}

/* Processes packets, but completes them with an error. */
static uint16_t deny(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	uint16_t done = good[devices[first].id].dequeue_burst(qp, ops, n);

	for (uint16_t i = 0; i < done; i++)
		ops[i]->status = RTE_CRYPTO_OP_STATUS_ERROR;
	return done;
}

/* @param device  counted from the one that serves the SA
 * @param how  HALF_DONE: the first device only */
static void break_device(unsigned int device, enum fault how)
{
	uint8_t id = devices[first + device].id;

	good[id] = rte_crypto_fp_ops[id];
	fault[id] = how;
	if (how != HALF_DONE)
		rte_crypto_fp_ops[id].enqueue_burst = keep;
	rte_crypto_fp_ops[id].dequeue_burst = how == REFUSING	? give_back
					      : how == SPOILING ? spoil
								: deny;
}

static int clean(void **state)
{
	for (unsigned int d = 0; d < esp_devices; d++) {
		uint8_t id = devices[d].id;

		if (fault[id] != GOOD)
			rte_crypto_fp_ops[id] = good[id];
		fault[id] = GOOD;
	}
	engines_lost = 0;
	assert_int_equal(w->crypto.in_flight, 0);
	assert_int_equal(nkept, 0);
	/* All devices have a session. */
	memcpy(engine_device, devices, sizeof(devices));
	engine_devices = esp_devices;
	return esp_fixture_clean(state);
}

/* --- packets --- */

static void use_from(unsigned int device)
{
	first = device;
	engine_devices = esp_devices - device;
	memcpy(engine_device, devices + device, engine_devices * sizeof(devices[0]));
}

static unsigned int second; /* the device that serves the SA after the first one failed */

/* An SA that the first device serves and other devices support. */
static void add(struct esp_sa *e, unsigned int options)
{
	esp_worker(w);
	memset(w->stats, 0, sizeof(*w->stats));
	assert_true(esp_sa_add(e, &esp_algorithms[esp_algorithm_count - 1], options, 0));
	use_from(0);
	/* Packets go by queues here; calls are tested by test-taken-over.c. */
	for (unsigned int d = 0; d < engine_devices; d++) {
		engine_device[d].at_once = false;
		engine_device[d].keeps = options & KEEPS;
	}
	second = esp_device_after(0, e->sa);
}

static void pass(struct rte_mbuf *m)
{
	worker_pass(w, m);
	esp_worker_finish(w);
}

static void protect_one(const struct esp_sa *e)
{
	pass(esp_plain(e->sa, 400));
}

static void unprotect_one(const struct esp_sa *e, uint64_t seq)
{
	pass(esp_sealed(e, seq, IPPROTO_IPIP));
}

/* --- tests --- */

/* If a device keeps packets that it fails, the second device processes them. The first device is
 * then taken out. */
static void taken_over(void **state)
{
	struct esp_sa e;

	(void)state;
	add(&e, KEEPS);
	break_device(0, REFUSING);
	for (unsigned int i = 1; i <= FAILURES + 4; i++) {
		protect_one(&e);
		assert_int_equal(w->stats->drop[OUT], i);
		assert_int_equal(w->stats->device[second].encrypted, i);
		assert_int_equal(engine_lost(0), i >= FAILURES);
	}
	assert_int_equal(w->stats->device[0].failed, FAILURES);
	assert_int_equal(w->stats->encapsulated, FAILURES + 4);
	esp_sa_delete(&e);
}

/* A device that does not keep packets may have changed them. The first packet is lost, and later
 * packets of its SA go to another device. */
static void taken_over_next(void **state)
{
	struct esp_sa e;

	(void)state;
	add(&e, 0);
	break_device(0, REFUSING);
	for (unsigned int i = 0; i < FAILURES + 4; i++) {
		protect_one(&e);
		assert_int_equal(w->stats->drop[DROP_ENGINE_FAILED], 1);
		assert_int_equal(w->stats->device[second].encrypted, i);
	}
	assert_int_equal(w->stats->drop[OUT], FAILURES + 3);
	assert_int_equal(w->crypto.failover.device[0].failures,
			 1); /* because the packet may be at fault */
	esp_sa_delete(&e);
}

/* Failures of many SAs show that the device is at fault. */
static void taken_out_for_many(void **state)
{
	struct esp_sa e;

	(void)state;
	for (unsigned int i = 1; i <= FAILURES; i++) {
		add(&e, 0);
		w->crypto.failover.device[0].failures = (uint8_t)(i - 1);
		break_device(0, REFUSING);
		protect_one(&e);
		assert_int_equal(engines_lost, 0);
		protect_one(&e);
		assert_int_equal(engine_lost(0), i == FAILURES);
		esp_sa_delete(&e);
		if (i < FAILURES)
			clean(state);
	}
}

static void taken_over_inbound(void **state)
{
	struct esp_sa e;

	(void)state;
	add(&e, ESP_INBOUND);
	break_device(0, REFUSING);
	for (unsigned int i = 1; i <= FAILURES + 4; i++)
		unprotect_one(&e, i);
	assert_int_equal(w->stats->drop[IN], FAILURES + 4);
	assert_int_equal(w->stats->device[second].decrypted, FAILURES + 4);
	assert_true(engine_lost(0));
	esp_sa_delete(&e);
}

/* Encrypting twice in counter mode would send plaintext. Wherever the device has changed the
 * packet, its header and text are not read. */
static void never_twice(void **state)
{
	static const enum fault how[] = {HALF_DONE, SPOILING};

	for (unsigned int k = 0; k < RTE_DIM(how); k++) {
		for (unsigned int at_once = 0; at_once < 2; at_once++) {
			struct esp_sa e;

			add(&e, 0);
			engine_device[0].at_once = at_once;
			e.session->by_call = false;
			e.session->by_queue = at_once;
			break_device(0, how[k]);
			protect_one(&e);
			assert_int_equal(w->stats->drop[DROP_ENGINE_FAILED], 1);
			assert_int_equal(w->stats->encapsulated, 0);
			assert_int_equal(w->stats->device[second].encrypted, 0);
			esp_sa_delete(&e);
			clean(state);
		}
	}
}

static struct cygnet_sa_params ah_params(unsigned int options)
{
	struct cygnet_sa_params params;
	struct esp_peer peer;

	peer_init(&peer, &esp_algorithms[esp_algorithm_count - 1], false, 7);
	params = esp_params(&peer, options);
	params.id.proto = IPPROTO_AH;
	params.cipher = CYGNET_CIPHER_AES_GMAC;
	return params;
}

static void add_ah(struct esp_sa *e, unsigned int options)
{
	struct cygnet_sa_params params = ah_params(options);
	unsigned int device = 0;

	add(e, options);
	esp_sa_delete(e);
	/* Not each device that supports AES-GCM supports AES-GMAC. */
	while (!esp_sa_add_params(e, &params, device))
		assert_true(++device < esp_devices);
	use_from(device);
}

/* @return the length of a packet in AH */
static unsigned int ah_wire(uint64_t seq, uint8_t *wire, unsigned int room)
{
	uint8_t inner[400];
	struct rte_mbuf *m;
	struct esp_sa e;
	unsigned int len;

	add_ah(&e, 0);
	peer_packet(inner, sizeof(inner), 0, false);
	m = esp_packet(inner, sizeof(inner), RTE_PKTMBUF_HEADROOM, RTE_PKTMBUF_HEADROOM);
	assert_int_equal(esp_protect(&e, m, seq), DROP_NONE);
	len = rte_pktmbuf_data_len(m);
	assert_true(len <= room);
	memcpy(wire, rte_pktmbuf_mtod(m, const uint8_t *), len);
	rte_pktmbuf_free(m);
	esp_sa_delete(&e);
	return len;
}

/* The second device gets an AH packet as the first device got it, whatever the first one did,
 * and finds it authentic. */
static void ah_taken_over(void **state)
{
	static const enum fault how[] = {REFUSING, HALF_DONE};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(how); i++) {
		uint8_t wire[512];
		unsigned int len = ah_wire(5, wire, sizeof(wire));
		struct rte_mbuf *m = esp_packet(wire, len, RTE_PKTMBUF_HEADROOM,
						RTE_PKTMBUF_HEADROOM);
		struct packet *p = packet(m);
		struct esp_sa e;

		add_ah(&e, ESP_INBOUND);
		break_device(0, how[i]);
		p->stage = STAGE_UNPROTECT;
		p->esp = 20;
		p->seq = 5;
		p->sa = cygnet_sa_index(sadb, e.sa);
		p->generation = e.sa->generation;
		pass(m);
		assert_int_equal(w->stats->device[0].failed, 1);
		assert_int_equal(w->stats->device[1].decrypted + w->stats->device[2].decrypted, 1);
		assert_int_equal(w->stats->drop[IN], 1);
		esp_sa_delete(&e);
		clean(state);
	}
}

/* A rare failure does not count against the device. */
static void forgiven(void **state)
{
	struct esp_sa e;

	(void)state;
	add(&e, KEEPS);
	for (unsigned int i = 0; i < 3; i++) {
		break_device(0, REFUSING);
		for (unsigned int k = 1; k < FAILURES; k++)
			protect_one(&e);
		rte_crypto_fp_ops[devices[0].id] = good[devices[0].id];
		protect_one(&e);
	}
	assert_int_equal(w->stats->encapsulated, 3 * FAILURES);
	assert_false(engine_lost(0));
	esp_sa_delete(&e);
}

static void all_fail(void **state)
{
	static const unsigned int options[] = {0, KEEPS};
	struct esp_sa e;

	for (unsigned int k = 0; k < RTE_DIM(options); k++) {
		add(&e, options[k]);
		for (unsigned int d = 0; d < esp_devices; d++)
			break_device(d, REFUSING);
		for (unsigned int i = 1; i <= FAILURES + 4; i++) {
			protect_one(&e);
			assert_int_equal(w->stats->drop[DROP_ENGINE_FAILED], i);
		}
		assert_int_equal(engines_lost, 0); /* because the packets may be at fault */
		esp_sa_delete(&e);
		clean(state);
	}
}

/* Packets that wait for a device when it is given up never reached it. */
static void not_there_yet(void **state)
{
	struct esp_sa e;

	(void)state;
	add(&e, 0);
	for (unsigned int i = 0; i < 5; i++)
		worker_pass(w, esp_plain(e.sa, 400));
	engine_take_out(0);
	esp_worker_finish(w);
	assert_int_equal(w->stats->drop[OUT], 5);
	assert_int_equal(w->stats->device[0].encrypted, 0);
	assert_int_equal(w->stats->device[second].encrypted, 5);
	esp_sa_delete(&e);
}

/* What is decided depends on the devices alone: no packet is needed. */
static void next_device(void **state)
{
	static const struct {
		unsigned int devices;
		uint32_t refused, stalled;
		unsigned int expected;
	} cases[] = {
		{3, 0, 0, 0},
		{3, 1, 0, 1},
		{3, 1, 2, 2},
		{3, 5, 2, 1},
		{3, 0, 7, 0},
		{3, 1, 7, 1},
		{3, 0, 1, 1},
		{3, 4, 3, 0},
		{3, 7, 0, FAILOVER_NONE},
		{3, 7, 7, FAILOVER_NONE},
		{1, 1, 0, FAILOVER_NONE},
		{1, 0, 1, 0},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		engine_devices = cases[i].devices;
		w->crypto.failover.stalled = cases[i].stalled;
		assert_int_equal(failover_next(&w->crypto.failover, cases[i].refused),
				 cases[i].expected);
	}
	w->crypto.failover.stalled = 0;
}

static bool silent;

static uint16_t take_none(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	(void)qp, (void)ops, (void)n;
	return 0;
}

static uint16_t give_later(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	return silent ? 0 : good[devices[first].id].dequeue_burst(qp, ops, n);
}

/* While a device completes no packets, other devices get later packets of its SAs. These wait
 * for the earlier packets of their SA only. The test sets the time of the last answer: in an hour,
 * then an hour ago. */
static void stalled(void **state)
{
	const uint64_t hour = 3600 * rte_get_tsc_hz();
	uint8_t id;
	struct esp_sa e;

	(void)state;
	add(&e, 0);
	id = devices[first].id;
	good[id] = rte_crypto_fp_ops[id];
	rte_crypto_fp_ops[id].dequeue_burst = give_later;
	silent = true;
	for (unsigned int i = 0; i < 5; i++)
		worker_pass(w, esp_plain(e.sa, 400));
	w->crypto.failover.device[0].answered += hour;
	worker_poll(w);
	rte_crypto_fp_ops[id].enqueue_burst = take_none;
	for (unsigned int i = 0; i < BURST + 1; i++)
		worker_pass(w, esp_plain(e.sa, 400));
	assert_int_equal(w->crypto.pending[0], 5 + BURST + 1);
	assert_false(crypto_has_room(&w->crypto));
	w->crypto.failover.device[0].answered -= 2 * hour;
	worker_poll(w);
	assert_true(crypto_has_room(&w->crypto));
	assert_int_equal(w->crypto.pending[0], 5);
	for (unsigned int i = 0; i < 5; i++)
		worker_pass(w, esp_plain(e.sa, 400));
	for (unsigned int i = 0; i < 10; i++)
		worker_poll(w);
	assert_int_equal(w->stats->device[second].encrypted, BURST + 1 + 5);
	assert_int_equal(w->stats->encapsulated, 0);

	silent = false;
	rte_crypto_fp_ops[id].enqueue_burst = good[id].enqueue_burst;
	esp_worker_finish(w);
	rte_crypto_fp_ops[id] = good[id];
	assert_int_equal(w->stats->device[0].encrypted, 5);
	assert_int_equal(w->stats->drop[OUT], 5 + BURST + 1 + 5);
	assert_int_equal(w->crypto.failover.stalled, 0);
	protect_one(&e);
	assert_int_equal(w->stats->device[0].encrypted, 5 + 1);
	esp_sa_delete(&e);
}

/* --- sessions --- */

static struct cygnet_sa *nth(unsigned int n)
{
	struct cygnet_sa_params params;
	struct esp_sa e = {0};

	peer_init(&e.peer, &esp_algorithms[esp_algorithm_count - 1], false, (uint8_t)n);
	params = esp_params(&e.peer, 0);
	params.id.spi = htonl(ESP_SPI + n);
	assert_true(esp_sa_add_params(&e, &params, 0));
	return e.sa;
}

static enum drop_reason get(struct session_table *table, const struct cygnet_sa *sa,
			    struct session **s)
{
	clock_now++;
	return session_get(table, sa, cygnet_sa_index(sadb, sa), true, s);
}

static void least_recently_used(void **state)
{
	struct cygnet_sa *sa[3] = {nth(0), nth(1), nth(2)};
	struct session_table *table = sessions_create(16, 2, NULL, NULL);
	unsigned int others = rte_mempool_in_use_count(engine_device[0].sessions);
	struct session *s[3], *again;

	(void)state;
	assert_non_null(table);
	assert_int_equal(get(table, sa[0], &s[0]), DROP_NONE);
	assert_int_equal(get(table, sa[1], &s[1]), DROP_NONE);
	assert_int_equal(get(table, sa[0], &again), DROP_NONE);
	assert_ptr_equal(again, s[0]);
	assert_int_equal(get(table, sa[2], &s[2]), DROP_NONE);
	assert_ptr_equal(s[2], s[1]); /* in the place of the second session */
	assert_int_equal(rte_mempool_in_use_count(engine_device[0].sessions), others + 2);

	s[0]->in_flight = 1;
	assert_int_equal(get(table, sa[1], &s[1]), DROP_NONE);
	assert_ptr_equal(s[1], s[2]); /* not the first session, which has been idle for longer */
	s[1]->in_flight = 1;
	assert_int_equal(get(table, sa[2], &s[2]), DROP_NO_SESSION);
	assert_int_equal(get(table, sa[0], &again), DROP_NONE);
	s[0]->in_flight = s[1]->in_flight = 0;
	sessions_free(table);
	assert_int_equal(rte_mempool_in_use_count(engine_device[0].sessions), others);
}

static void shares(void **state)
{
	(void)state;
	assert_int_equal(sessions_of_worker(65536, 8192, 1), 8192);
	assert_int_equal(sessions_of_worker(100, 8192, 1), 100);
	assert_int_equal(sessions_of_worker(100, 8192, 3), 34);
	assert_int_equal(sessions_of_worker(1, 64, 64), 1);
}

#define TEST(name) cmocka_unit_test_teardown(name, clean)

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		TEST(taken_over),
		TEST(taken_over_inbound),
		TEST(never_twice),
		TEST(taken_over_next),
		TEST(taken_out_for_many),
		TEST(not_there_yet),
		TEST(stalled),
		TEST(forgiven),
		TEST(all_fail),
		TEST(least_recently_used),
		TEST(shares),
		TEST(ah_taken_over),
		TEST(next_device),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}
