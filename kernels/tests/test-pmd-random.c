/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver against OpenSSL: random operations of mixed algorithms, lengths and
 * directions, in place and out of place, some with a wrong digest, some
 * malformed, in bursts. Each has to come back in order, with its own status,
 * and with every byte of its buffers as expected.
 *
 *   test-pmd-random [operations per set [vdev arguments]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "reference.h"

#define OUTSTANDING 1024
#define PAIRS	    24 /* of sessions in a set */
#define ROOM	    2560
#define JUMBO_ROOM  9728

/* One direction each. */
struct pair {
	struct suite suite;
	void *encrypt, *decrypt;
};

struct job {
	struct rte_crypto_op *op;
	struct rte_mbuf *src, *dst;
	uint8_t *src_expected, *dst_expected; /* whole buffers */
	enum rte_crypto_op_status status;
};

struct set {
	const char *name;
	struct {
		enum cipher cipher;
		uint32_t hash;
		uint32_t digest_len; /* 0: GCM's 8, 12 or 16 */
	} kinds[8];
	unsigned int nkinds;
};

static const struct set sets[] = {
	{"AES-CBC + HMAC-SHA1-96", {{AES_CBC, 20, 12}}, 1},
	{"AES-CBC + HMAC-SHA2-256-128", {{AES_CBC, 32, 16}}, 1},
	{"AES-CBC + HMAC-SHA2-384-192", {{AES_CBC, 48, 24}}, 1},
	{"AES-CBC + HMAC-SHA2-512-256", {{AES_CBC, 64, 32}}, 1},
	{"AES-GCM", {{AES_GCM, 0, 0}}, 1},
	{"all mixed, cipher or digest alone, too",
	 {{AES_CBC, 20, 12}, {AES_CBC, 32, 16}, {AES_CBC, 48, 24}, {AES_CBC, 64, 32},
	  {AES_GCM, 0, 0}, {AES_CBC, 0, 0}, {NO_CIPHER, 20, 20}, {NO_CIPHER, 32, 32}},
	 8},
};

static struct rte_mempool *ops, *packets, *jumbos;
static struct rte_cryptodev_stats counted;

static void make_pair(const struct device *dev, struct pair *pair, const struct set *set)
{
	unsigned int k = rnd_below(set->nkinds);

	pair->suite = (struct suite){
		.cipher = set->kinds[k].cipher,
		.hash = set->kinds[k].hash,
		.digest_len = set->kinds[k].digest_len,
	};
	if (pair->suite.cipher == AES_GCM) {
		static const uint32_t aads[] = {8, 12, 0, 20, 48};

		pair->suite.digest_len = 8 + 4 * rnd_below(3);
		pair->suite.aad_len = aads[rnd_below(RTE_DIM(aads))];
	}
	suite_keys(&pair->suite);
	pair->encrypt = suite_session(dev, &pair->suite, true);
	pair->decrypt = suite_session(dev, &pair->suite, false);
	CHECK(pair->encrypt && pair->decrypt);
}

static struct rte_mbuf *make_packet(bool jumbo)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(jumbo ? jumbos : packets);

	CHECK(m != NULL);
	rnd_fill(m->buf_addr, m->buf_len);
	m->data_off = rnd_below(RTE_PKTMBUF_HEADROOM + 1);
	m->data_len = m->buf_len - m->data_off;
	m->pkt_len = m->data_len;
	return m;
}

/* What the reference works on: bytes in the source that are to be processed. */
struct view {
	uint8_t *cipher, *auth, *digest, *iv, *aad;
	uint32_t cipher_len, auth_len;
};

static void reference_encrypt(const struct suite *suite, const struct view *v)
{
	uint8_t digest[64] = {0};

	if (suite->cipher == AES_GCM)
		reference_gcm(suite->key, suite->key_len, v->iv, v->aad, suite->aad_len, v->cipher,
			      v->cipher_len, digest);
	if (suite->cipher == AES_CBC)
		reference_cbc(suite->key, suite->key_len, v->iv, v->cipher, v->cipher_len, true);
	if (suite->hash)
		reference_hmac(suite->hash, suite->mac_key, suite->mac_key_len, v->auth,
			       v->auth_len, digest);
	memcpy(v->digest, digest, suite->digest_len);
}

