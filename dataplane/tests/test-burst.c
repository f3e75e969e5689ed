/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bursts of packets of known flows, for each suite that is processed by calls: the transmitted
 * frames are correct to the bit and in order, and took the fast path. */
#include <stdlib.h>
#include <string.h>

#include <rte_esp.h>

#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "gateway_fixture.h"
#include "worker_fixture.h"

#define SHORTEST 48u
#define LONGEST	 1340u

/* clang-format off */
#define CHAIN(name, cipher, key, iv, block, evp, hash, auth_key, icv)                              \
	{name " hmac-" #hash " icv " #icv, CYGNET_CIPHER_##cipher, key, CYGNET_AUTH_HMAC_##hash,   \
	 auth_key, iv, block, icv, evp, #hash}
/* clang-format on */
#define CHAINS(name, cipher, key, iv, block, evp) \
	CHAIN(name, cipher, key, iv, block, evp, MD5, 16, 12), \
		CHAIN(name, cipher, key, iv, block, evp, MD5, 16, 16), \
		CHAIN(name, cipher, key, iv, block, evp, SHA1, 20, 12), \
		CHAIN(name, cipher, key, iv, block, evp, SHA1, 20, 20), \
		CHAIN(name, cipher, key, iv, block, evp, SHA256, 32, 12), \
		CHAIN(name, cipher, key, iv, block, evp, SHA256, 32, 16), \
		CHAIN(name, cipher, key, iv, block, evp, SHA384, 48, 24), \
		CHAIN(name, cipher, key, iv, block, evp, SHA512, 64, 32)
/* clang-format off */
#define AEAD(name, cipher, key, icv, evp)                                                          \
	{name " icv " #icv, CYGNET_CIPHER_##cipher, key, CYGNET_AUTH_NONE, 0, 8, 4, icv, evp, NULL}
/* clang-format on */

static const struct esp_algorithm suites[] = {
	AEAD("aes-gcm-128", AES_GCM, 16, 8, "AES-128-GCM"),
	AEAD("aes-gcm-128", AES_GCM, 16, 12, "AES-128-GCM"),
	AEAD("aes-gcm-128", AES_GCM, 16, 16, "AES-128-GCM"),
	AEAD("aes-gcm-256", AES_GCM, 32, 16, "AES-256-GCM"),
	AEAD("chacha20-poly1305", CHACHA20_POLY1305, 32, 16, "ChaCha20-Poly1305"),
	CHAINS("aes-cbc-128", AES_CBC, 16, 16, 16, "AES-128-CBC"),
	CHAINS("aes-cbc-256", AES_CBC, 32, 16, 16, "AES-256-CBC"),
	CHAINS("aes-ctr-128", AES_CTR, 16, 8, 4, "AES-128-CTR"),
	CHAINS("aes-ctr-256", AES_CTR, 32, 8, 4, "AES-256-CTR"),
	CHAINS("3des-cbc", 3DES_CBC, 24, 8, 8, "DES-EDE3-CBC"),
	CHAINS("des-cbc", DES_CBC, 8, 8, 8, "DES-CBC"),
};

static struct worker *w = &workers[0];

/* Packets of both families, short and long ones alternating, with each length of padding. */
static unsigned int length_of(unsigned int i)
{
	return SHORTEST + i * 331 % (LONGEST - SHORTEST);
}

static bool is_v6(unsigned int i)
{
	return i % 3 == 1;
}

/* With DPDK 24.11 DES and 3DES are crypto_openssl's, which works on packets in its queue. */
static void finish_queued(const struct tunnel *t)
{
	const uint8_t cipher = t->peer.algorithm->cipher;

	if (cipher == CYGNET_CIPHER_3DES_CBC || cipher == CYGNET_CIPHER_DES_CBC)
		esp_worker_finish(w);
}

/* --- outbound --- */

static void leave(const struct tunnel *t, unsigned int n)
{
	struct rte_mbuf *m[BURST];
	uint8_t ip[GATEWAY_FRAME];

	for (unsigned int i = 0; i < n; i++) {
		gateway_inner(ip, t, is_v6(i), true, length_of(i), i, 64);
		m[i] = gateway_frame(ip, length_of(i), GATEWAY_LAN);
	}
	worker_receive(w, m, n, GATEWAY_LAN);
}

static void expect_sent(const struct tunnel *t, unsigned int n, uint64_t first)
{
	struct mbuf_batch *batch = &w->tx[GATEWAY_WAN];

	assert_int_equal(batch->n, n);
	for (unsigned int i = 0; i < n; i++)
		gateway_check_out(batch->m[i], t, is_v6(i), length_of(i), i, first + i);
	gateway_forget(w);
}

/* The first packet of each flow takes the slow path, after which the flow is known. */
static void learn_out(const struct tunnel *t)
{
	leave(t, 2);
	esp_worker_finish(w);
	assert_int_equal(w->stats->shortcut, 0);
	expect_sent(t, 2, t->out->seq - 1);
}

static void burst_out(const struct tunnel *t, unsigned int n)
{
	uint64_t first = t->out->seq + 1, packets = t->out->packets, bytes = t->out->bytes;
	uint64_t known = w->stats->shortcut, encapsulated = w->stats->encapsulated;

	leave(t, n);
	finish_queued(t);
	/* All are transmitted at once. */
	if (w->crypto.batch.n)
		fail_msg("%s does not take the fast path", t->peer.algorithm->name);
	expect_sent(t, n, first);
	assert_int_equal(w->stats->shortcut, known + n);
	assert_int_equal(w->stats->encapsulated, encapsulated + n);
	assert_int_equal(t->out->packets, packets + n);
	for (unsigned int i = 0; i < n; i++)
		bytes += length_of(i);
	assert_int_equal(t->out->bytes, bytes);
}

/* --- inbound --- */

static void enter(const struct tunnel *t, unsigned int n, uint64_t first)
{
	struct rte_mbuf *m[BURST];
	uint8_t ip[GATEWAY_FRAME];

	for (unsigned int i = 0; i < n; i++) {
		unsigned int len = gateway_sealed(ip, t, is_v6(i), length_of(i), i, first + i);

		m[i] = gateway_frame(ip, len, GATEWAY_WAN);
	}
	worker_receive(w, m, n, GATEWAY_WAN);
}

static void expect_received(const struct tunnel *t, unsigned int n)
{
	struct mbuf_batch *batch = &w->tx[GATEWAY_LAN];

	assert_int_equal(batch->n, n);
	for (unsigned int i = 0; i < n; i++)
		gateway_check_in(batch->m[i], t, is_v6(i), length_of(i), i);
	gateway_forget(w);
}

static void learn_in(const struct tunnel *t)
{
	enter(t, 2, t->in->seq + 1);
	esp_worker_finish(w);
	expect_received(t, 2);
}

static void burst_in(const struct tunnel *t, unsigned int n)
{
	uint64_t packets = t->in->packets, bytes = t->in->bytes, top = t->in->seq;
	uint64_t known = w->stats->shortcut, decapsulated = w->stats->decapsulated;

	enter(t, n, top + 1);
	finish_queued(t);
	if (w->crypto.batch.n)
		fail_msg("%s does not take the fast path", t->peer.algorithm->name);
	expect_received(t, n);
	/* Through its SA and then to its next hop. */
	assert_int_equal(w->stats->shortcut, known + 2 * n);
	assert_int_equal(w->stats->decapsulated, decapsulated + n);
	assert_int_equal(t->in->packets, packets + n);
	assert_int_equal(t->in->seq, top + n);
	for (unsigned int i = 0; i < n; i++)
		bytes += length_of(i);
	assert_int_equal(t->in->bytes, bytes);
}

/* --- tests --- */

static void both_ways(const struct esp_algorithm *suite, bool esn, bool v6)
{
	static const unsigned int sizes[] = {1, 2, 31, 64};
	struct tunnel t;

	gateway_open(w, 4);
	gateway_tunnel(&t, suite, 2, esn, v6);
	learn_out(&t);
	for (unsigned int i = 0; i < RTE_DIM(sizes); i++)
		burst_out(&t, sizes[i]);
	learn_in(&t);
	for (unsigned int i = 0; i < RTE_DIM(sizes); i++)
		burst_in(&t, sizes[i]);
	for (unsigned int i = 0; i < DROP_REASON_COUNT; i++)
		assert_int_equal(w->stats->drop[i], 0);
	gateway_close(w);
}

static void each_suite(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(suites); i++)
		for (unsigned int options = 0; options < 4; options++)
			both_ways(&suites[i], options & 1, options & 2);
}

/* The high half of the sequence number changes within a burst. Only the ICV depends on it. */
static void upper_half(void **state)
{
	static const unsigned int which[] = {2, 4, 7, 23};
	struct tunnel t;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(which); i++) {
		gateway_open(w, 4);
		gateway_tunnel(&t, &suites[which[i]], 2, true, false);
		t.out->seq = t.in->seq = (1ull << 32) - 20;
		learn_out(&t);
		burst_out(&t, 64);
		learn_in(&t);
		burst_in(&t, 64);
		gateway_close(w);
	}
}

