/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "jobs.h"
#include "reference.h"

#define JUMBO_ROOM 17408
#define JUMBO	   16384 /* longest message */
#define CCM_AAD	   18	 /* bytes that DPDK requires in front of CCM's AAD */
#define ALIGNMENTS 16

/* Lengths, each with each alignment of the text. */
static const uint32_t edges[EDGES / ALIGNMENTS] = {0,	 1,    15,   16,   17,	      31,
						   32,	 33,   63,   64,   65,	      1023,
						   1024, 1025, 4095, 4096, JUMBO - 1, JUMBO};

static struct rte_mempool *ops, *packets, *jumbos;

void jobs_open(void)
{
	ops = rte_crypto_op_pool_create("ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC, JOBS, 0, 16 + MAX_AAD,
					SOCKET_ID_ANY);
	packets = rte_pktmbuf_pool_create("packets", 2 * JOBS, 0, 0, ROOM + RTE_PKTMBUF_HEADROOM,
					  SOCKET_ID_ANY);
	jumbos = rte_pktmbuf_pool_create("jumbos", 2 * JOBS, 0, 0,
					 JUMBO_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	CHECK(ops && packets && jumbos);
	peers_open();
}

void jobs_close(void)
{
	peers_close();
	CHECK(rte_mempool_full(ops) && rte_mempool_full(packets) && rte_mempool_full(jumbos));
}

void pair_open(const struct device *dev, struct pair *pair, struct kind *kind,
	       const struct suite *like)
{
	*pair = (struct pair){
		.kind = kind,
		.suite = {.cipher = kind->cipher, .auth = kind->auth},
	};
	suite_randomize(&pair->suite);
	if (like) {
		pair->suite.swapped = like->swapped;
		pair->suite.aad_len = like->aad_len;
	}
	pair->encrypt = suite_session(dev, &pair->suite, true);
	pair->decrypt = suite_session(dev, &pair->suite, false);
	CHECK(pair->encrypt && pair->decrypt);
	peers_sessions(&pair->peers, &pair->suite);
}

void pair_close(const struct device *dev, struct pair *pair)
{
	session_free(dev, pair->encrypt);
	session_free(dev, pair->decrypt);
	peers_sessions_free(&pair->peers);
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

/* The packet's copy for the reference. */
struct view {
	uint8_t *cipher, *auth, *digest, *iv, *aad;
	uint32_t cipher_len, auth_len;
};

static void reference_encrypt(const struct suite *suite, const struct view *v)
{
	bool ccm = suite->cipher == OCL_CIPHER_AES_CCM;
	uint8_t digest[64] = {0};

	if (suite_is_aead(suite)) {
		reference_aead(suite->cipher, suite->key, suite->key_len, v->iv + ccm,
			       suite->iv_len, v->aad + (ccm ? CCM_AAD : 0), suite->aad_len,
			       v->cipher, v->cipher_len, v->digest, suite->digest_len);
		return;
	}
	for (unsigned int step = 0; step < 2; step++) {
		if (step == suite->swapped)
			reference_cipher(suite->cipher, suite->key, suite->key_len, v->iv,
					 v->cipher, v->cipher_len);
		else
			reference_auth(suite->auth, suite->mac_key, suite->mac_key_len, v->iv,
				       v->auth, v->auth_len, digest);
	}
	memcpy(v->digest, digest, suite->digest_len);
}

static uint32_t block_of(const struct suite *suite)
{
	return suite->cipher == OCL_CIPHER_AES_CBC    ? 16
	       : suite->cipher == OCL_CIPHER_3DES_CBC ? 8
						      : 1;
}

/* Ranges: an untouched prefix, a header, len encrypted bytes, sometimes a tail that is either
 * only authenticated or only encrypted, the digest. */
static uint32_t choose_ranges(const struct suite *suite, struct rte_crypto_sym_op *sym,
			      uint32_t len, bool exact)
{
	uint32_t prefix = rnd_below(4) ? 4 * rnd_below(8) : rnd_below(32);
	uint32_t header = rnd_below(4) ? 24 : rnd_below(41); /* mostly that of ESP */
	uint32_t tail = exact || rnd_below(4) ? 0 : rnd_below(41);

	if (exact && !suite->cipher)
		header = 0;
	len -= len % block_of(suite);
	if (suite_is_aead(suite)) {
		sym->aead.data.offset = prefix + header;
		sym->aead.data.length = len;
		return prefix + header + len;
	}
	sym->cipher.data.offset = prefix + header;
	sym->cipher.data.length = len;
	sym->auth.data.offset = prefix;
	sym->auth.data.length = header + len;
	if (tail < len && rnd_below(2))
		sym->auth.data.length -= tail;
	else
		sym->auth.data.length += tail;
	return prefix + header + len + tail;
}

static struct view view_of(const struct suite *suite, const struct job *job, uint8_t *data)
{
	bool aead = suite_is_aead(suite);
	const struct rte_crypto_sym_op *sym = job->op->sym;

	return (struct view){
		.cipher = data + (aead ? sym->aead.data.offset : sym->cipher.data.offset),
		.cipher_len = aead ? sym->aead.data.length : sym->cipher.data.length,
		.auth = data + sym->auth.data.offset,
		.auth_len = sym->auth.data.length,
		.digest = data + job->digest_off,
		.iv = rte_crypto_op_ctod_offset(job->op, uint8_t *, IV_OFFSET),
		.aad = rte_crypto_op_ctod_offset(job->op, uint8_t *, AAD_OFFSET),
	};
}

/* The bytes that the destination must have: both ranges, which overlap or touch. */
static void covered(const struct suite *suite, const struct rte_crypto_sym_op *sym, uint32_t *from,
		    uint32_t *len)
{
	uint32_t end = 0;

	*from = 0;
	if (suite_is_aead(suite)) {
		*from = sym->aead.data.offset;
		end = *from + sym->aead.data.length;
	} else if (suite->cipher || suite->null_cipher) {
		*from = sym->cipher.data.offset;
		end = *from + sym->cipher.data.length;
	}
	if (suite->auth) {
		uint32_t auth_end = sym->auth.data.offset + sym->auth.data.length;

		*from = end && sym->cipher.data.length ? RTE_MIN(*from, sym->auth.data.offset)
						       : sym->auth.data.offset;
		end = sym->cipher.data.length ? RTE_MAX(end, auth_end) : auth_end;
	}
	*len = end - *from;
}

static void set_digest(const struct suite *suite, struct rte_crypto_sym_op *sym, uint8_t *digest)
{
	if (suite_is_aead(suite))
		sym->aead.digest.data = digest;
	else
		sym->auth.digest.data = digest;
}

/* A copy of the whole buffer. */
static uint8_t *image(const struct rte_mbuf *m)
{
	uint8_t *copy = malloc(m->buf_len);

	CHECK(copy != NULL);
	memcpy(copy, m->buf_addr, m->buf_len);
	return copy;
}

/* Make a valid operation invalid, so that it has to be refused. */
static enum rte_crypto_op_status spoil(const struct suite *suite, struct rte_crypto_op *op)
{
	struct rte_crypto_sym_op *sym = op->sym;
	bool aead = suite_is_aead(suite), cipher = suite->cipher || suite->null_cipher;
	struct rte_mbuf *dst = sym->m_dst ? sym->m_dst : sym->m_src;
	uint32_t *len = aead	 ? &sym->aead.data.length
			: cipher ? &sym->cipher.data.length
				 : &sym->auth.data.length;
	uint32_t *off = aead	 ? &sym->aead.data.offset
			: cipher ? &sym->cipher.data.offset
				 : &sym->auth.data.offset;

	switch (rnd_below(10)) {
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
		if (block_of(suite) > 1)
			*len |= 1 + rnd_below(block_of(suite) - 1);
		else
			*len = sym->m_src->data_len + 1 - *off;
		break;
	case 7:
		dst->nb_segs = 2;
		break;
	case 8:
		dst->data_off = dst->buf_len + 1;
		break;
	default:
		if (suite->digest_len)
			set_digest(suite, sym, NULL);
		else
			*len = UINT32_MAX;
	}
	return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
}

/* Whether an operation has a range that spoil() can break. */
static bool has_range(const struct suite *suite)
{
	return suite->cipher || suite->null_cipher || suite->auth;
}

/* Flip a bit of the authenticated range or of the digest. */
static void tamper(const struct suite *suite, const struct view *v)
{
	uint8_t *p = v->digest + rnd_below(suite->digest_len);
	uint32_t skip = suite->cipher == OCL_CIPHER_AES_CCM ? CCM_AAD : 0;

	if (suite->digest_len < 4)
		; /* The text is too short to be sure that the digest changes. */
	else if (rnd_below(2) && suite->aad_len)
		p = v->aad + skip + rnd_below(suite->aad_len);
	else if (rnd_below(2) && suite_is_aead(suite) && v->cipher_len)
		p = v->cipher + rnd_below(v->cipher_len);
	else if (rnd_below(2) && suite->auth && v->auth_len)
		p = v->auth + rnd_below(v->auth_len);
	*p ^= 1 << rnd_below(8);
}

/* crypto_aesni_mb increments only the last 32 bits of the counter block; OpenSSL and
 * crypto_opencl increment all. */
static bool counter_wraps(const struct suite *suite, const struct view *v)
{
	uint32_t last;

	memcpy(&last, v->iv + 12, sizeof(last));
	return suite->cipher == OCL_CIPHER_AES_CTR &&
	       rte_be_to_cpu_32(last) > UINT32_MAX - v->cipher_len / 16 - 1;
}

/* Peers that support the algorithm also decrypt the packet encrypted by the reference. */
static void ask_peers(struct pair *pair, const struct job *job, const uint8_t *before,
		      const uint8_t *after, const struct view *v)
{
	const struct suite *suite = &pair->suite;
	struct peer_job peer_job = {
		.suite = suite,
		.ranges = job->op->sym,
		.iv = v->iv,
		.aad = v->aad,
		.before = before,
		.after = after,
		.len = job->digest_off + suite->digest_len,
		.digest_off = job->digest_off,
	};

	/* Some peers refuse empty packets. */
	if ((suite->cipher && v->cipher_len == 0) || (suite->auth && v->auth_len == 0) ||
	    counter_wraps(suite, v))
		return;
	for (unsigned int i = 0; i < PEERS; i++) {
		if (pair->peers.session[i]) {
			peer_check(i, pair->peers.session[i], &peer_job);
			pair->kind->compared[i]++;
		}
	}
}

/* The expected result of an encryption: encrypt the expected image. */
static void expect_encrypt(struct pair *pair, struct job *job)
{
	const struct suite *suite = &pair->suite;
	uint8_t *data = job->dst_expected + job->dst->data_off;
	struct view v = view_of(suite, job, data);
	uint8_t *before;
	uint32_t from, len;

	covered(suite, job->op->sym, &from, &len);
	if (job->dst != job->src)
		memcpy(data + from, rte_pktmbuf_mtod_offset(job->src, uint8_t *, from), len);
	before = malloc(job->dst->buf_len);
	CHECK(before != NULL);
	memcpy(before, job->dst_expected, job->dst->buf_len);
	reference_encrypt(suite, &v);
	ask_peers(pair, job, before + job->dst->data_off, data, &v);
	free(before);
}

/* Encrypt the source. Its plaintext is the expected result. */
static void expect_decrypt(struct pair *pair, struct job *job)
{
	const struct suite *suite = &pair->suite;
	uint8_t *src = rte_pktmbuf_mtod(job->src, uint8_t *);
	struct view v = view_of(suite, job, src);
	uint8_t *plain = image(job->src);
	uint32_t from, len;

	covered(suite, job->op->sym, &from, &len);
	reference_encrypt(suite, &v);
	ask_peers(pair, job, plain + job->src->data_off, src, &v);
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

/* Move the packet so that its text has this alignment. */
static void align(struct rte_mbuf *m, uint32_t text, uint32_t alignment)
{
	uint32_t by = (alignment - (uint32_t)(rte_pktmbuf_mtod(m, uintptr_t) + text)) % ALIGNMENTS;

	m->data_off += by;
	m->data_len -= by;
	m->pkt_len -= by;
}

static uint32_t text_of(const struct suite *suite, const struct rte_crypto_sym_op *sym)
{
	if (suite_is_aead(suite))
		return sym->aead.data.offset;
	return suite->cipher ? sym->cipher.data.offset : sym->auth.data.offset;
}

/* Fill in an operation except ranges and lengths. */
static void begin(struct job *job, struct pair *pair, struct rte_mbuf *src, struct rte_mbuf *dst,
		  bool encrypt)
{
	*job = (struct job){
		.op = rte_crypto_op_alloc(ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC),
		.src = src,
		.dst = dst,
		.status = RTE_CRYPTO_OP_STATUS_SUCCESS,
	};
	CHECK(job->op != NULL);
	job->op->sym->m_src = src;
	job->op->sym->m_dst = dst == src ? NULL : dst;
	CHECK(rte_crypto_op_attach_sym_session(job->op, encrypt ? pair->encrypt : pair->decrypt) ==
	      0);
	rnd_fill(rte_crypto_op_ctod_offset(job->op, uint8_t *, IV_OFFSET), 16 + MAX_AAD);
}

/* The packets have random positions in their buffers. */
static void point(struct job *job, const struct suite *suite, bool encrypt)
{
	struct rte_crypto_sym_op *sym = job->op->sym;

	if (suite_is_aead(suite))
		sym->aead.aad.data = rte_crypto_op_ctod_offset(job->op, uint8_t *, AAD_OFFSET);
	set_digest(suite, sym,
		   rte_pktmbuf_mtod_offset(encrypt ? job->dst : job->src, uint8_t *,
					   job->digest_off));
	job->src_expected = image(job->src);
	job->dst_expected = job->dst == job->src ? job->src_expected : image(job->dst);
}

static void expect(struct pair *pair, struct job *job, bool encrypt)
{
	if (encrypt)
		expect_encrypt(pair, job);
	else
		expect_decrypt(pair, job);
}

void job_make(struct job *job, struct pair *pair)
{
	const struct suite *suite = &pair->suite;
	bool encrypt = rnd_below(2), jumbo = rnd_below(50) == 0, edge = pair->kind->edge < EDGES;
	uint32_t len = jumbo ? rnd_below(JUMBO + 1) : rnd_below(rnd_below(2) ? 2049 : 200);
	struct rte_crypto_sym_op *sym;
	struct rte_mbuf *src;

	if (edge) {
		len = edges[pair->kind->edge / ALIGNMENTS];
		jumbo = len > 2048;
	}
	src = make_packet(jumbo);
	begin(job, pair, src, rnd_below(3) ? src : make_packet(jumbo), encrypt);
	sym = job->op->sym;
	job->digest_off = choose_ranges(suite, sym, len, edge);
	if (edge)
		align(job->src, text_of(suite, sym), pair->kind->edge % ALIGNMENTS);
	if (edge && job->dst != job->src)
		align(job->dst, text_of(suite, sym), rnd_below(ALIGNMENTS));
	pair->kind->edge += edge;
	point(job, suite, encrypt);
	if (!edge && has_range(suite) && rnd_below(16) == 0)
		job->status = spoil(suite, job->op);
	else
		expect(pair, job, encrypt);
}

void job_make_in(struct job *job, struct pair *pair, struct rte_mbuf *m, uint32_t len, bool encrypt)
{
	const struct suite *suite = &pair->suite;
	uint32_t from, text;

	begin(job, pair, m, m, encrypt);
	rnd_fill(m->buf_addr, m->buf_len);
	choose_ranges(suite, job->op->sym, len, false);
	covered(suite, job->op->sym, &from, &text);
	/* From OCL_MAX_DIGEST on the digest is too far away to be part of the packet. */
	job->digest_off = from + text + (rnd_below(4) ? 0 : rnd_below(OCL_MAX_DIGEST));
	m->data_len = job->digest_off + suite->digest_len + (rnd_below(4) ? 0 : rnd_below(20));
	m->pkt_len = m->data_len;
	CHECK(m->data_off + m->data_len <= m->buf_len);
	point(job, suite, encrypt);
	expect(pair, job, encrypt);
}

bool job_is_refused(const struct job *job)
{
	return job->status == RTE_CRYPTO_OP_STATUS_INVALID_ARGS ||
	       job->status == RTE_CRYPTO_OP_STATUS_INVALID_SESSION;
}

static void differs(const struct job *job, const char *what, const struct rte_mbuf *m,
		    uint32_t offset, uint32_t index)
{
	fprintf(stderr, "operation %u: %s differs at byte %d of the packet, status %d\n", index,
		what, (int)offset - m->data_off, job->op->status);
	CHECK(!"the buffers are as expected");
}

/* The whole buffer, or the packet only. */
static void compare(const struct job *job, const char *what, const struct rte_mbuf *m,
		    const uint8_t *expected, uint32_t index)
{
	uint32_t i = job->packet_only ? m->data_off : 0;
	uint32_t end = job->packet_only ? i + m->data_len : m->buf_len;
	const uint8_t *got = m->buf_addr;

	while (i < end && got[i] == expected[i])
		i++;
	if (i < end)
		differs(job, what, m, i, index);
}

void job_finish(struct job *job, const struct rte_crypto_op *op, uint32_t index)
{
	CHECK(op == job->op);
	if (op->status != job->status) {
		fprintf(stderr, "operation %u: status %d, expected %d\n", index, op->status,
			job->status);
		CHECK(!"the status is as expected");
	}
	job->src->nb_segs = 1;
	job->dst->nb_segs = 1;
	if (op->status == RTE_CRYPTO_OP_STATUS_SUCCESS || !job->may_be_plain)
		compare(job, "source", job->src, job->src_expected, index);
	if (job->dst != job->src) {
		compare(job, "destination", job->dst, job->dst_expected, index);
		free(job->dst_expected);
		rte_pktmbuf_free(job->dst);
	}
	free(job->src_expected);
	rte_pktmbuf_free(job->src);
	rte_crypto_op_free(job->op);
}