/* Ranges: a prefix that is left alone, a header, what is encrypted, the digest. */
static void choose_ranges(const struct suite *suite, struct rte_crypto_sym_op *sym, bool jumbo,
			  uint32_t *digest_off)
{
	uint32_t prefix = rnd_below(4) ? 4 * rnd_below(8) : rnd_below(32);
	uint32_t header = rnd_below(4) ? 24 : rnd_below(41); /* ESP's, mostly */
	uint32_t len = jumbo ? rnd_below(9000) : rnd_below(rnd_below(2) ? 2049 : 200);

	if (suite->cipher == AES_CBC)
		len &= ~15u;
	*digest_off = prefix + header + len;
	if (suite->cipher == AES_GCM) {
		sym->aead.data.offset = prefix + header;
		sym->aead.data.length = len;
		return;
	}
	sym->cipher.data.offset = prefix + header;
	sym->cipher.data.length = len;
	sym->auth.data.offset = prefix;
	sym->auth.data.length = header + len;
}

static struct view view_of(const struct suite *suite, struct rte_crypto_op *op, uint8_t *data,
			   uint32_t digest_off)
{
	bool gcm = suite->cipher == AES_GCM;

	return (struct view){
		.cipher = data + (gcm ? op->sym->aead.data.offset : op->sym->cipher.data.offset),
		.cipher_len = gcm ? op->sym->aead.data.length : op->sym->cipher.data.length,
		.auth = data + op->sym->auth.data.offset,
		.auth_len = op->sym->auth.data.length,
		.digest = data + digest_off,
		.iv = rte_crypto_op_ctod_offset(op, uint8_t *, IV_OFFSET),
		.aad = rte_crypto_op_ctod_offset(op, uint8_t *, AAD_OFFSET),
	};
}

/* The bytes an operation covers, cipher and authentication together. */
static void covered(const struct suite *suite, const struct rte_crypto_sym_op *sym, uint32_t *from,
		    uint32_t *len)
{
	bool gcm = suite->cipher == AES_GCM;

	*from = gcm ? sym->aead.data.offset : suite->hash ? sym->auth.data.offset :
		sym->cipher.data.offset;
	*len = gcm ? sym->aead.data.length : suite->hash ? sym->auth.data.length :
		sym->cipher.data.length;
}

static void set_digest(const struct suite *suite, struct rte_crypto_sym_op *sym, uint8_t *digest)
{
	if (suite->cipher == AES_GCM)
		sym->aead.digest.data = digest;
	else
		sym->auth.digest.data = digest;
}

/* The whole buffer as it is now. */
static uint8_t *image(const struct rte_mbuf *m)
{
	uint8_t *copy = malloc(m->buf_len);

	CHECK(copy != NULL);
	memcpy(copy, m->buf_addr, m->buf_len);
	return copy;
}

/* Turn a good operation into one that has to be refused. */
static enum rte_crypto_op_status spoil(const struct suite *suite, struct rte_crypto_op *op)
{
	struct rte_crypto_sym_op *sym = op->sym;
	bool gcm = suite->cipher == AES_GCM;
	uint32_t *len = gcm ? &sym->aead.data.length :
			suite->cipher ? &sym->cipher.data.length : &sym->auth.data.length;
	uint32_t *off = gcm ? &sym->aead.data.offset :
			suite->cipher ? &sym->cipher.data.offset : &sym->auth.data.offset;

	switch (rnd_below(8)) {
	case 0:
		sym->session = NULL;
		return RTE_CRYPTO_OP_STATUS_INVALID_SESSION;
	case 1:
		op->sess_type = RTE_CRYPTO_OP_SESSIONLESS;
		return RTE_CRYPTO_OP_STATUS_INVALID_SESSION;
	case 2:
		sym->m_src->nb_segs = 2;
		break;
	case 3:
		*off = sym->m_src->data_len;
		*len = 16;
		break;
	case 4:
		*len = UINT32_MAX - 15;
		break;
	case 5:
		*off = UINT32_MAX - 15;
		*len = 16;
		break;
	case 6:
		if (suite->cipher == AES_CBC)
			*len |= 1 + rnd_below(15);
		else
			*len = sym->m_src->data_len + 1 - *off;
		break;
	default:
		if (suite->digest_len)
			set_digest(suite, sym, NULL);
		else
			*len = UINT32_MAX;
	}
	return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
}