/* Statistics of a device count packets, not frames. */
static void counted(void **state)
{
	uint64_t bytes, before = 0;
	struct tunnel t;

	(void)state;
	gateway_open(w, 4);
	gateway_tunnel(&t, &suites[2], 2, false, false);
	for (unsigned int i = 0; i < 3; i++) {
		leave(&t, 1);
		esp_worker_finish(w);
		gateway_forget(w);
		bytes = w->stats->device[0].bytes - before;
		before = w->stats->device[0].bytes;
		assert_int_equal(bytes, 20 + 8 + 8 + SHORTEST + 4 + 16);
	}
	assert_int_equal(w->stats->shortcut, 2);
	gateway_close(w);
}

/* --- interleaved SAs --- */

#define TUNNELS 8u
#define EACH	4u

/* Two of the suites are AEADs, ChaCha20 is the last; the first is a chain. */
static const unsigned int in_turn[TUNNELS] = {7, 2, 10, 19, 23, 31, 5, 4};

static void open_in_turn(struct tunnel *t)
{
	gateway_open(w, 2 * TUNNELS);
	for (unsigned int i = 0; i < TUNNELS; i++)
		gateway_tunnel(&t[i], &suites[in_turn[i]], 2 + i, i & 1, false);
}

/* @param first  first tunnel that gets packets */
static void leave_from(const struct tunnel *t, unsigned int first)
{
	struct rte_mbuf *m[TUNNELS * EACH];
	unsigned int n = 0;
	uint8_t ip[GATEWAY_FRAME];

	for (unsigned int i = 0; i < TUNNELS * EACH; i++) {
		if (i % TUNNELS < first)
			continue;
		gateway_inner(ip, &t[i % TUNNELS], false, true, length_of(i), i, 64);
		m[n++] = gateway_frame(ip, length_of(i), GATEWAY_LAN);
	}
	worker_receive(w, m, n, GATEWAY_LAN);
}

