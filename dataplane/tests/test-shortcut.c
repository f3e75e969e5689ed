/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fast path and packets processed by calls: sessions that are released meanwhile, devices
 * that fail. There are no routes, so a protected packet is dropped for that reason. Whole
 * gateways are tested by testing/packet. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_cryptodev.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "esp_fixture.h"
#include "host/interface.h"
#include "host/route.h"
#include "path/fast/sa_route.h"
#include "path/sa_session.h"
#include "path/worker/worker.h"
#include "worker_fixture.h"

#define OUT	 DROP_NO_ROUTE
#define SESSIONS 2u
#define LENGTH	 100u
#define FULL	 CRYPTO_BATCH

static struct worker *w = &workers[0];
static struct esp_sa in;
static struct cygnet_sa *out[2];

/* --- a CPU device that can be made to fail calls --- */

static bool failing;
static uint32_t (*process)(uint8_t, void *, union rte_crypto_sym_ofs, struct rte_crypto_sym_vec *);

/* Replaces DPDK's function. */
uint32_t rte_cryptodev_sym_cpu_crypto_process(uint8_t dev_id, void *sess,
					      union rte_crypto_sym_ofs ofs,
					      struct rte_crypto_sym_vec *vec)
{
	if (!failing)
		return process(dev_id, sess, ofs, vec);
	for (uint32_t i = 0; i < vec->num; i++)
		vec->status[i] = EINVAL;
	return 0;
}

static int start(void **state)
{
	void *next = dlsym(RTLD_NEXT, "rte_cryptodev_sym_cpu_crypto_process");

	memcpy(&process, &next, sizeof(process));
	ninterfaces = 1;
	interfaces[0].forwards = true;
	interfaces[0].mtu = 1500;
	interface_device(&interfaces[0])->queues = 1;
	interface_set_mac(&interfaces[0], &(struct rte_ether_addr){{2, 0, 0, 0, 0, 1}});
	return !process || esp_fixture_start(state) || routes_init(1, 64) || events_init();
}

static int finish(void **state)
{
	routes_free();
	events_free();
	return esp_fixture_stop(state);
}

/* --- two outbound SAs, one inbound SA, and sessions for two --- */

#define SPI(n) htonl(0x1000u + (n))

static struct cygnet_sa *add_out(unsigned int n)
{
	struct esp_peer peer;
	struct cygnet_sa_params params;
	struct cygnet_sa *sa = NULL;

	peer_init(&peer, &esp_algorithms[esp_algorithm_count - 1], 0, (uint8_t)(100 + n));
	params = esp_params(&peer, 0);
	params.id.spi = SPI(n);
	assert_int_equal(cygnet_sa_add(sadb, &params), 0);
	for (uint32_t i = 0; !sa || sa->spi != SPI(n); i++) {
		sa = cygnet_sa_at(sadb, i);
		assert_non_null(sa);
	}
	return sa;
}

/* A policy for all packets. */
static void add_policy(enum cygnet_dir dir, const struct cygnet_sa *sa)
{
	struct cygnet_policy_params policy = {
		.sel = {.sport_hi = UINT16_MAX, .dport_hi = UINT16_MAX, .af = AF_INET},
		.reqid = 1,
		.spi = sa->spi,
		.dst = cygnet_sa_path(sa)->dst,
		.dir = (uint8_t)dir,
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
		.mode = CYGNET_TUNNEL,
		.af = AF_INET,
	};

	policy.sel.src_hi.v4 = UINT32_MAX;
	policy.sel.dst_hi.v4 = UINT32_MAX;
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
}

/* Decrypted packets leave by the second outbound SA. */
static int setup(void **state)
{
	(void)state;
	esp_worker(w);
	memset(w->stats, 0, sizeof(*w->stats));
	failing = false;
	if (fast_create(w, 16))
		return -1;
	w->sessions = sessions_create(16, SESSIONS, &sa_session_events, w);
	if (!w->sessions)
		return -1;
	esp_sa_any(&in, &esp_algorithms[esp_algorithm_count - 1], ESP_INBOUND);
	assert_true(engine_device[0].at_once);
	for (unsigned int i = 0; i < 2; i++)
		out[i] = add_out(i);
	add_policy(CYGNET_FWD, in.sa);
	add_policy(CYGNET_OUT, out[1]);
	return 0;
}

