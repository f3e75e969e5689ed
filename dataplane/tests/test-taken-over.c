/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Received packets that a CPU device fails, in a call, in a batch by its queue, or on a crypto
 * core: another device processes them, and packets of an SA leave in the order of arrival. */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_esp.h>

#include "base/sadb.h"
#include "crypto/core.h"
#include "crypto/device/sessions.h"
#include "gateway_fixture.h"
#include "worker_fixture.h"

#define N	32u
#define TUNNELS 2u
#define FIRST	10u /* sequence number */
#define ETHER	14u

static const struct esp_algorithm ctr = {
	"aes-ctr-128",
	CYGNET_CIPHER_AES_CTR,
	16,
	CYGNET_AUTH_HMAC_SHA1,
	20,
	8,
	4,
	12,
	"AES-128-CTR",
	"SHA1",
};
static const struct esp_algorithm *const suites[] = {&esp_gcm, &esp_cbc, &ctr};

/* How packets get to the device. */
static enum entry { BY_BURST, BY_TURN, BY_CORE } entry;

static struct worker *w = &workers[0];
static struct engine_device devices[STATS_MAX_DEVICES];
static struct tunnel t[TUNNELS];
static unsigned int tunnels; /* number of tunnels */
static unsigned int device;  /* the device that serves their SAs */

/* --- a device that fails some packets --- */

static enum fault { GOOD, KEEPS, GARBLES } fault;
static unsigned int every; /* every n-th packet fails */

static bool fails_number(uint32_t seq)
{
	return seq % every == every / 2;
}

/* @param esp  the ESP header */
static bool fails(const uint8_t *esp)
{
	struct rte_esp_hdr h;

	memcpy(&h, esp, sizeof(h));
	return fault != GOOD && fails_number(ntohl(h.seq));
}

/* The plaintext of an AEAD is behind header and IV. */
static unsigned int text_at(void)
{
	return t[0].peer.algorithm->auth ? 0 : 8u + t[0].peer.algorithm->iv_len;
}

static uint32_t (*process)(uint8_t, void *, union rte_crypto_sym_ofs, struct rte_crypto_sym_vec *);

static void process_one(uint8_t id, void *session, union rte_crypto_sym_ofs ofs,
			const struct rte_crypto_sym_vec *vec, uint32_t i)
{
	const uint8_t *text = vec->src_sgl[i].vec[0].base;
	bool failing = fails(text - text_at());
	struct rte_crypto_sym_vec one = {
		.num = 1,
		.src_sgl = vec->src_sgl + i,
		.iv = vec->iv + i,
		.aad = vec->aad + i,
		.digest = vec->digest + i,
		.status = vec->status + i,
	};

	if (!failing || fault == GARBLES)
		process(id, session, ofs, &one);
	if (failing)
		vec->status[i] = EINVAL;
}

/* Replaces DPDK's function. */
uint32_t rte_cryptodev_sym_cpu_crypto_process(uint8_t id, void *session,
					      union rte_crypto_sym_ofs ofs,
					      struct rte_crypto_sym_vec *vec)
{
	if (fault == GOOD || id != engine_device[device].id)
		return process(id, session, ofs, vec);
	for (uint32_t i = 0; i < vec->num; i++)
		process_one(id, session, ofs, vec, i);
	return 0;
}

static struct rte_crypto_fp_ops good;
static struct rte_crypto_op *kept[N];
static uint16_t nkept;
static void *kept_of; /* the queue pair that keeps packets */
static unsigned int failed_in_queue;

static bool fails_op(const struct rte_crypto_op *op)
{
	unsigned int offset = text_at() ? op->sym->aead.data.offset - text_at()
					: op->sym->auth.data.offset;

	return fails(rte_pktmbuf_mtod_offset(op->sym->m_src, const uint8_t *, offset));
}

static uint16_t enqueue(void *qp, struct rte_crypto_op **op, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		if (fault == GARBLES || !fails_op(op[i])) {
			assert_int_equal(good.enqueue_burst(qp, op + i, 1), 1);
			continue;
		}
		assert_in_range(nkept, 0, N - 1);
		kept[nkept++] = op[i];
		kept_of = qp;
		failed_in_queue++;
	}
	return n;
}

