/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sadb.h"
#include "base/stats.h"
#include "crypto/device/op.h"
#include "crypto/device/sessions.h"
#include "eal_fixture.h"
#include "esp/ah.h"
#include "esp_fixture.h"
#include "path/worker/worker.h"
#include "worker_fixture.h"

#define PACKETS 2047
#define OPS	127u

unsigned int esp_sas = 16, esp_devices, esp_crypto_cores;
struct session_table *esp_sessions;
struct rte_mempool *esp_packets, *esp_ops;

static struct engine_device all_devices[STATS_MAX_DEVICES];
static char folder[] = "./test-XXXXXX", path[sizeof(folder) + 8];

int esp_fixture_eal(const char *program)
{
	int err = start_eal(program);

	/* Tests also ask drivers for algorithms that they do not support. Their messages about
	 * that are suppressed. */
	rte_log_set_global_level(RTE_LOG_EMERG);
	return err;
}

static int open_sadb(void)
{
	const struct cygnet_geometry geometry = {esp_sas, 4 * esp_sas};
	char error[256];

	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/sadb", folder);
	if (cygnet_db_open_flags(path, &geometry, CYGNET_OPEN_ON_DISK, &sadb, error,
				 sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		return -1;
	}
	return cygnet_role_take(sadb, CYGNET_ROLE_DATAPLANE) || cygnet_reader_online(sadb, 0);
}

int esp_fixture_start(void **state)
{
	struct conf conf;

	(void)state;
	conf_defaults(&conf);
	conf.engine = ENGINE_CPU;
	conf.ncrypto_cores = esp_crypto_cores;
	if (open_sadb() || engines_start(&conf, 1, esp_sas))
		return -1;
	esp_devices = engine_devices;
	memcpy(all_devices, engine_device, esp_devices * sizeof(all_devices[0]));
	esp_sessions = sessions_create(esp_sas, esp_sas, NULL, NULL);
	/* The private area has the size of cygnetd's. The room for data is that of each packet. */
	esp_packets = rte_pktmbuf_pool_create("packets", PACKETS, 0, PACKET_PRIVATE,
					      RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	esp_ops = rte_crypto_op_pool_create("ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC, OPS, 0,
					    sizeof(struct esp_job), SOCKET_ID_ANY);
	return esp_sessions && esp_packets && esp_ops ? 0 : -1;
}

int esp_fixture_stop(void **state)
{
	(void)state;
	/* No test may leak packets. */
	assert_int_equal(rte_mempool_in_use_count(esp_packets), 0);
	assert_int_equal(rte_mempool_in_use_count(esp_ops), 0);
	sessions_free(esp_sessions);
	engine_devices = esp_devices;
	memcpy(engine_device, all_devices, esp_devices * sizeof(all_devices[0]));
	engines_stop();
	rte_mempool_free(esp_ops);
	rte_mempool_free(esp_packets);
	cygnet_db_close(sadb);
	unlink(path);
	rmdir(folder);
	return 0;
}

/* --- SAs --- */

static void let_go(void)
{
	cygnet_reader_quiescent(sadb, 0);
	assert_int_equal(cygnet_db_reclaim(sadb), 0);
	for (unsigned int i = 0; i < 2 * esp_sas; i++)
		sessions_sweep(esp_sessions);
}

int esp_fixture_clean(void **state)
{
	(void)state;
	assert_int_equal(cygnet_db_flush(sadb), 0);
	let_go();
	return 0;
}

const struct cygnet_addr esp_moved_src = {.bytes = {0x20, 1, 0xd, 0xb8, [15] = 2}};
const struct cygnet_addr esp_moved_dst = {.bytes = {0x20, 1, 0xd, 0xb8, [15] = 1}};

static struct cygnet_addr address(const char *text)
{
	struct cygnet_addr addr = {0};

	assert_int_equal(inet_pton(AF_INET, text, &addr.v4), 1);
	return addr;
}

struct cygnet_sa_params esp_params(const struct esp_peer *peer, unsigned int options)
{
	const struct esp_algorithm *a = peer->algorithm;
	struct cygnet_sa_params p = {
		.id = {htonl(ESP_SPI), IPPROTO_ESP, AF_INET, address("192.0.2.1")},
		.path = {.src = address("192.0.2.2"), .dst = address("192.0.2.1"), .af = AF_INET},
		.flags = (options & ESP_INBOUND ? CYGNET_SA_INBOUND : 0) |
			 (options & ESP_ESN ? CYGNET_SA_ESN : 0),
		.reqid = 1,
		.cipher = a->cipher,
		.auth = a->auth,
		.icv_len = a->icv_len,
		.cipher_key_len = a->key_len,
		.salt_len = peer_salted(a) ? 4 : 0,
		.auth_key_len = a->auth_key_len,
		.replay_window = options & ESP_INBOUND ? 64 : 0,
	};

	if (options & ESP_ENCAP) {
		p.path.encap = 1;
		p.path.sport = htons(ESP_SPORT);
		p.path.dport = htons(ESP_DPORT);
	}
	memcpy(p.cipher_key, peer->key, p.cipher_key_len + p.salt_len);
	memcpy(p.auth_key, peer->auth_key, p.auth_key_len);
	return p;
}

void esp_worker(struct worker *w)
{
	*w = (struct worker){
		.workers = 1,
		.sessions = esp_sessions,
		.packets = esp_packets,
		.stats = &stats[0],
		.crypto = {.ops = esp_ops, .stats = &stats[0]},
	};
}

static bool waits(const struct worker *w)
{
	for (unsigned int d = 0; d < engine_devices; d++)
		if (w->crypto.pending[d])
			return true;
	return false;
}

void esp_worker_finish(struct worker *w)
{
	dispatch(w);
	for (unsigned int i = 0; i < 100000 && waits(w); i++)
		worker_poll(w);
	assert_false(waits(w));
}

static struct cygnet_sa *find(const struct cygnet_sa_params *p)
{
	struct cygnet_sa *sa = NULL;

	if (p->flags & CYGNET_SA_INBOUND)
		return cygnet_sad_lookup(sadb, p->id.spi, p->id.proto, p->id.af, &p->id.dst);
	/* An outbound SA is found by its policy. Here it is the only outbound SA. */
	for (uint32_t i = 0; i < esp_sas && !sa; i++) {
		sa = cygnet_sa_at(sadb, i);
		if (sa->state != CYGNET_SLOT_LIVE || sa->spi != p->id.spi)
			sa = NULL;
	}
	return sa;
}

unsigned int esp_device_after(unsigned int device, const struct cygnet_sa *sa)
{
	void *crypto;

	do
		assert_in_range(++device, 0, engine_devices - 1);
	while (session_crypto(sa, device, &crypto));
	rte_cryptodev_sym_session_free(engine_device[device].id, crypto);
	return device;
}

static void use_device(unsigned int device)
{
	engine_device[0] = all_devices[device];
	engine_devices = 1;
}

bool esp_sa_add_params(struct esp_sa *e, const struct cygnet_sa_params *params, unsigned int device)
{
	use_device(device);
	assert_int_equal(cygnet_sa_add(sadb, params), 0);
	e->sa = find(params);
	assert_non_null(e->sa);
	if (session_get(esp_sessions, e->sa, cygnet_sa_index(sadb, e->sa), true, &e->session) !=
	    DROP_NONE) {
		e->session = NULL;
		esp_sa_delete(e);
	}
	return e->session;
}

bool esp_sa_add(struct esp_sa *e, const struct esp_algorithm *algorithm, unsigned int options,
		unsigned int device)
{
	static uint8_t keys;
	struct cygnet_sa_params params;

	*e = (struct esp_sa){.options = options};
	peer_init(&e->peer, algorithm, options & ESP_ESN, ++keys);
	params = esp_params(&e->peer, options);
	return esp_sa_add_params(e, &params, device);
}

void esp_sa_move(const struct esp_sa *e, bool v6)
{
	const struct cygnet_sa_id id = {e->sa->spi, e->sa->proto, cygnet_sa_path(e->sa)->af,
					cygnet_sa_path(e->sa)->dst};
	struct cygnet_path there = *cygnet_sa_path(e->sa);

	there.af = v6 ? AF_INET6 : AF_INET;
	there.src = v6 ? esp_moved_src : address("192.0.2.2");
	there.dst = v6 ? esp_moved_dst : address("192.0.2.1");
	cygnet_reader_quiescent(sadb, 0);
	assert_int_equal(cygnet_sa_update(sadb, &id, &there, 0), 0);
}

void esp_sa_delete(struct esp_sa *e)
{
	const struct cygnet_sa_id id = {e->sa->spi, e->sa->proto, cygnet_sa_path(e->sa)->af,
					cygnet_sa_path(e->sa)->dst};

	assert_int_equal(cygnet_sa_delete(sadb, &id), 0);
	let_go();
}

void esp_sa_any(struct esp_sa *e, const struct esp_algorithm *algorithm, unsigned int options)
{
	for (unsigned int d = 0; d < esp_devices; d++)
		if (esp_sa_add(e, algorithm, options, d))
			return;
	fail_msg("no device serves %s", algorithm->name);
}

void esp_sa_any_params(struct esp_sa *e, const struct cygnet_sa_params *params)
{
	for (unsigned int d = 0; d < esp_devices; d++)
		if (esp_sa_add_params(e, params, d))
			return;
	fail_msg("no device serves the SA");
}

void esp_each(unsigned int direction, void (*check)(struct esp_sa *e))
{
	for (unsigned int i = 0; i < esp_algorithm_count; i++) {
		unsigned int served = 0;

		for (unsigned int d = 0; d < esp_devices; d++) {
			for (unsigned int o = 0; o < 4; o++) {
				unsigned int options = direction | (o & 1 ? ESP_ESN : 0) |
						       (o & 2 ? ESP_ENCAP : 0);
				struct esp_sa e;

				if (!esp_sa_add(&e, &esp_algorithms[i], options, d))
					continue;
				served++;
				check(&e);
				esp_sa_delete(&e);
			}
		}
		if (served < 4)
			fail_msg("no device serves %s", esp_algorithms[i].name);
	}
}

/* --- packets --- */

static void free_buffer(void *buffer, void *shared)
{
	free(buffer);
	free(shared);
}

struct rte_mbuf *esp_packet(const uint8_t *data, unsigned int len, unsigned int headroom,
			    unsigned int tailroom)
{
	unsigned int size = headroom + len + tailroom;
	struct rte_mbuf_ext_shared_info *shared = malloc(sizeof(*shared));
	struct rte_mbuf *m = rte_pktmbuf_alloc(esp_packets);
	uint8_t *buffer = malloc(size);

	assert_non_null(m);
	assert_true(size <= UINT16_MAX);
	*shared = (struct rte_mbuf_ext_shared_info){.free_cb = free_buffer, .fcb_opaque = shared};
	rte_mbuf_ext_refcnt_set(shared, 1);
	rte_pktmbuf_attach_extbuf(m, buffer, (rte_iova_t)(uintptr_t)buffer, (uint16_t)size, shared);
	m->data_off = (uint16_t)headroom;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	memset(packet(m), 0, sizeof(struct packet));
	if (data)
		memcpy(buffer + headroom, data, len);
	else
		memset(buffer + headroom, 0, len);
	return m;
}

unsigned int esp_offset(const struct esp_sa *e)
{
	return e->options & ESP_ENCAP ? 28 : 20;
}

unsigned int esp_hidden(const struct esp_sa *e)
{
	return e->session->form != SUITE_AEAD && (e->options & ESP_ESN) ? 4 : 0;
}

unsigned int esp_wire(const struct esp_sa *e, uint8_t outer_tos, uint64_t seq, const uint8_t *text,
		      unsigned int len, uint8_t *wire)
{
	unsigned int offset = esp_offset(e), total;
	bool encap = e->options & ESP_ENCAP;

	total = offset + peer_seal(&e->peer, ESP_SPI, seq, text, len, wire + offset);
	peer_ip(wire, outer_tos, (uint16_t)total, 77, 0, encap ? IPPROTO_UDP : IPPROTO_ESP);
	if (encap) {
		const uint16_t udp[4] = {htons(ESP_SPORT), htons(ESP_DPORT),
					 htons((uint16_t)(total - 20)), 0};

		memcpy(wire + 20, udp, sizeof(udp));
	}
	return total;
}

struct rte_mbuf *esp_receive(const struct esp_sa *e, const uint8_t *wire, unsigned int len)
{
	/* Headroom includes the bytes of the Ethernet header that receive removed. */
	struct rte_mbuf *m = esp_packet(wire, len, 14, esp_hidden(e));
	struct packet *p = packet(m);
	uint32_t seq;

	p->esp = (uint16_t)esp_offset(e);
	p->udp = (e->options & ESP_ENCAP) != 0;
	p->sa = cygnet_sa_index(sadb, e->sa);
	p->generation = e->sa->generation;
	p->stage = STAGE_UNPROTECT;
	if (len >= p->esp + 8u) {
		memcpy(&seq, wire + p->esp + 4, sizeof(seq));
		p->seq = cygnet_replay_seq(e->sa, ntohl(seq));
	}
	return m;
}

struct rte_mbuf *esp_from_peer(const struct esp_sa *e, uint64_t seq, const uint8_t *text,
			       unsigned int len)
{
	uint8_t wire[28 + PEER_ESP_MAX];

	return esp_receive(e, wire, esp_wire(e, 0, seq, text, len, wire));
}

struct rte_mbuf *esp_sealed(const struct esp_sa *e, uint64_t seq, uint8_t next)
{
	unsigned int pad = peer_padding(e->peer.algorithm, 40);
	uint8_t text[128];
	struct rte_mbuf *m;

	peer_packet(text, 40, 0, false);
	m = esp_from_peer(e, seq, text, peer_trailer(text, 40, pad, next));
	packet(m)->seq = (uint32_t)seq;
	return m;
}

struct rte_mbuf *esp_plain(const struct cygnet_sa *sa, unsigned int len)
{
	uint8_t inner[400];
	struct rte_mbuf *m;

	assert_true(len <= sizeof(inner));
	peer_packet(inner, len, 0, false);
	m = esp_packet(inner, len, RTE_PKTMBUF_HEADROOM, RTE_PKTMBUF_HEADROOM);
	packet(m)->stage = STAGE_FIT;
	packet(m)->sa = cygnet_sa_index(sadb, sa);
	packet(m)->generation = sa->generation;
	return m;
}

/* --- processing by a device --- */

static struct rte_crypto_op *new_op(void)
{
	struct rte_crypto_op *op = rte_crypto_op_alloc(esp_ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);

	assert_non_null(op);
	return op;
}

/* Also frees the operation. */
static enum drop_reason run(const struct esp_sa *e, struct rte_mbuf *m, struct rte_crypto_op *op)
{
	uint8_t device = engine_device[e->session->device].id;
	struct rte_crypto_op *done = NULL;
	int status;

	rte_crypto_op_attach_sym_session(op, e->session->crypto[e->session->device]);
	crypto_op_describe(op, m, e->session->form);
	assert_int_equal(rte_cryptodev_enqueue_burst(device, 0, &op, 1), 1);
	/* An empty burst flushes a device that collects packets. */
	for (unsigned int i = 0; i < 100000 && !done; i++)
		rte_cryptodev_dequeue_burst(device, 0, &done, 1);
	assert_ptr_equal(done, op);
	status = op->status;
	rte_crypto_op_free(op);
	if (status == RTE_CRYPTO_OP_STATUS_SUCCESS)
		return DROP_NONE;
	return status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED ? DROP_AUTH_FAILED : DROP_ENGINE_FAILED;
}

static enum drop_reason prepare_out(const struct esp_sa *e, struct rte_mbuf *m, uint64_t seq,
				    struct esp_job *job)
{
	return e->session->ah ? ah_out_prepare(m, e->sa, e->session, seq, job)
			      : esp_out_prepare(m, e->sa, e->session, seq, job);
}

enum drop_reason esp_prepare(const struct esp_sa *e, struct rte_mbuf *m, uint64_t seq)
{
	struct esp_job job;

	return prepare_out(e, m, seq, &job);
}

enum drop_reason esp_protect(const struct esp_sa *e, struct rte_mbuf *m, uint64_t seq)
{
	struct rte_crypto_op *op = new_op();
	enum drop_reason reason = prepare_out(e, m, seq, crypto_op_job(op));

	if (reason != DROP_NONE) {
		rte_crypto_op_free(op);
		return reason;
	}
	reason = run(e, m, op);
	if (reason == DROP_NONE && e->session->ah)
		ah_out_finish(m, e->session);
	else if (reason == DROP_NONE)
		esp_out_finish(m, e->session);
	return reason;
}

enum drop_reason esp_unprotect(const struct esp_sa *e, struct rte_mbuf *m)
{
	struct rte_crypto_op *op = new_op();
	enum drop_reason reason = e->session->ah ? ah_in_prepare(m, e->session, crypto_op_job(op))
						 : esp_in_prepare(m, e->session, crypto_op_job(op));

	if (reason != DROP_NONE) {
		rte_crypto_op_free(op);
		return reason;
	}
	reason = run(e, m, op);
	if (reason != DROP_NONE)
		return reason;
	return e->session->ah ? ah_in_finish(m, e->sa, e->session)
			      : esp_in_finish(m, e->sa, e->session);
}