static void leave_in_turn(const struct tunnel *t)
{
	leave_from(t, 0);
}

/* All but some packets have been transmitted, those of each tunnel in order. */
static void expect_sent_but(const struct tunnel *t, unsigned int missing)
{
	struct mbuf_batch *batch = &w->tx[GATEWAY_WAN];
	unsigned int next[TUNNELS] = {0};

	assert_int_equal(batch->n, TUNNELS * EACH - missing);
	for (unsigned int i = 0; i < batch->n; i++) {
		const struct rte_esp_hdr *esp =
			rte_pktmbuf_mtod_offset(batch->m[i], const struct rte_esp_hdr *,
						sizeof(struct rte_ether_hdr) +
							sizeof(struct rte_ipv4_hdr));
		unsigned int from = 0, nth, id;

		while (t[from].out->spi != esp->spi)
			assert_in_range(++from, 0, TUNNELS - 1);
		nth = rte_be_to_cpu_32(esp->seq) - (uint32_t)(t[from].out->seq - EACH + 1);
		assert_in_range(nth, next[from], EACH - 1);
		id = nth * TUNNELS + from;
		gateway_check_out(batch->m[i], &t[from], false, length_of(id), id,
				  t[from].out->seq - EACH + 1 + nth);
		next[from] = nth + 1;
	}
	gateway_forget(w);
}

static void expect_sent_in_turn(const struct tunnel *t)
{
	expect_sent_but(t, 0);
}

static void learn_in_turn(struct tunnel *t)
{
	open_in_turn(t);
	leave_in_turn(t);
	esp_worker_finish(w);
	expect_sent_in_turn(t);
}

/* Count packets that were completed in queues. */
static uint64_t queued(void)
{
	struct rte_cryptodev_stats one;
	uint64_t n = 0;

	for (unsigned int d = 0; d < engine_devices; d++) {
		assert_int_equal(rte_cryptodev_stats_get(engine_device[d].id, &one), 0);
		n += one.dequeued_count;
	}
	return n;
}

static struct session *session_of(const struct tunnel *t)
{
	return session_peek(w->sessions, cygnet_sa_index(sadb, t->out), t->out->generation);
}