static int teardown(void **state)
{
	sessions_free(w->sessions);
	fast_free(w);
	return esp_fixture_clean(state);
}

/* --- packets --- */

static struct rte_mbuf *sealed(uint64_t seq)
{
	return esp_sealed(&in, seq, IPPROTO_IPIP);
}

/* A frame of the flow that leaves by the first outbound SA. */
static struct rte_mbuf *frame(void)
{
	const uint8_t eth[14] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
	uint8_t data[sizeof(eth) + LENGTH];

	memcpy(data, eth, sizeof(eth));
	peer_packet(data + sizeof(eth), LENGTH, 0, false);
	return esp_packet(data, sizeof(data), RTE_PKTMBUF_HEADROOM, RTE_PKTMBUF_HEADROOM);
}

/* Make the outbound flow known. */
static void learn(void)
{
	struct flow what = {.kind = FLOW_PROTECT, .longest = UINT16_MAX};
	struct flow_basis on;
	struct session *s;
	uint8_t ip[LENGTH];

	refresh_turn(w);
	assert_int_equal(session_get(w->sessions, out[0], cygnet_sa_index(sadb, out[0]), true, &s),
			 DROP_NONE);
	sa_route_find(w, s, out[0]);
	s->route.longest = 1400;
	esp_front_make(&s->front, out[0]);
	peer_packet(ip, sizeof(ip), 0, false);
	assert_true(flow_of(ip, sizeof(ip), PACKET_FROM_INTERFACE(0), &what.key));
	what.session = s;
	on = (struct flow_basis){.sa = s->sa, .generation = s->generation};
	flow_learn(&w->fast->flows, &what, &on, UINT64_MAX);
}

static void receive(struct rte_mbuf *m)
{
	worker_receive(w, &m, 1, 0);
}

/* --- tests --- */

/* Packets whose processing needs one more job and takes the session of the first outbound SA. */
static void fill(void)
{
	for (uint64_t seq = 1; seq <= FULL; seq++)
		worker_pass(w, sealed(seq));
	assert_int_equal(w->crypto.batch.n, FULL);
	assert_int_equal(w->stats->encapsulated, 1);
}

/* A packet that needs a session waits until the batch has been run, and then gets one. */
static void expect_own_session(void)
{
	assert_int_equal(w->stats->decapsulated, FULL);
	assert_int_equal(w->crypto.batch.n, 0);
	assert_int_equal(w->stats->encapsulated, 2 + FULL);
	assert_int_equal(w->stats->drop[OUT], 2 + FULL);
	assert_int_equal(out[0]->seq, 2);
	assert_int_equal(out[1]->seq, FULL);
}

static void session_goes_the_long_way(void **state)
{
	(void)state;
	worker_pass(w, esp_plain(out[0], LENGTH));
	esp_worker_finish(w);
	fill();
	worker_pass(w, esp_plain(out[0], LENGTH));
	expect_own_session();
}

/* The flow is no longer known: the packet takes the slow path, where policy forbids it. */
static void session_goes_the_short_way(void **state)
{
	(void)state;
	learn();
	receive(frame());
	esp_worker_finish(w);
	assert_int_equal(w->stats->shortcut, 1);
	fill();
	receive(frame());
	assert_int_equal(w->stats->shortcut, 1);
	assert_int_equal(w->stats->drop[DROP_POLICY_PLAINTEXT], 1);
	assert_int_equal(w->stats->drop[OUT], 1 + FULL);
}

/* A device that removed a VLAN tag: the frame belongs to another interface. */
static void tagged(void **state)
{
	struct rte_mbuf *m = frame();

	(void)state;
	learn();
	m->ol_flags |= RTE_MBUF_F_RX_VLAN_STRIPPED;
	receive(m);
	assert_int_equal(w->stats->drop[DROP_VLAN_TAG], 1);
	receive(frame());
	esp_worker_finish(w);
	assert_int_equal(w->stats->shortcut, 1);
	assert_int_equal(w->stats->encapsulated, 1);
}