static uint16_t dequeue(void *qp, struct rte_crypto_op **op, uint16_t n)
{
	uint16_t given = 0, all;

	while (nkept && given < n && qp == kept_of) {
		op[given] = kept[--nkept];
		op[given++]->status = RTE_CRYPTO_OP_STATUS_ERROR;
	}
	all = (uint16_t)(given + good.dequeue_burst(qp, op + given, (uint16_t)(n - given)));
	for (uint16_t i = given; fault == GARBLES && i < all; i++)
		if (fails_op(op[i]))
			op[i]->status = RTE_CRYPTO_OP_STATUS_ERROR;
	return all;
}

static struct session *session_of(const struct tunnel *from)
{
	return session_peek(w->sessions, cygnet_sa_index(sadb, from->in), from->in->generation);
}

/* The device that serves the SAs. */
static void break_device(enum fault how, unsigned int one_of)
{
	uint8_t id = engine_device[device].id;

	fault = how;
	every = one_of;
	failed_in_queue = 0;
	good = rte_crypto_fp_ops[id];
	rte_crypto_fp_ops[id].enqueue_burst = enqueue;
	rte_crypto_fp_ops[id].dequeue_burst = dequeue;
}

static void mend_device(void)
{
	if (fault != GOOD)
		rte_crypto_fp_ops[engine_device[device].id] = good;
	fault = GOOD;
}

/* --- the gateway --- */

static struct conf conf;

static int start(void **state)
{
	void *next = dlsym(RTLD_NEXT, "rte_cryptodev_sym_cpu_crypto_process");

	memcpy(&process, &next, sizeof(process));
	conf_defaults(&conf);
	conf.workers = 1;
	conf.ncrypto_cores = esp_crypto_cores = 1;
	if (!process || gateway_start(state))
		return -1;
	memcpy(devices, engine_device, sizeof(devices));
	return 0;
}

static void close_gateway(void)
{
	for (unsigned int i = 0; i < tunnels; i++)
		assert_int_equal(session_of(&t[i])->in_flight, 0);
	mend_device();
	assert_int_equal(nkept, 0);
	assert_int_equal(w->crypto.in_flight, 0);
	gateway_close(w);
	crypto_lane_free(&w->crypto);
	crypto_cores_free();
	memcpy(engine_device, devices, sizeof(devices));
	engine_devices = esp_devices;
	engines_lost = 0;
	offload_enabled = false;
}

/* Short and long ones alternate. */
static unsigned int length_of(unsigned int i)
{
	return 48 + i * 131 % 1200;
}

/* By protect(), as if another worker had handed the packet off. */
static void protect_frame(struct rte_mbuf *m, const struct tunnel *from)
{
	struct rte_esp_hdr h;

	rte_pktmbuf_adj(m, ETHER);
	packet_received(w, m, GATEWAY_WAN);
	esp_in_identify(m, session_of(from));
	packet(m)->handed = 1;
	packet(m)->stage = STAGE_UNPROTECT;
	memcpy(&h, rte_pktmbuf_mtod_offset(m, const uint8_t *, packet(m)->esp), sizeof(h));
	packet(m)->seq = ntohl(h.seq);
	worker_pass(w, m);
}

static void finish(void)
{
	for (unsigned int i = 0; i < 50 && w->crypto.lane.size; i++) {
		worker_poll(w);
		crypto_core_turn(0);
	}
	esp_worker_finish(w);
}

static const struct tunnel *tunnel_of(unsigned int id)
{
	return &t[id % tunnels];
}

static uint64_t seq_of(unsigned int id)
{
	return FIRST + id / tunnels;
}

static struct rte_mbuf *sealed(unsigned int id)
{
	const struct tunnel *from = tunnel_of(id);
	uint8_t ip[GATEWAY_FRAME];

	return gateway_frame(ip, gateway_sealed(ip, from, false, length_of(id), id, seq_of(id)),
			     GATEWAY_WAN);
}