/* Chains go to the queue of the first SA's device, other packets are processed by calls. */
static unsigned int queued_in_turn(const struct tunnel *t)
{
	const struct session *first = session_of(&t[0]);
	unsigned int n = 0;

	for (unsigned int i = 0; i < TUNNELS; i++) {
		const struct session *s = session_of(&t[i]);

		n += s->form == SUITE_CHAIN && s->device == first->device;
	}
	assert_in_range(n, 5, 6);
	return n;
}

/* A call processes packets of one SA. A library that processes several packets at a time gets
 * packets of many SAs by its queue, within their burst, and packets of one SA by calls. */
static void sas_in_turn(void **state)
{
	struct tunnel t[TUNNELS];
	uint64_t before;

	(void)state;
	learn_in_turn(t);
	for (unsigned int i = 0; i < 3; i++) {
		before = queued();
		leave_in_turn(t);
		expect_sent_in_turn(t);
		assert_int_equal(queued() - before, queued_in_turn(t) * EACH);
	}
	before = queued();
	leave(&t[0], 1);
	expect_sent(&t[0], 1, t[0].out->seq);
	assert_int_equal(queued(), before);
	gateway_close(w);
}

/* Calls need no operations. */
static void sas_in_turn_by_calls(void **state)
{
	struct tunnel t[TUNNELS];
	unsigned int n = 0;
	uint64_t before;
	void **taken;

	(void)state;
	learn_in_turn(t);
	taken = calloc(w->crypto.ops->size, sizeof(taken[0]));
	assert_non_null(taken);
	while (rte_mempool_get(w->crypto.ops, &taken[n]) == 0)
		n++;
	before = queued();
	leave_in_turn(t);
	expect_sent_in_turn(t);
	assert_int_equal(queued(), before);
	rte_mempool_put_bulk(w->crypto.ops, taken, n);
	free(taken);
	gateway_close(w);
}

/* --- a device that does not take all packets, or takes its time --- */

#define LOST (EACH / 2)

static struct engine_device devices[STATS_MAX_DEVICES];

/* No other device supports the suite. */
static void use_only_one_device(void)
{
	unsigned int d = 0;

	while (strcmp(engine_device[d].driver, "crypto_aesni_mb"))
		assert_in_range(++d, 0, engine_devices - 1);
	memcpy(devices, engine_device, sizeof(devices));
	engine_device[0] = devices[d];
	engine_devices = 1;
}

static int use_all_devices(void **state)
{
	(void)state;
	if (devices[0].driver)
		memcpy(engine_device, devices, sizeof(devices));
	engine_devices = esp_devices;
	engines_lost = 0;
	return 0;
}

static struct rte_crypto_fp_ops good;
static unsigned int room;
static unsigned int delay; /* tries in which the device completes no packet */

static uint16_t dequeue_later(void *qp, struct rte_crypto_op **op, uint16_t n)
{
	if (!delay)
		return good.dequeue_burst(qp, op, n);
	delay--;
	return 0;
}

static uint16_t enqueue_some(void *qp, struct rte_crypto_op **op, uint16_t n)
{
	uint16_t sent = good.enqueue_burst(qp, op, (uint16_t)RTE_MIN(n, room));

	room -= sent;
	return sent;
}

/* All buffers are back in their mempools. */
static void expect_none_left(const struct tunnel *t, unsigned int device, unsigned int lost)
{
	rte_crypto_fp_ops[engine_device[device].id] = good;
	assert_int_equal(rte_mempool_in_use_count(esp_ops), 0);
	assert_int_equal(rte_mempool_in_use_count(esp_packets), 0);
	for (unsigned int i = 0; i < TUNNELS; i++)
		assert_int_equal(session_of(&t[i])->in_flight, 0);
	assert_int_equal(w->crypto.in_flight, 0);
	assert_int_equal(w->crypto.pending[device], 0);
	assert_int_equal(w->stats->drop[DROP_ENGINE_FAILED], lost);
}

/* What a device has taken is waited for: it may be writing it. */
static void slow(void **state)
{
	struct tunnel t[TUNNELS];
	unsigned int device;

	(void)state;
	learn_in_turn(t);
	device = session_of(&t[0])->device;
	good = rte_crypto_fp_ops[engine_device[device].id];
	rte_crypto_fp_ops[engine_device[device].id].dequeue_burst = dequeue_later;
	delay = 10000;
	leave_in_turn(t);
	assert_int_equal(delay, 0);
	expect_sent_in_turn(t);
	expect_none_left(t, device, 0);
	assert_false(engine_lost(device));
	gateway_close(w);
}