/* A bit of what is authenticated, or of the digest. */
static void tamper(const struct suite *suite, const struct view *v)
{
	uint8_t *p = v->digest + rnd_below(suite->digest_len);

	if (rnd_below(2) && suite->cipher == AES_GCM && suite->aad_len)
		p = v->aad + rnd_below(suite->aad_len);
	else if (rnd_below(2) && v->cipher_len && suite->cipher)
		p = v->cipher + rnd_below(v->cipher_len);
	*p ^= 1 << rnd_below(8);
}

/* Expected results of an encryption, by encrypting the expected image. */
static void expect_encrypt(const struct suite *suite, struct job *job, uint32_t digest_off)
{
	uint8_t *data = job->dst_expected + job->dst->data_off;
	struct view v = view_of(suite, job->op, data, digest_off);
	uint32_t from, len;

	covered(suite, job->op->sym, &from, &len);
	if (job->dst != job->src)
		memcpy(data + from, rte_pktmbuf_mtod_offset(job->src, uint8_t *, from), len);
	reference_encrypt(suite, &v);
}

/* The source is encrypted for it; the plaintext it had is the expected result. */
static void expect_decrypt(const struct suite *suite, struct job *job, uint32_t digest_off)
{
	uint8_t *src = rte_pktmbuf_mtod(job->src, uint8_t *);
	struct view v = view_of(suite, job->op, src, digest_off);
	uint8_t *plain = image(job->src);
	uint32_t from, len;

	covered(suite, job->op->sym, &from, &len);
	reference_encrypt(suite, &v);
	if (suite->digest_len && rnd_below(8) == 0) {
		tamper(suite, &v);
		job->status = RTE_CRYPTO_OP_STATUS_AUTH_FAILED;
	}
	free(job->src_expected);
	job->src_expected = image(job->src);
	if (job->dst == job->src)
		job->dst_expected = job->src_expected;
	if (job->status == RTE_CRYPTO_OP_STATUS_SUCCESS)
		memcpy(job->dst_expected + job->dst->data_off + from,
		       plain + job->src->data_off + from, len);
	free(plain);
}

