/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include <rte_bus_vdev.h>

#include "peers.h"

#define SESSIONS 256
#define ROOM	 17408

static struct peer {
	const char *driver;
	struct device dev;
} peers[PEERS] = {
	{.driver = "crypto_openssl"},
	{.driver = "crypto_aesni_mb"},
	{.driver = "crypto_aesni_gcm"},
	{.driver = "crypto_chacha20_poly1305"},
};

static struct rte_mempool *ops, *packets;

static void peer_open(struct peer *peer)
{
	struct rte_cryptodev_config config = {.nb_queue_pairs = 1};
	struct rte_cryptodev_qp_conf qp = {.nb_descriptors = 64};
	struct device *dev = &peer->dev;
	char pool[24];

	snprintf(dev->name, sizeof(dev->name), "%s_peer", peer->driver);
	CHECK(rte_vdev_init(dev->name, NULL) == 0);
	dev->id = rte_cryptodev_get_dev_id(dev->name);
	snprintf(pool, sizeof(pool), "peer_%u", dev->id);
	dev->sessions = rte_cryptodev_sym_session_pool_create(
		pool, SESSIONS, rte_cryptodev_sym_get_private_session_size(dev->id), 0, 0,
		SOCKET_ID_ANY);
	qp.mp_session = dev->sessions;
	CHECK(dev->sessions != NULL);
	CHECK(rte_cryptodev_configure(dev->id, &config) == 0);
	CHECK(rte_cryptodev_queue_pair_setup(dev->id, 0, &qp, SOCKET_ID_ANY) == 0);
	CHECK(rte_cryptodev_start(dev->id) == 0);
}

void peers_open(void)
{
	ops = rte_crypto_op_pool_create("peer ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC, 15, 0,
					16 + MAX_AAD, SOCKET_ID_ANY);
	packets = rte_pktmbuf_pool_create("peer packets", 15, 0, 0, ROOM + RTE_PKTMBUF_HEADROOM,
					  SOCKET_ID_ANY);
	CHECK(ops && packets);
	for (unsigned int i = 0; i < PEERS; i++)
		peer_open(&peers[i]);
}

void peers_close(void)
{
	for (unsigned int i = 0; i < PEERS; i++)
		device_close(&peers[i].dev);
	CHECK(rte_mempool_full(ops) && rte_mempool_full(packets));
}

const char *peer_name(unsigned int peer)
{
	return peers[peer].driver;
}

static bool offers_xform(uint8_t id, const struct rte_crypto_sym_xform *x)
{
	struct rte_cryptodev_sym_capability_idx index = {.type = x->type};
	const struct rte_cryptodev_symmetric_capability *c;

	if (x->type == RTE_CRYPTO_SYM_XFORM_AEAD)
		index.algo.aead = x->aead.algo;
	else if (x->type == RTE_CRYPTO_SYM_XFORM_AUTH)
		index.algo.auth = x->auth.algo;
	else
		index.algo.cipher = x->cipher.algo;
	c = rte_cryptodev_sym_capability_get(id, &index);
	if (c == NULL)
		return false;
	if (x->type == RTE_CRYPTO_SYM_XFORM_AEAD)
		return rte_cryptodev_sym_capability_check_aead(c, x->aead.key.length,
							       x->aead.digest_length,
							       x->aead.aad_length,
							       x->aead.iv.length) == 0;
	if (x->type == RTE_CRYPTO_SYM_XFORM_AUTH)
		return rte_cryptodev_sym_capability_check_auth(c, x->auth.key.length,
							       x->auth.digest_length,
							       x->auth.iv.length) == 0;
	return rte_cryptodev_sym_capability_check_cipher(c, x->cipher.key.length,
							 x->cipher.iv.length) == 0;
}