/* The N packets of the test. */
static void receive_all(struct rte_mbuf **m)
{
	if (entry == BY_BURST)
		worker_receive(w, m, N, GATEWAY_WAN);
	for (unsigned int i = 0; i < N && entry != BY_BURST; i++)
		protect_frame(m[i], tunnel_of(i));
}

static void receive(void)
{
	struct rte_mbuf *m[N];

	for (unsigned int i = 0; i < N; i++)
		m[i] = sealed(i);
	receive_all(m);
}

/* A packet before the others determines the worker of the SA. */
static void learn(const struct tunnel *from)
{
	uint8_t ip[GATEWAY_FRAME];
	struct rte_mbuf *m = gateway_frame(ip, gateway_sealed(ip, from, false, 100, 0, 1),
					   GATEWAY_WAN);

	worker_receive(w, &m, 1, GATEWAY_WAN);
	finish();
	assert_int_equal(w->tx[GATEWAY_LAN].n, 1);
	gateway_forget(w);
}

static void open_gateway(enum entry how, const struct esp_algorithm *suite, unsigned int ntunnels,
			 bool esn)
{
	entry = how;
	tunnels = ntunnels;
	gateway_open(w, 8);
	if (how == BY_CORE)
		assert_int_equal(crypto_cores_init(&conf) || crypto_lane_init(&w->crypto), 0);
	for (unsigned int i = 0; i < tunnels; i++)
		gateway_tunnel(&t[i], suite, 2 + i, esn, false);
	for (unsigned int i = 0; i < tunnels; i++)
		learn(&t[i]);
	device = session_of(&t[0])->device;
	memset(w->stats, 0, sizeof(*w->stats));
}

/* --- results --- */

static unsigned int failing(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < N; i++)
		n += fails_number((uint32_t)seq_of(i));
	return n;
}

/* The id that gateway_packet() wrote into each byte. */
static unsigned int id_of(struct rte_mbuf *m)
{
	unsigned int len = rte_pktmbuf_data_len(m) - ETHER;

	return (uint8_t)(rte_pktmbuf_mtod(m, const uint8_t *)[ETHER + len - 1] - 7 * (len - 1));
}

/* The packets of a tunnel are in order. @param but_those  packets that fail */
static void expect(bool but_those)
{
	struct mbuf_batch *sent = &w->tx[GATEWAY_LAN];
	unsigned int next[TUNNELS] = {0, 1};

	assert_int_equal(sent->n, N - (but_those ? failing() : 0));
	for (unsigned int i = 0; i < sent->n; i++) {
		unsigned int id = id_of(sent->m[i]), from = id % tunnels;

		while (but_those && fails_number((uint32_t)seq_of(next[from])))
			next[from] += tunnels;
		assert_int_equal(id, next[from]);
		gateway_check_in(sent->m[i], &t[from], false, length_of(id), id);
		next[from] += tunnels;
	}
	gateway_forget(w);
}

static uint64_t done_by_others(void)
{
	uint64_t n = 0;

	for (unsigned int d = 0; d < engine_devices; d++)
		n += d == device ? 0 : w->stats->device[d].decrypted;
	return n;
}

static void expect_drops(enum drop_reason reason, uint64_t n)
{
	for (unsigned int i = 0; i < DROP_REASON_COUNT; i++)
		assert_int_equal(w->stats->drop[i], (enum drop_reason)i == reason ? n : 0);
	for (unsigned int i = 0; i < tunnels; i++)
		assert_int_equal(t[i].in->auth_drops, 0);
}

/* --- tests --- */

static void each(void (*check)(enum entry, const struct esp_algorithm *, unsigned int, bool))
{
	for (unsigned int how = BY_BURST; how <= BY_CORE; how++)
		for (unsigned int i = 0; i < RTE_DIM(suites); i++)
			for (unsigned int k = 0; k < 4; k++) {
				check((enum entry)how, suites[i], 1 + k % 2, k / 2);
				close_gateway();
			}
}