static void make_job(struct job *job, const struct pair *pair)
{
	const struct suite *suite = &pair->suite;
	bool encrypt = rnd_below(2), jumbo = rnd_below(50) == 0;
	struct rte_crypto_sym_op *sym;
	uint32_t digest_off;

	job->op = rte_crypto_op_alloc(ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	CHECK(job->op != NULL);
	sym = job->op->sym;
	job->src = make_packet(jumbo);
	job->dst = rnd_below(3) ? job->src : make_packet(jumbo);
	sym->m_src = job->src;
	sym->m_dst = job->dst == job->src ? NULL : job->dst;
	job->status = RTE_CRYPTO_OP_STATUS_SUCCESS;
	CHECK(rte_crypto_op_attach_sym_session(job->op, encrypt ? pair->encrypt : pair->decrypt) ==
	      0);
	rnd_fill(rte_crypto_op_ctod_offset(job->op, uint8_t *, IV_OFFSET), 16 + MAX_AAD);
	choose_ranges(suite, sym, jumbo, &digest_off);
	if (suite->cipher == AES_GCM)
		sym->aead.aad.data = rte_crypto_op_ctod_offset(job->op, uint8_t *, AAD_OFFSET);
	set_digest(suite, sym, rte_pktmbuf_mtod_offset(encrypt ? job->dst : job->src, uint8_t *,
						       digest_off));
	job->src_expected = image(job->src);
	job->dst_expected = job->dst == job->src ? job->src_expected : image(job->dst);
	if (rnd_below(16) == 0)
		job->status = spoil(suite, job->op);
	else if (encrypt)
		expect_encrypt(suite, job, digest_off);
	else
		expect_decrypt(suite, job, digest_off);
}

static void compare(const struct job *job, const char *what, const struct rte_mbuf *m,
		    const uint8_t *expected, uint32_t index)
{
	const uint8_t *got = m->buf_addr;
	uint32_t i = 0;

	while (i < m->buf_len && got[i] == expected[i])
		i++;
	if (i == m->buf_len)
		return;
	fprintf(stderr, "operation %u: %s differs at byte %d of the packet, status %d\n", index,
		what, (int)i - m->data_off, job->op->status);
	CHECK(!"the buffers are as expected");
}

static void check_job(struct job *job, const struct rte_crypto_op *op, uint32_t index)
{
	CHECK(op == job->op);
	if (op->status != job->status) {
		fprintf(stderr, "operation %u: status %d, expected %d\n", index, op->status,
			job->status);
		CHECK(!"the status is as expected");
	}
	job->src->nb_segs = 1;
	compare(job, "source", job->src, job->src_expected, index);
	if (job->dst != job->src) {
		compare(job, "destination", job->dst, job->dst_expected, index);
		free(job->dst_expected);
		rte_pktmbuf_free(job->dst);
	}
	free(job->src_expected);
	rte_pktmbuf_free(job->src);
	rte_crypto_op_free(job->op);
	counted.enqueue_err_count += job->status == RTE_CRYPTO_OP_STATUS_INVALID_ARGS ||
				     job->status == RTE_CRYPTO_OP_STATUS_INVALID_SESSION;
}

static void run_set(const struct device *dev, const struct set *set, uint32_t total)
{
	static struct job jobs[OUTSTANDING];
	struct pair pairs[PAIRS];
	struct rte_crypto_op *burst[64];
	uint32_t made = 0, sent = 0, back = 0;

	printf("%s: %u operations\n", set->name, total);
	fflush(stdout);
	for (unsigned int i = 0; i < PAIRS; i++)
		make_pair(dev, &pairs[i], set);
	while (back < total) {
		uint32_t n = RTE_MIN(rnd_below(RTE_DIM(burst)) + 1, total - made);

		for (; n && made - back < OUTSTANDING; n--, made++)
			make_job(&jobs[made % OUTSTANDING], &pairs[rnd_below(PAIRS)]);
		for (n = 0; n < RTE_DIM(burst) && sent + n < made; n++)
			burst[n] = jobs[(sent + n) % OUTSTANDING].op;
		sent += rte_cryptodev_enqueue_burst(dev->id, 0, burst, n);
		n = rte_cryptodev_dequeue_burst(dev->id, 0, burst, 1 + rnd_below(RTE_DIM(burst)));
		for (uint32_t i = 0; i < n; i++, back++)
			check_job(&jobs[back % OUTSTANDING], burst[i], back);
	}
	for (unsigned int i = 0; i < PAIRS; i++) {
		session_free(dev, pairs[i].encrypt);
		session_free(dev, pairs[i].decrypt);
	}
	counted.enqueued_count += total;
}

static void check_stats(const struct device *dev)
{
	struct rte_cryptodev_stats stats;

	CHECK(rte_cryptodev_stats_get(dev->id, &stats) == 0);
	CHECK(stats.enqueued_count == counted.enqueued_count);
	CHECK(stats.dequeued_count == counted.enqueued_count);
	CHECK(stats.enqueue_err_count == counted.enqueue_err_count);
	CHECK(stats.dequeue_err_count == 0);
}

int main(int argc, char *argv[])
{
	uint32_t total = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000;
	struct device dev;

	harness_start();
	ops = rte_crypto_op_pool_create("ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC, OUTSTANDING, 0,
					16 + MAX_AAD, SOCKET_ID_ANY);
	packets = rte_pktmbuf_pool_create("packets", 2 * OUTSTANDING, 0, 0,
					  ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	jumbos = rte_pktmbuf_pool_create("jumbos", 2 * OUTSTANDING, 0, 0,
					 JUMBO_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	CHECK(ops && packets && jumbos);
	device_open(&dev, argc > 2 ? argv[2] : NULL, 1);
	for (unsigned int i = 0; i < RTE_DIM(sets); i++)
		run_set(&dev, &sets[i], total);
	check_stats(&dev);
	device_close(&dev);
	CHECK(rte_mempool_full(ops) && rte_mempool_full(packets) && rte_mempool_full(jumbos));
	harness_stop();
	printf("all as expected\n");
	return 0;
}