/* A change within an iteration applies to the packets after it. */
static void changed(void **state)
{
	(void)state;
	learn();
	receive(frame());
	assert_int_equal(w->stats->shortcut, 1);
	changes_note();
	receive(frame());
	learn();
	add_policy(CYGNET_OUT, out[0]);
	receive(frame());
	esp_worker_finish(w);
	assert_int_equal(w->stats->shortcut, 1);
	assert_int_equal(w->stats->drop[DROP_POLICY_PLAINTEXT], 2);
}

/* A packet that a device fails in a call is processed by queue, by the same device or another
 * one. */
static void fails_at_once(void **state)
{
	(void)state;
	failing = true;
	for (unsigned int i = 0; i < 4; i++) {
		worker_pass(w, esp_plain(out[0], LENGTH));
		esp_worker_finish(w);
		assert_int_equal(w->stats->drop[DROP_ENGINE_FAILED], 1);
		assert_int_equal(w->stats->drop[OUT], i);
	}
	assert_int_equal(w->stats->device[0].failed, 1);
}

/* Receive and judge a packet. @return what the flow cache has about its flow afterwards, or NULL */
static const struct flow *learned(struct rte_mbuf *m)
{
	struct flow_key key;

	packet(m)->seen = w->seen;
	assert_true(flow_of(rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_data_len(m),
			    PACKET_FROM_INTERFACE(0), &key));
	worker_pass(w, m);
	esp_worker_finish(w);
	return flow_find(&w->fast->flows, &key, flow_place(&w->fast->flows, &key));
}

/* After a refused packet, later packets of its flow are judged too. */
static void refused(void **state)
{
	(void)state;
	refresh_turn(w);
	clock_now = 1000;
	in.sa->install_time = out[0]->install_time = clock_now - 10;
	in.sa->lifetime.hard_seconds = 5;
	assert_null(learned(sealed(1)));
	assert_int_equal(w->stats->drop[DROP_SA_EXPIRED], 1);
	in.sa->lifetime.hard_seconds = 0;
	assert_non_null(learned(sealed(1)));
	assert_int_equal(w->stats->drop[DROP_SA_EXPIRED], 1);
}

/* The flow of a forged packet is not remembered: anybody can send any number of such flows. */
static void forged(void **state)
{
	struct rte_mbuf *m = sealed(1);

	(void)state;
	refresh_turn(w);
	rte_pktmbuf_mtod(m, uint8_t *)[rte_pktmbuf_data_len(m) - 1] ^= 1;
	assert_null(learned(m));
	assert_int_equal(w->stats->drop[DROP_AUTH_FAILED], 1);
	assert_non_null(learned(sealed(1)));
	/* Nor is that of a replayed one. */
	w->forget_sa = cygnet_sa_index(sadb, in.sa) + 1;
	refresh_turn(w);
	assert_null(learned(sealed(1)));
	assert_int_equal(w->stats->drop[DROP_REPLAY], 1);
}

/* An SA expires however many flows use it. */
static void past_its_time(void **state)
{
	const struct flow *f;

	(void)state;
	refresh_turn(w);
	w->fast->flows.usual = 100 * rte_get_tsc_hz();
	clock_now = 1000;
	in.sa->install_time = clock_now - 10;
	in.sa->lifetime.hard_seconds = 12;
	f = learned(sealed(1));
	assert_non_null(f);
	assert_in_range(((((uint64_t)f->until + 1) << FLOW_TICK) - w->now) / rte_get_tsc_hz(), 1,
			2);
	/* Installed in a second that this clock has not reached. */
	w->forget_sa = cygnet_sa_index(sadb, in.sa) + 1;
	in.sa->install_time = clock_now + 1;
	in.sa->lifetime.hard_seconds = 3;
	f = learned(sealed(2));
	assert_non_null(f);
	assert_in_range(((((uint64_t)f->until + 1) << FLOW_TICK) - w->now) / rte_get_tsc_hz(), 2,
			3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(session_goes_the_long_way),
		TEST(session_goes_the_short_way),
		TEST(tagged),
		TEST(changed),
		TEST(fails_at_once),
		TEST(refused),
		TEST(forged),
		TEST(past_its_time),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}
