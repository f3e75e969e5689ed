/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver against OpenSSL and against DPDK's other drivers: random operations
 * of mixed algorithms, lengths and directions, in place and out of place, some
 * with a wrong digest, some malformed, in bursts; before those, of each pair of algorithms, the
 * lengths at which something may end, from nothing to 16 KiB, at every alignment. Each has to come
 * back in order, with its own status, and with every byte of its buffers as expected.
 *
 *   test-pmd-random [operations per pair of algorithms [vdev arguments]]
 *
 * Without an argument the environment's CYGNET_OPERATIONS says how many, for make check;
 * without the second they are shared by devices that go different ways.
 */
#include <stdio.h>
#include <stdlib.h>

#include <rte_byteorder.h>

#include "harness.h"
#include "peers.h"
#include "reference.h"

#define OUTSTANDING 1024
#define PAIRS	    48	 /* of sessions at a time, at most */
#define ROUND	    8192 /* operations that share sessions, at most */
#define ROOM	    2560
#define JUMBO_ROOM  17408
#define JUMBO	    16384 /* longest message */
#define CCM_AAD	    18	  /* room that DPDK wants in front of CCM's AAD */

/* A pair of algorithms, or an AEAD. */
struct kind {
	enum ocl_cipher cipher;
	enum ocl_auth auth;
	uint32_t todo, done;
	uint32_t edge; /* of EDGES, the next one */
	uint32_t compared[PEERS]; /* operations of which a peer did the like */
};

/* One direction each. */
struct pair {
	struct kind *kind;
	struct suite suite;
	void *encrypt, *decrypt;
	struct peer_sessions peers;
};

struct job {
	struct rte_crypto_op *op;
	struct rte_mbuf *src, *dst;
	uint8_t *src_expected, *dst_expected; /* whole buffers */
	uint32_t digest_off;		      /* from the packet's start */
	enum rte_crypto_op_status status;
};

/* Each with every alignment of the text. */
static const uint32_t edges[] = {0,  1,	 15,   16,   17,   31,	 32,   33,	  63,
				 64, 65, 1023, 1024, 1025, 4095, 4096, JUMBO - 1, JUMBO};
#define ALIGNMENTS 16
#define EDGES	   (RTE_DIM(edges) * ALIGNMENTS)

static struct kind kinds[OCL_CIPHERS * OCL_AUTHS];
static unsigned int nkinds;
static struct rte_mempool *ops, *packets, *jumbos;
static struct rte_cryptodev_stats counted;

static void add_kind(enum ocl_cipher cipher, enum ocl_auth auth)
{
	kinds[nkinds++] = (struct kind){.cipher = cipher, .auth = auth};
}

static void make_kinds(void)
{
	for (unsigned int cipher = 0; cipher < OCL_CIPHER_AES_GCM; cipher++) {
		for (unsigned int auth = 0; auth < OCL_AUTH_AES_GMAC; auth++)
			add_kind(cipher, auth);
	}
	add_kind(OCL_CIPHER_NONE, OCL_AUTH_AES_GMAC);
	for (unsigned int cipher = OCL_CIPHER_AES_GCM; cipher < OCL_CIPHERS; cipher++)
		add_kind(cipher, OCL_AUTH_NONE);
}

static void make_pair(const struct device *dev, struct pair *pair, struct kind *kind)
{
	*pair = (struct pair){
		.kind = kind,
		.suite = {.cipher = kind->cipher, .auth = kind->auth},
	};
	suite_randomize(&pair->suite);
	pair->encrypt = suite_session(dev, &pair->suite, true);
	pair->decrypt = suite_session(dev, &pair->suite, false);
	CHECK(pair->encrypt && pair->decrypt);
	peers_sessions(&pair->peers, &pair->suite);
}

static void free_pair(const struct device *dev, struct pair *pair)
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

/* What the reference works on. */
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
	return suite->cipher == OCL_CIPHER_AES_CBC ? 16 :
	       suite->cipher == OCL_CIPHER_3DES_CBC ? 8 : 1;
}

/* Ranges: a prefix that is left alone, a header, len bytes that are encrypted, sometimes a
 * tail that is either only authenticated or only encrypted, the digest. */