/* A driver has to accept all operations within its capabilities. */
static void *make_session(const struct device *dev, const struct suite *suite)
{
	struct suite plain = *suite;
	struct xforms xforms;
	void *session;

	/* There is nothing to compare with NULL. */
	plain.null_cipher = false;
	plain.null_auth = false;
	if (plain.cipher == OCL_CIPHER_NONE && plain.auth == OCL_AUTH_NONE)
		return NULL;
	suite_xforms(&plain, true, &xforms);
	for (const struct rte_crypto_sym_xform *x = xforms.first; x; x = x->next) {
		if (!offers_xform(dev->id, x))
			return NULL;
	}
	session = rte_cryptodev_sym_session_create(dev->id, xforms.first, dev->sessions);
	CHECK(session != NULL);
	return session;
}

void peers_sessions(struct peer_sessions *sessions, const struct suite *suite)
{
	for (unsigned int i = 0; i < PEERS; i++)
		sessions->session[i] = make_session(&peers[i].dev, suite);
}

void peers_sessions_free(struct peer_sessions *sessions)
{
	for (unsigned int i = 0; i < PEERS; i++) {
		if (sessions->session[i])
			session_free(&peers[i].dev, sessions->session[i]);
	}
}

static void run(const struct device *dev, struct rte_crypto_op *op)
{
	struct rte_crypto_op *back;

	CHECK(rte_cryptodev_enqueue_burst(dev->id, 0, &op, 1) == 1);
	while (rte_cryptodev_dequeue_burst(dev->id, 0, &back, 1) == 0)
		;
	CHECK(back == op);
}

static void differs(unsigned int peer, const struct peer_job *job, const uint8_t *data, int status)
{
	const struct suite *suite = job->suite;
	const struct rte_crypto_sym_op *sym = job->ranges;
	uint32_t i = 0;

	while (i < job->len && data[i] == job->after[i])
		i++;
	fprintf(stderr,
		"%s: status %d, cipher %u (key %u), authentication %u (key %u, digest %u), "
		"swapped %d, ranges %u+%u and %u+%u, digest at %u, differs at %u\n",
		peer_name(peer), status, suite->cipher, suite->key_len, suite->auth,
		suite->mac_key_len, suite->digest_len, suite->swapped, sym->cipher.data.offset,
		sym->cipher.data.length, sym->auth.data.offset, sym->auth.data.length,
		job->digest_off, i);
	fprintf(stderr, "IV");
	for (uint32_t k = 0; k < 16; k++)
		fprintf(stderr, " %02x", job->iv[k]);
	fprintf(stderr, "\n");
	CHECK(!"the peer gets what is expected");
}

void peer_check(unsigned int peer, void *session, const struct peer_job *job)
{
	struct rte_crypto_op *op = rte_crypto_op_alloc(ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	struct rte_mbuf *m = rte_pktmbuf_alloc(packets);
	uint8_t *data;

	CHECK(op && m);
	data = (uint8_t *)rte_pktmbuf_append(m, job->len);
	CHECK(data != NULL);
	memcpy(data, job->before, job->len);
	CHECK(rte_crypto_op_attach_sym_session(op, session) == 0);
	op->sym->m_src = m;
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, IV_OFFSET), job->iv, 16);
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, AAD_OFFSET), job->aad, MAX_AAD);
	if (suite_is_aead(job->suite)) {
		op->sym->aead.data = job->ranges->aead.data;
		op->sym->aead.digest.data = data + job->digest_off;
		op->sym->aead.digest.phys_addr = rte_pktmbuf_iova_offset(m, job->digest_off);
		op->sym->aead.aad.data = rte_crypto_op_ctod_offset(op, uint8_t *, AAD_OFFSET);
	} else {
		op->sym->cipher.data = job->ranges->cipher.data;
		op->sym->auth.data = job->ranges->auth.data;
		op->sym->auth.digest.data = data + job->digest_off;
		op->sym->auth.digest.phys_addr = rte_pktmbuf_iova_offset(m, job->digest_off);
	}
	run(&peers[peer].dev, op);
	if (op->status != RTE_CRYPTO_OP_STATUS_SUCCESS || memcmp(data, job->after, job->len))
		differs(peer, job, data, op->status);
	rte_pktmbuf_free(m);
	rte_crypto_op_free(op);
}