/* Only this device supports ChaCha20: packets with it are dropped from then on, other packets
 * are not. */
static void lost_with_no_other(void **state)
{
	struct tunnel t[TUNNELS];
	unsigned int device;

	(void)state;
	learn_in_turn(t);
	device = session_of(&t[TUNNELS - 1])->device;
	engine_take_out(device);
	assert_true(engine_lost(device));
	for (unsigned int i = 0; i < 2; i++) {
		refresh_turn(w);
		leave_in_turn(t);
		esp_worker_finish(w);
		expect_sent_but(t, EACH);
		assert_int_equal(w->stats->drop[DROP_UNSUPPORTED], (i + 1) * EACH);
	}
	gateway_close(w);
}

/* Packets that the device never accepted have failed. */
static void never_taken(void **state)
{
	struct tunnel t[TUNNELS];
	unsigned int device;

	(void)state;
	use_only_one_device();
	learn_in_turn(t);
	device = session_of(&t[0])->device;
	good = rte_crypto_fp_ops[engine_device[device].id];
	room = queued_in_turn(t) * EACH - LOST;
	rte_crypto_fp_ops[engine_device[device].id].enqueue_burst = enqueue_some;
	leave_in_turn(t);
	expect_sent_but(t, LOST);
	expect_none_left(t, device, LOST);
	leave_in_turn(t);
	esp_worker_finish(w);
	expect_sent_in_turn(t);
	gateway_close(w);
}

/* --- forged packets in a burst --- */

static bool is_forged(unsigned int i)
{
	return i % 5 == 3;
}

static void enter_in_turn(const struct tunnel *t, const uint64_t *first, bool forge)
{
	struct rte_mbuf *m[TUNNELS * EACH];
	uint8_t ip[GATEWAY_FRAME];

	for (unsigned int i = 0; i < TUNNELS * EACH; i++) {
		const struct tunnel *from = &t[i % TUNNELS];
		unsigned int len = gateway_sealed(ip, from, false, length_of(i), i,
						  first[i % TUNNELS] + i / TUNNELS);

		if (forge && is_forged(i))
			ip[len - 1] ^= 1;
		m[i] = gateway_frame(ip, len, GATEWAY_WAN);
	}
	worker_receive(w, m, TUNNELS * EACH, GATEWAY_WAN);
}

/* Each packet has its own verdict, and all leave in the order of arrival, whatever order they
 * are processed in. @return number of forged packets */
static unsigned int expect_received_in_turn(const struct tunnel *t, bool forge)
{
	struct mbuf_batch *batch = &w->tx[GATEWAY_LAN];
	unsigned int n = 0, forged = 0;

	for (unsigned int i = 0; i < TUNNELS * EACH; i++) {
		if (forge && is_forged(i)) {
			forged++;
			continue;
		}
		assert_in_range(n, 0, batch->n - 1);
		gateway_check_in(batch->m[n++], &t[i % TUNNELS], false, length_of(i), i);
	}
	assert_int_equal(batch->n, n);
	gateway_forget(w);
	return forged;
}

static void forged_in_turn(void **state)
{
	struct tunnel t[TUNNELS];
	uint64_t first[TUNNELS], before;
	unsigned int forged;

	(void)state;
	open_in_turn(t);
	for (unsigned int i = 0; i < TUNNELS; i++)
		first[i] = t[i].in->seq + 1;
	enter_in_turn(t, first, false);
	esp_worker_finish(w);
	gateway_forget(w);
	before = w->stats->drop[DROP_AUTH_FAILED];
	for (unsigned int i = 0; i < TUNNELS; i++)
		first[i] = t[i].in->seq + 1;
	enter_in_turn(t, first, true);
	assert_int_equal(w->crypto.batch.n, 0);
	forged = expect_received_in_turn(t, true);
	assert_int_equal(w->stats->drop[DROP_AUTH_FAILED] - before, forged);
	gateway_close(w);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_suite),
		cmocka_unit_test(upper_half),
		cmocka_unit_test(counted),
		cmocka_unit_test(sas_in_turn),
		cmocka_unit_test(sas_in_turn_by_calls),
		cmocka_unit_test(forged_in_turn),
		cmocka_unit_test_teardown(slow, use_all_devices),
		cmocka_unit_test_teardown(lost_with_no_other, use_all_devices),
		cmocka_unit_test_teardown(never_taken, use_all_devices),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, gateway_start, gateway_stop);
}