static uint32_t choose_ranges(const struct suite *suite, struct rte_crypto_sym_op *sym, uint32_t len,
			      bool exact)
{
	uint32_t prefix = rnd_below(4) ? 4 * rnd_below(8) : rnd_below(32);
	uint32_t header = rnd_below(4) ? 24 : rnd_below(41); /* ESP's, mostly */
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

/* The bytes that have to be in the destination: both ranges, which overlap or touch. */
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

		*from = end && sym->cipher.data.length ?
				RTE_MIN(*from, sym->auth.data.offset) : sym->auth.data.offset;
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
	bool aead = suite_is_aead(suite), cipher = suite->cipher || suite->null_cipher;
	struct rte_mbuf *dst = sym->m_dst ? sym->m_dst : sym->m_src;
	uint32_t *len = aead ? &sym->aead.data.length :
			cipher ? &sym->cipher.data.length : &sym->auth.data.length;
	uint32_t *off = aead ? &sym->aead.data.offset :
			cipher ? &sym->cipher.data.offset : &sym->auth.data.offset;

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

/* A bit of what is authenticated, or of the digest. */
static void tamper(const struct suite *suite, const struct view *v)
{
	uint8_t *p = v->digest + rnd_below(suite->digest_len);
	uint32_t skip = suite->cipher == OCL_CIPHER_AES_CCM ? CCM_AAD : 0;

	if (suite->digest_len < 4)
		; /* Too short to be sure that it changes with the data. */
	else if (rnd_below(2) && suite->aad_len)
		p = v->aad + skip + rnd_below(suite->aad_len);
	else if (rnd_below(2) && suite_is_aead(suite) && v->cipher_len)
		p = v->cipher + rnd_below(v->cipher_len);
	else if (rnd_below(2) && suite->auth && v->auth_len)
		p = v->auth + rnd_below(v->auth_len);
	*p ^= 1 << rnd_below(8);
}

/* crypto_aesni_mb counts with the last 32 bits of the block alone; OpenSSL, and we, with all. */
static bool counter_wraps(const struct suite *suite, const struct view *v)
{
	uint32_t last;

	memcpy(&last, v->iv + 12, sizeof(last));
	return suite->cipher == OCL_CIPHER_AES_CTR &&
	       rte_be_to_cpu_32(last) > UINT32_MAX - v->cipher_len / 16 - 1;
}

/* The peers that can, on what the reference has encrypted, too. */
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

	/* Some of them do not take what is empty. */
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

/* Expected results of an encryption, by encrypting the expected image. */
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

/* The source is encrypted for it; the plaintext it had is the expected result. */
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

/* Move the packet so that its text has the alignment. */
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

static void make_job(struct job *job, struct pair *pair)
{
	const struct suite *suite = &pair->suite;
	bool encrypt = rnd_below(2), jumbo = rnd_below(50) == 0, edge = pair->kind->edge < EDGES;
	uint32_t len = jumbo ? rnd_below(JUMBO + 1) : rnd_below(rnd_below(2) ? 2049 : 200);
	struct rte_crypto_sym_op *sym;

	job->op = rte_crypto_op_alloc(ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	CHECK(job->op != NULL);
	sym = job->op->sym;
	if (edge) {
		len = edges[pair->kind->edge / ALIGNMENTS];
		jumbo = len > 2048;
	}
	job->src = make_packet(jumbo);
	job->dst = rnd_below(3) ? job->src : make_packet(jumbo);
	sym->m_src = job->src;
	sym->m_dst = job->dst == job->src ? NULL : job->dst;
	job->status = RTE_CRYPTO_OP_STATUS_SUCCESS;
	CHECK(rte_crypto_op_attach_sym_session(job->op, encrypt ? pair->encrypt : pair->decrypt) ==
	      0);
	rnd_fill(rte_crypto_op_ctod_offset(job->op, uint8_t *, IV_OFFSET), 16 + MAX_AAD);
	job->digest_off = choose_ranges(suite, sym, len, edge);
	if (edge)
		align(job->src, text_of(suite, sym), pair->kind->edge % ALIGNMENTS);
	if (edge && job->dst != job->src)
		align(job->dst, text_of(suite, sym), rnd_below(ALIGNMENTS));
	pair->kind->edge += edge;
	if (suite_is_aead(suite))
		sym->aead.aad.data = rte_crypto_op_ctod_offset(job->op, uint8_t *, AAD_OFFSET);
	set_digest(suite, sym, rte_pktmbuf_mtod_offset(encrypt ? job->dst : job->src, uint8_t *,
						       job->digest_off));
	job->src_expected = image(job->src);
	job->dst_expected = job->dst == job->src ? job->src_expected : image(job->dst);
	if (!edge && has_range(suite) && rnd_below(16) == 0)
		job->status = spoil(suite, job->op);
	else if (encrypt)
		expect_encrypt(pair, job);
	else
		expect_decrypt(pair, job);
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
	job->dst->nb_segs = 1;
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

/* A pair of sessions whose algorithms still have something to do; NULL: none has. */
static struct pair *choose_pair(struct pair *pairs, unsigned int n)
{
	unsigned int first = rnd_below(n);

	for (unsigned int i = 0; i < n; i++) {
		struct pair *pair = &pairs[(first + i) % n];

		if (pair->kind->todo) {
			pair->kind->todo--;
			pair->kind->done++;
			return pair;
		}
	}
	return NULL;
}

static void run(const struct device *dev, struct pair *pairs, unsigned int npairs)
{
	static struct job jobs[OUTSTANDING];
	struct rte_crypto_op *burst[64];
	uint32_t made = 0, sent = 0, back = 0;
	bool more = true;

	while (more || back < made) {
		uint32_t n = rnd_below(RTE_DIM(burst)) + 1;

		while (more && n-- && made - back < OUTSTANDING) {
			struct pair *pair = made < ROUND ? choose_pair(pairs, npairs) : NULL;

			more = pair != NULL;
			if (more)
				make_job(&jobs[made++ % OUTSTANDING], pair);
		}
		for (n = 0; n < RTE_DIM(burst) && sent + n < made; n++)
			burst[n] = jobs[(sent + n) % OUTSTANDING].op;
		sent += rte_cryptodev_enqueue_burst(dev->id, 0, burst, n);
		n = rte_cryptodev_dequeue_burst(dev->id, 0, burst, 1 + rnd_below(RTE_DIM(burst)));
		for (uint32_t i = 0; i < n; i++, back++)
			check_job(&jobs[back % OUTSTANDING], burst[i], back);
	}
	counted.enqueued_count += made;
}

static uint32_t todo(void)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < nkinds; i++)
		n += kinds[i].todo;
	return n;
}

/* Sessions of the kinds [first, first + n), until those have nothing to do. */
static void run_kinds(const struct device *dev, struct kind *first, unsigned int n)
{
	struct pair pairs[PAIRS];
	unsigned int npairs = n == 1 ? 8 : n;

	CHECK(npairs <= PAIRS);
	while (todo()) {
		for (unsigned int i = 0; i < npairs; i++)
			make_pair(dev, &pairs[i], &first[i % n]);
		run(dev, pairs, npairs);
		for (unsigned int i = 0; i < npairs; i++)
			free_pair(dev, &pairs[i]);
	}
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

static void report(void)
{
	static const char *const ciphers[OCL_CIPHERS] = {
		"-", "AES-CBC", "AES-CTR", "3DES-CBC", "AES-GCM", "AES-CCM", "ChaCha20-Poly1305",
	};
	static const char *const auths[OCL_AUTHS] = {
		"-",	       "HMAC-MD5",     "HMAC-SHA1", "HMAC-SHA256",
		"HMAC-SHA384", "HMAC-SHA512", "AES-XCBC",  "AES-GMAC",
	};

	printf("%-18s%-12s%10s", "cipher", "digest", "operations");
	for (unsigned int i = 0; i < PEERS; i++)
		printf("  %s", peer_name(i));
	printf("\n");
	for (const struct kind *kind = kinds; kind < kinds + nkinds; kind++) {
		CHECK(kind->edge == EDGES);
		printf("%-18s%-12s%10u", ciphers[kind->cipher], auths[kind->auth], kind->done);
		for (unsigned int i = 0; i < PEERS; i++)
			printf("  %*u", (int)strlen(peer_name(i)), kind->compared[i]);
		printf("\n");
	}
}

static void run_device(const char *args, uint32_t total)
{
	char all_args[512];
	struct device dev;

	/* A loaded machine is late, not lost. */
	snprintf(all_args, sizeof(all_args), "%stimeout_ms=600000", args);
	memset(&counted, 0, sizeof(counted));
	device_open(&dev, all_args, 1);
	/* An eighth of each alone, which is how a busy tunnel's packets come. */
	for (unsigned int i = 0; i < nkinds; i++) {
		kinds[i].todo = total / 8 + EDGES - kinds[i].edge;
		run_kinds(&dev, &kinds[i], 1);
	}
	for (unsigned int i = 0; i < nkinds; i++)
		kinds[i].todo = total - total / 8;
	run_kinds(&dev, kinds, nkinds);
	check_stats(&dev);
	device_close(&dev);
}

int main(int argc, char *argv[])
{
	static const char *const usual[] = {
		"", "lanes=8,sched=algorithm,tables=banks,", "memory=staged,sched=none,launches=thread,"};
	const char *operations = argc > 1 ? argv[1] : getenv("CYGNET_OPERATIONS");
	uint32_t total = operations ? strtoul(operations, NULL, 0) : 1000;
	char own[256];

	CHECK(total >= 8);
	harness_start();
	ops = rte_crypto_op_pool_create("ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC, OUTSTANDING, 0,
					16 + MAX_AAD, SOCKET_ID_ANY);
	packets = rte_pktmbuf_pool_create("packets", 2 * OUTSTANDING, 0, 0,
					  ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	jumbos = rte_pktmbuf_pool_create("jumbos", 2 * OUTSTANDING, 0, 0,
					 JUMBO_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	CHECK(ops && packets && jumbos);
	peers_open();
	make_kinds();
	snprintf(own, sizeof(own), "%s,", argc > 2 ? argv[2] : "");
	for (unsigned int i = 0; argc <= 2 && i < RTE_DIM(usual); i++)
		run_device(usual[i], total / RTE_DIM(usual) + 8);
	/* Another kernel around the same algorithms, which nothing else runs all of. */
	if (argc <= 2 && device_has("memory=persistent"))
		run_device("memory=persistent,", total / 8 + 8);
	if (argc > 2)
		run_device(own, total);
	report();
	peers_close();
	CHECK(rte_mempool_full(ops) && rte_mempool_full(packets) && rte_mempool_full(jumbos));
	harness_stop();
	printf("all as expected\n");
	return 0;
}