static void some_fail(enum entry how, const struct esp_algorithm *suite, unsigned int ntunnels,
		      bool esn)
{
	open_gateway(how, suite, ntunnels, esn);
	break_device(KEEPS, 4);
	receive();
	finish();
	expect(false);
	expect_drops(DROP_REASON_COUNT, 0);
	/* Chains of one SA are processed by calls. */
	assert_int_equal(failed_in_queue, suite->auth && ntunnels > 1 ? failing() : 0);
	assert_int_equal(w->stats->device[device].failed, failing());
	assert_int_equal(w->stats->device[device].decrypted, N - failing());
	assert_int_equal(done_by_others(), failing());
	assert_int_equal(w->crypto.failover.device[device].failures, failing());
	assert_int_equal(w->stats->crypto_cores, how == BY_CORE ? N : 0);
}

/* No packet is lost, and the failures count against the device. */
static void none_lost(void **state)
{
	(void)state;
	each(some_fail);
}

static void all_fail(enum entry how, const struct esp_algorithm *suite, unsigned int ntunnels,
		     bool esn)
{
	open_gateway(how, suite, ntunnels, esn);
	break_device(KEEPS, 1);
	receive();
	finish();
	expect(false);
	expect_drops(DROP_REASON_COUNT, 0);
	assert_int_equal(done_by_others(), N);
	assert_true(engine_lost(device));
}

/* The device is no longer used. */
static void taken_out(void **state)
{
	(void)state;
	each(all_fail);
}

static void some_garbled(enum entry how, const struct esp_algorithm *suite, unsigned int ntunnels,
			 bool esn)
{
	open_gateway(how, suite, ntunnels, esn);
	break_device(GARBLES, 4);
	receive();
	finish();
	expect(true);
	expect_drops(DROP_ENGINE_FAILED, failing());
	assert_int_equal(done_by_others(), 0);
}

/* If a device has decrypted a packet but reports a failure, no other device finds it authentic.
 * The packet is dropped, and its sender is not blamed. */
static void garbled(void **state)
{
	(void)state;
	each(some_garbled);
}

static void some_lost(enum entry how, const struct esp_algorithm *suite, unsigned int ntunnels,
		      bool esn)
{
	unsigned int only = 0;

	while (strcmp(devices[only].driver, "crypto_aesni_mb"))
		assert_in_range(++only, 0, esp_devices - 1);
	engine_device[0] = devices[only];
	engine_devices = 1;
	open_gateway(how, suite, ntunnels, esn);
	break_device(KEEPS, 4);
	receive();
	finish();
	expect(true);
	expect_drops(DROP_ENGINE_FAILED, failing());
	assert_int_equal(engines_lost, 0);
}

/* Without another device the remaining packets do not wait. */
static void no_other(void **state)
{
	(void)state;
	each(some_lost);
}

/* --- while other devices have packets of the SA in their queues --- */

static void choose(unsigned int d)
{
	for (unsigned int a = 0; a <= ALGORITHMS_MAX; a++)
		for (unsigned int l = 0; l < LENGTH_CLASSES; l++)
			offload_class[a][l] = (struct offload_class){.light = (uint8_t)d,
								     .full = (uint8_t)d};
}

/* Failed packets precede packets queued meanwhile. */
static void in_front(const struct esp_algorithm *suite, bool esn)
{
	unsigned int other, first = 8;

	open_gateway(BY_TURN, suite, 1, esn);
	other = esp_device_after(device, t[0].in);
	engine_device[other].at_once = false;
	offload_enabled = true;
	break_device(KEEPS, 4);
	for (unsigned int i = 0; i < N; i++) {
		choose(i < first ? device : other);
		protect_frame(sealed(i), &t[0]);
	}
	assert_int_equal(w->crypto.pending[other], N - first);
	finish();
	expect(false);
	expect_drops(DROP_REASON_COUNT, 0);
	assert_int_equal(w->stats->device[device].failed, first / 4);
	close_gateway();
}

static void others_in_queue(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * RTE_DIM(suites); i++)
		in_front(suites[i / 2], i & 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_lost),	   cmocka_unit_test(taken_out),
		cmocka_unit_test(garbled),	   cmocka_unit_test(no_other),
		cmocka_unit_test(others_in_queue),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, gateway_stop);
}
