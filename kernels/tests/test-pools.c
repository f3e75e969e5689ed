/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pools of mbufs that the device reaches (rte_pmd_opencl.h): the results
 * are the same as with ordinary mbufs, and nothing else in the buffers is
 * changed, with any order, lengths and places of the packets; and runs of them
 * are moved by the device's copy engine, not by a core.
 */
#include <dlfcn.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_errno.h>

#include "faults.h"
#include "harness.h"
#include "rte_pmd_opencl.h"

#define MBUFS	512
#define ROOM	2048
#define DIGEST	12
#define TAG	16
#define HEADER	24 /* bytes that are only authenticated */
#define LONGEST 1408

typedef struct rte_mempool *create_fn(uint8_t, const char *, unsigned int, uint16_t, uint16_t, int);
typedef int free_fn(uint8_t, struct rte_mempool *);
typedef int keeps_fn(uint8_t);

static create_fn *create;
static free_fn *destroy;
static keeps_fn *keeps;
static struct rte_mempool *ops, *plain;
static const char *args;
static struct device dev; /* configuration of the device */

/* An operation on a mbuf of the pool, and the same operation on an ordinary mbuf. */
struct pair {
	struct rte_crypto_op *op[2]; /* in the pool, ordinary */
	uint8_t digest[2][DIGEST];   /* digest outside the packet, if so */
	bool beside;
	uint32_t from, len; /* range that changes in the packet, with the digest */
};

struct rig {
	struct rte_mempool *pool;
	struct suite suite;
	void *encrypt, *decrypt;
	uint32_t len, offset; /* length and offset of all packets; 0: random */
};

static void setup(struct rig *rig, enum ocl_cipher cipher)
{
	rig->len = rig->offset = 0;
	rig->suite = (struct suite){.cipher = cipher};
	if (cipher == OCL_CIPHER_AES_CBC)
		rig->suite.auth = OCL_AUTH_HMAC_SHA1;
	rig->pool = create(dev.id, "pool", MBUFS, 64, ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	CHECK(rig->pool != NULL);
	suite_randomize(&rig->suite);
	rig->suite.aad_len = cipher == OCL_CIPHER_AES_GCM ? 12 : 0;
	rig->suite.iv_len = cipher == OCL_CIPHER_AES_GCM ? 12 : 16;
	rig->suite.digest_len = cipher == OCL_CIPHER_AES_GCM ? TAG : DIGEST;
	rig->encrypt = suite_session(&dev, &rig->suite, true);
	rig->decrypt = suite_session(&dev, &rig->suite, false);
	CHECK(rig->encrypt && rig->decrypt);
}

static void teardown(struct rig *rig, bool full)
{
	session_free(&dev, rig->encrypt);
	session_free(&dev, rig->decrypt);
	CHECK(rte_mempool_full(rig->pool) == full);
	CHECK(destroy(dev.id, rig->pool) == 0);
	CHECK(rte_mempool_full(ops) && rte_mempool_full(plain));
}

static struct rte_crypto_op *make_op(struct rte_mbuf *m, void *session, uint32_t len)
{
	struct rte_crypto_op *op = rte_crypto_op_alloc(ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);

	CHECK(op && m);
	CHECK(rte_pktmbuf_append(m, HEADER + len + TAG));
	rte_crypto_op_attach_sym_session(op, session);
	op->sym->m_src = m;
	return op;
}

static void set_ranges(struct rte_crypto_op *op, const struct suite *suite, uint32_t len,
		       uint8_t *digest)
{
	struct rte_crypto_sym_op *sym = op->sym;

	if (suite_is_aead(suite)) {
		sym->aead.data.offset = HEADER;
		sym->aead.data.length = len;
		sym->aead.aad.data = rte_crypto_op_ctod_offset(op, uint8_t *, AAD_OFFSET);
		sym->aead.digest.data = digest;
		return;
	}
	sym->cipher.data.offset = HEADER;
	sym->cipher.data.length = len;
	sym->auth.data.offset = 0;
	sym->auth.data.length = HEADER + len;
	sym->auth.digest.data = digest;
}

/* Two equal mbufs, at any alignment, with equal content of their whole buffers. */
static void make_pair(struct pair *pair, const struct rig *rig, struct rte_mbuf *m, uint32_t len,
		      bool beside)
{
	struct rte_mbuf *both[2] = {m, rte_pktmbuf_alloc(plain)};
	uint32_t shift = rig->offset ? rig->offset : rnd_below(64);
	uint8_t iv[16 + MAX_AAD];

	rnd_fill(iv, sizeof(iv));
	rnd_fill(m->buf_addr, ROOM + RTE_PKTMBUF_HEADROOM);
	memcpy(both[1]->buf_addr, m->buf_addr, ROOM + RTE_PKTMBUF_HEADROOM);
	rnd_fill(pair->digest, sizeof(pair->digest));
	pair->beside = beside;
	for (int i = 0; i < 2; i++) {
		both[i]->data_off += shift;
		pair->op[i] = make_op(both[i], rig->encrypt, len);
		memcpy(rte_crypto_op_ctod_offset(pair->op[i], uint8_t *, IV_OFFSET), iv,
		       sizeof(iv));
		set_ranges(pair->op[i], &rig->suite, len,
			   beside ? pair->digest[i]
				  : rte_pktmbuf_mtod_offset(both[i], uint8_t *, HEADER + len));
	}
}

static void run(struct rte_crypto_op **sent, unsigned int n)
{
	struct rte_crypto_op *back[MBUFS];
	unsigned int in = 0, out = 0, done;
	uint64_t deadline = 0;

	for (; out < n; out += done) {
		in += rte_cryptodev_enqueue_burst(dev.id, 0, sent + in, n - in);
		done = rte_cryptodev_dequeue_burst(dev.id, 0, back + out, n - out);
		expect_progress(done, &deadline);
	}
	for (unsigned int i = 0; i < n; i++)
		CHECK(back[i] == sent[i]);
}

static void free_op(struct rte_crypto_op *op)
{
	rte_pktmbuf_free(op->sym->m_src);
	rte_crypto_op_free(op);
}

static bool same_packet(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	return a->data_len == b->data_len &&
	       memcmp(rte_pktmbuf_mtod(a, uint8_t *), rte_pktmbuf_mtod(b, uint8_t *),
		      a->data_len) == 0;
}

/* Compare the whole buffers with headroom and tailroom, except after out-of-place operations. */
static void compare(const struct pair *pair)
{
	const struct rte_mbuf *a = pair->op[0]->sym->m_src, *b = pair->op[1]->sym->m_src;

	CHECK(pair->op[0]->status == pair->op[1]->status);
	CHECK(same_packet(a, b));
	if (!keeps(dev.id))
		CHECK(memcmp(a->buf_addr, b->buf_addr, ROOM + RTE_PKTMBUF_HEADROOM) == 0);
	if (pair->beside)
		CHECK(memcmp(pair->digest[0], pair->digest[1], DIGEST) == 0);
}

/* Compare each operation with its twin, and free both. */
static void compare_all(struct pair *pairs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		run(&pairs[i].op[1], 1);
		compare(&pairs[i]);
		free_op(pairs[i].op[0]);
		free_op(pairs[i].op[1]);
	}
}

static size_t pool_uploads; /* bytes uploaded for packets in the pool, without rectangles */

/* Process all operations in the pool in one burst, and then the others. */
static void run_pairs(struct pair *pairs, unsigned int n)
{
	for (int i = 0; i < 2; i++) {
		struct rte_crypto_op *sent[MBUFS];

		for (unsigned int j = 0; j < n; j++)
			sent[j] = pairs[j].op[i];
		uploaded = 0;
		run(sent, n);
		if (i == 0)
			pool_uploads = uploaded;
	}
}

static void turn_round(const struct rig *rig, struct pair *pairs, unsigned int n,
		       unsigned int spoilt)
{
	for (unsigned int i = 0; i < n; i++) {
		for (int j = 0; j < 2; j++) {
			struct rte_crypto_sym_op *sym = pairs[i].op[j]->sym;

			sym->session = rig->decrypt;
			if (i == spoilt && suite_is_aead(&rig->suite))
				sym->aead.digest.data[3] ^= 1;
			else if (i == spoilt)
				sym->auth.digest.data[3] ^= 1;
		}
	}
}

static uint32_t random_len(void)
{
	return 16 * (1 + rnd_below(LONGEST / 16));
}

/* Encrypt n packets of the pool in the given order, and decrypt them again. */
static void there_and_back(const struct rig *rig, struct rte_mbuf **m, unsigned int n, bool beside)
{
	static struct pair pairs[MBUFS];
	unsigned int spoilt = rnd_below(n);

	for (unsigned int i = 0; i < n; i++)
		make_pair(&pairs[i], rig, m[i], rig->len ? rig->len : random_len(), beside);
	run_pairs(pairs, n);
	for (unsigned int i = 0; i < n; i++) {
		CHECK(pairs[i].op[0]->status == RTE_CRYPTO_OP_STATUS_SUCCESS);
		compare(&pairs[i]);
	}
	turn_round(rig, pairs, n, spoilt);
	run_pairs(pairs, n);
	for (unsigned int i = 0; i < n; i++) {
		CHECK(pairs[i].op[0]->status == (i == spoilt ? RTE_CRYPTO_OP_STATUS_AUTH_FAILED
							     : RTE_CRYPTO_OP_STATUS_SUCCESS));
		if (i != spoilt) /* the content of an AEAD packet that failed is undefined */
			compare(&pairs[i]);
	}
	for (unsigned int i = 0; i < n; i++) {
		free_op(pairs[i].op[0]);
		free_op(pairs[i].op[1]);
	}
}

static void in_order(enum ocl_cipher cipher, bool beside)
{
	struct rte_mbuf *m[300];
	struct rig rig;

	setup(&rig, cipher);
	for (int round = 0; round < 4; round++) {
		CHECK(rte_pktmbuf_alloc_bulk(rig.pool, m, RTE_DIM(m)) == 0);
		there_and_back(&rig, m, RTE_DIM(m), beside);
	}
	teardown(&rig, true);
}

static void shuffle(struct rte_mbuf **m, unsigned int n, unsigned int swaps)
{
	for (unsigned int i = 0; i < swaps; i++) {
		unsigned int a = rnd_below(n), b = rnd_below(n);
		struct rte_mbuf *x = m[a];

		m[a] = m[b];
		m[b] = x;
	}
}

/* Runs of each length, also too short ones for the copy engine. */
static void out_of_order(void)
{
	struct rte_mbuf *m[300];
	struct rig rig;

	setup(&rig, OCL_CIPHER_AES_CBC);
	for (unsigned int swaps = 1; swaps < 1000; swaps *= 3) {
		CHECK(rte_pktmbuf_alloc_bulk(rig.pool, m, RTE_DIM(m)) == 0);
		shuffle(m, RTE_DIM(m), swaps);
		there_and_back(&rig, m, RTE_DIM(m), swaps & 1);
	}
	teardown(&rig, true);
}

/* In whatever order mbufs are freed, they are allocated in the order of their addresses, each
 * once. */
static void sorted_again(void)
{
	struct rte_mempool *pool = create(dev.id, "sorted", 300, 0, ROOM + RTE_PKTMBUF_HEADROOM,
					  SOCKET_ID_ANY);
	struct rte_mbuf *m[300], *more;

	CHECK(pool != NULL);
	for (unsigned int swaps = 1; swaps < 1000; swaps *= 3) {
		unsigned int steps = 0;

		CHECK(rte_pktmbuf_alloc_bulk(pool, m, RTE_DIM(m)) == 0);
		CHECK(rte_pktmbuf_alloc(pool) == NULL && rte_mempool_avail_count(pool) == 0);
		for (unsigned int i = 1; i < RTE_DIM(m); i++)
			steps += (char *)m[i]->buf_addr < (char *)m[i - 1]->buf_addr;
		CHECK(steps <= 1);
		shuffle(m, RTE_DIM(m), swaps);
		rte_pktmbuf_free_bulk(m, 299);
		CHECK(rte_mempool_avail_count(pool) == 299 && !rte_mempool_full(pool));
		CHECK(rte_pktmbuf_alloc_bulk(pool, m, 299) == 0);
		for (unsigned int i = 0; i < 299; i++)
			CHECK(m[i] != m[299]);
		CHECK((more = rte_pktmbuf_alloc(pool)) == NULL);
		rte_pktmbuf_free_bulk(m, RTE_DIM(m));
		CHECK(rte_mempool_full(pool));
	}
	CHECK(destroy(dev.id, pool) == 0);
}

/* An mbuf that is freed twice can be allocated once. */
static void freed_twice(void)
{
	struct rte_mempool *pool = create(dev.id, "twice", 70, 0, ROOM, SOCKET_ID_ANY);
	struct rte_mbuf *m[70], *more;

	CHECK(pool && rte_pktmbuf_alloc_bulk(pool, m, RTE_DIM(m)) == 0);
	log_begin();
	for (unsigned int i = 0; i < 3; i++)
		rte_mempool_put(pool, m[66]);
	CHECK(rte_mempool_avail_count(pool) == 1);
	more = m[66];
	m[66] = m[3];
	m[3] = more;
	rte_mempool_put_bulk(pool, (void **)m, RTE_DIM(m));
	CHECK(log_end("pool twice: an mbuf was freed twice") == 1);
	CHECK(rte_mempool_full(pool) && rte_mempool_avail_count(pool) == RTE_DIM(m));
	CHECK(rte_pktmbuf_alloc_bulk(pool, m, RTE_DIM(m)) == 0);
	CHECK(rte_pktmbuf_alloc(pool) == NULL);
	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		for (unsigned int j = 0; j < i; j++)
			CHECK(m[i] != m[j]);
	}
	rte_pktmbuf_free_bulk(m, RTE_DIM(m));
	CHECK(destroy(dev.id, pool) == 0);
}

/* An mbuf with a buffer that is not the pool's is lost, wherever the buffer is. */
static void foreign_buffer(void)
{
	struct rte_mempool *pool = create(dev.id, "foreign", 70, 0, ROOM, SOCKET_ID_ANY);
	struct rte_mbuf *m[70];
	void *own;

	CHECK(pool && rte_pktmbuf_alloc_bulk(pool, m, RTE_DIM(m)) == 0);
	own = m[0]->buf_addr;
	log_begin();
	for (size_t far = 1; far <= 4; far++) {
		/* Multiples of 2^32 buffers away, from the first or the second one of another mbuf. */
		m[0]->buf_addr = (void *)((uintptr_t)m[5]->buf_addr + (far << 43) +
					  far % 2 * RTE_DIM(m) * ROOM);
		rte_mempool_put(pool, m[0]);
		CHECK(rte_mempool_avail_count(pool) == 0);
	}
	m[0]->buf_addr = (void *)((uintptr_t)own - 1);
	rte_mempool_put(pool, m[0]);
	CHECK(rte_mempool_avail_count(pool) == 0);
	m[0]->buf_addr = own;
	CHECK(log_end("pool foreign: an mbuf was freed with a buffer that is not the pool's") == 1);
	rte_mempool_put_bulk(pool, (void **)m, RTE_DIM(m));
	CHECK(rte_mempool_full(pool));
	CHECK(destroy(dev.id, pool) == 0);
}

/* Packets of two pools and of none alternately, as runs of one packet or longer ones. */
static void mixed_pools(void)
{
	struct rte_mbuf *m[96];
	struct rte_mempool *second;
	struct rig rig;

	setup(&rig, OCL_CIPHER_AES_CBC);
	second = create(dev.id, "second", 100, 0, ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	CHECK(second != NULL);
	for (int round = 0; round < 8; round++) {
		for (unsigned int i = 0; i < RTE_DIM(m); i++) {
			unsigned int stretch = i / (1 + round * 3) % 3;

			m[i] = rte_pktmbuf_alloc(stretch == 0	? rig.pool
						 : stretch == 1 ? second
								: plain);
		}
		there_and_back(&rig, m, RTE_DIM(m), false);
	}
	CHECK(rte_mempool_full(second));
	CHECK(destroy(dev.id, second) == 0);
	teardown(&rig, true);
}

/* Out of place, from an mbuf of a pool into another one. */
static void out_of_place(void)
{
	struct rte_crypto_op *op, *back;
	struct rte_mbuf *src, *dst;
	struct pair pair;
	struct rig rig;

	setup(&rig, OCL_CIPHER_AES_CBC);
	make_pair(&pair, &rig, rte_pktmbuf_alloc(rig.pool), 256, true);
	src = pair.op[0]->sym->m_src;
	dst = rte_pktmbuf_alloc(rig.pool);
	CHECK(rte_pktmbuf_append(dst, HEADER + 256));
	op = pair.op[0];
	op->sym->m_dst = dst;
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, &op, 1) == 1);
	while (rte_cryptodev_dequeue_burst(dev.id, 0, &back, 1) == 0)
		;
	/* The source is unchanged, like that of its twin. */
	CHECK(memcmp(src->buf_addr, pair.op[1]->sym->m_src->buf_addr,
		     ROOM + RTE_PKTMBUF_HEADROOM) == 0);
	run(&pair.op[1], 1);
	CHECK(memcmp(rte_pktmbuf_mtod(dst, uint8_t *),
		     rte_pktmbuf_mtod(pair.op[1]->sym->m_src, uint8_t *), HEADER + 256) == 0);
	CHECK(memcmp(pair.digest[0], pair.digest[1], DIGEST) == 0);
	rte_pktmbuf_free(dst);
	free_op(pair.op[0]);
	free_op(pair.op[1]);
	teardown(&rig, true);
}

/* At most two chunks of bytes are in flight. The second one is launched when it is full, while
 * the first is on the device. There is room again when the first is completed, before it is
 * dequeued. */
static void full_by_bytes(void)
{
	static struct pair pairs[60];
	struct rte_crypto_op *sent[2 * RTE_DIM(pairs)], *back[RTE_DIM(sent)];
	unsigned int taken, out = 0, done, before;
	uint64_t deadline = 0;
	struct rig rig;

	device_open(&dev, "chunk=64,wait_us=1000000,under_way=134,timeout_ms=60000", 1);
	setup(&rig, OCL_CIPHER_AES_CBC);
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		make_pair(&pairs[i], &rig, rte_pktmbuf_alloc(plain), LONGEST, false);
		sent[2 * i] = pairs[i].op[0];
		sent[2 * i + 1] = pairs[i].op[1];
	}
	before = launches;
	fault_hang = true;
	taken = rte_cryptodev_enqueue_burst(dev.id, 0, sent, RTE_DIM(sent));
	CHECK(taken > 64 && taken < RTE_DIM(sent));
	CHECK(launches == before + 2);
	fault_hang = false;
	while (rte_cryptodev_enqueue_burst(dev.id, 0, &sent[taken], 1) == 0)
		expect_progress(0, &deadline);
	for (taken++; out < taken; out += done) {
		done = rte_cryptodev_dequeue_burst(dev.id, 0, back, taken - out);
		expect_progress(done, &deadline);
	}
	for (unsigned int i = 0; i < RTE_DIM(sent); i++)
		free_op(sent[i]);
	teardown(&rig, true);
	device_close(&dev);
}

/* The part of a packet that the test searches for in memory. */
static const uint8_t *piece_of(const struct rte_crypto_op *op)
{
	return rte_pktmbuf_mtod_offset(op->sym->m_src, const uint8_t *, HEADER + 512);
}

/* One launch copies its packets in one rectangle each way, or not at all. Cores write only
 * records. Besides the pool, no memory shared by device and cores contains a packet, before or
 * after the operation; it does contain packets of another mempool. */
static void no_core_copies(void)
{
	static struct pair pairs[64];
	struct rte_crypto_op *sent[64];
	uint8_t was[RTE_DIM(sent)][16];
	const void *pool;
	struct rig rig;

	setup(&rig, OCL_CIPHER_AES_CBC);
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		make_pair(&pairs[i], &rig, rte_pktmbuf_alloc(rig.pool), 1024, false);
		sent[i] = pairs[i].op[0];
		memcpy(was[i], piece_of(sent[i]), sizeof(was[i]));
	}
	pool = sent[0]->sym->m_src->buf_addr;
	launches = transfers = rectangles = 0;
	uploaded = 0;
	run(sent, RTE_DIM(sent));
	if (strstr(args, "staged")) {
		CHECK(rectangles == 2 && launches == 1);
		CHECK(transfers <= 4); /* records are copied too, if there are any */
		CHECK(uploaded <= RTE_DIM(sent) * 128);
	} else {
		CHECK(transfers == 0);
		CHECK(launches == !strstr(args, "persistent"));
	}
	for (unsigned int i = 0; i < RTE_DIM(sent); i++) {
		CHECK(copies_of(was[i], sizeof(was[i]), pool) == 0);
		CHECK(copies_of(piece_of(sent[i]), sizeof(was[i]), pool) == 0);
	}
	run(&pairs[0].op[1], 1);
	CHECK(copies_of(piece_of(sent[0]), sizeof(was[0]), pool) == 1);
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		free_op(pairs[i].op[0]);
		free_op(pairs[i].op[1]);
	}
	teardown(&rig, true);
}

/* Small packets at random addresses, and packets of no pool: a core gathers them, and a launch
 * copies all in one transfer. */
static void gathered(bool pooled)
{
	struct rte_crypto_op *sent[200];
	static struct pair pairs[200];
	struct rig rig;

	setup(&rig, OCL_CIPHER_AES_CBC);
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		if (pooled) /* every second packet */
			rte_pktmbuf_free(rte_pktmbuf_alloc(rig.pool));
		make_pair(&pairs[i], &rig, rte_pktmbuf_alloc(pooled ? rig.pool : plain), 64, false);
		sent[i] = pairs[i].op[0];
	}
	launches = transfers = rectangles = 0;
	run(sent, RTE_DIM(sent));
	CHECK(rectangles == 0);
	CHECK(launches <= 2);
	CHECK(transfers == (strstr(args, "staged") ? 2 * launches : 0));
	compare_all(pairs, RTE_DIM(pairs));
	teardown(&rig, true);
}

/* Packets of one kind: a launch moves one rectangle to the device and one back, two where the pool wraps. */
static void with_heads(enum ocl_cipher cipher, uint32_t offset)
{
	struct rte_mbuf *m[60];
	struct rig rig;

	setup(&rig, cipher);
	rig.len = 1024;
	rig.offset = offset;
	for (unsigned int taken = 0; taken <= MBUFS; taken += RTE_DIM(m)) {
		unsigned int runs = taken + RTE_DIM(m) > MBUFS ? 2 : 1;

		CHECK(rte_pktmbuf_alloc_bulk(rig.pool, m, RTE_DIM(m)) == 0);
		rectangles = 0;
		there_and_back(&rig, m, RTE_DIM(m), false);
		CHECK(rectangles == (keeps(dev.id) ? 4 * runs : 0));
		CHECK(pool_uploads == 0);
	}
	teardown(&rig, true);
}

/* The AAD is ESP's header, stripped but still in front of the packet. The driver must not write a head there
 * before it has read the AAD, nor before it reads it again, when one packet differs from the others. */
static void aad_in_headroom(uint32_t distance, bool alike)
{
	static struct pair pairs[64];
	struct rte_crypto_op *sent[64];
	struct rig rig;

	setup(&rig, OCL_CIPHER_AES_GCM);
	rig.offset = 32;
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		make_pair(&pairs[i], &rig, rte_pktmbuf_alloc(rig.pool),
			  i == 40 && !alike ? 64 : 1024, false);
		for (int j = 0; j < 2; j++) {
			struct rte_crypto_sym_op *sym = pairs[i].op[j]->sym;

			sym->aead.aad.data = rte_pktmbuf_mtod(sym->m_src, uint8_t *) - distance;
		}
		sent[i] = pairs[i].op[0];
	}
	run(sent, RTE_DIM(sent));
	compare_all(pairs, RTE_DIM(pairs));
	teardown(&rig, true);
}

/* One packet differs: in its length, in having no pool, in its place in the buffer, or it has no neighbour
 * in the pool. Then all have records. */
static void all_but_one(unsigned int odd)
{
	static struct pair pairs[64];
	struct rte_crypto_op *sent[64];
	struct rig rig;

	setup(&rig, OCL_CIPHER_AES_CBC);
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		bool one = i == 40;

		rig.offset = one && odd == 2 ? 120 : 8;
		if (odd == 3 && (i == 20 || i == 30 || i == 40))
			rte_pktmbuf_free(rte_pktmbuf_alloc(rig.pool));
		make_pair(&pairs[i], &rig, rte_pktmbuf_alloc(one && odd == 1 ? plain : rig.pool),
			  one && odd == 0 ? 64 : 1024, false);
		sent[i] = pairs[i].op[0];
	}
	uploaded = 0;
	run(sent, RTE_DIM(sent));
	CHECK(!keeps(dev.id) || uploaded >= RTE_DIM(pairs) * 64);
	compare_all(pairs, RTE_DIM(pairs));
	teardown(&rig, true);
}

/* Without PIPSEA's scheduler a launch of several algorithms and lengths moves as little. */
static void mixed_with_heads(const char *memory, enum ocl_cipher cipher)
{
	static struct pair pairs[64];
	struct rte_crypto_op *sent[64];
	struct rig rig, other;

	device_open(&dev, memory, 1);
	setup(&rig, cipher);
	rig.offset = 16;
	other = rig;
	other.suite.auth = OCL_AUTH_HMAC_SHA256;
	suite_randomize(&other.suite);
	other.suite.aad_len = 0;
	other.suite.iv_len = 16;
	other.suite.digest_len = DIGEST;
	other.encrypt = suite_session(&dev, &other.suite, true);
	CHECK(other.encrypt);
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		make_pair(&pairs[i], i % 2 ? &other : &rig, rte_pktmbuf_alloc(rig.pool),
			  64 * (1 + rnd_below(16)), false);
		sent[i] = pairs[i].op[0];
	}
	launches = rectangles = uploaded = 0;
	run(sent, RTE_DIM(sent));
	CHECK(launches < RTE_DIM(pairs) / 4 && rectangles == 2 * launches && uploaded == 0);
	compare_all(pairs, RTE_DIM(pairs));
	session_free(&dev, other.encrypt);
	teardown(&rig, true);
	device_close(&dev);
}

/* Each on a new device: after packets that differ, a queue pair tries no heads for some launches. */
static void heads(const char *memory)
{
	device_open(&dev, memory, 1);
	with_heads(OCL_CIPHER_AES_CBC, 16);
	with_heads(OCL_CIPHER_AES_CBC, 11);
	with_heads(OCL_CIPHER_AES_GCM, 32);
	aad_in_headroom(16, true);
	aad_in_headroom(46, false);
	device_close(&dev);
	for (unsigned int odd = 0; odd < 4; odd++) {
		device_open(&dev, memory, 1);
		all_but_one(odd);
		device_close(&dev);
	}
}

static void refused(void)
{
	struct rte_mempool *pools[17] = {NULL};
	struct rte_mbuf *m;
	char name[16];
	unsigned int n = 0;

	CHECK(create(dev.id + 1, "none", 64, 0, ROOM, SOCKET_ID_ANY) == NULL &&
	      rte_errno == ENODEV);
	CHECK(create(dev.id, "none", 0, 0, ROOM, SOCKET_ID_ANY) == NULL && rte_errno == EINVAL);
	CHECK(create(dev.id, "none", 1u << 24, 0, ROOM, SOCKET_ID_ANY) == NULL &&
	      rte_errno == EINVAL);
	CHECK(create(dev.id, "none", 64, 0, 65281, SOCKET_ID_ANY) == NULL && rte_errno == EINVAL);
	CHECK(create(dev.id, "none", 64, 3, ROOM, SOCKET_ID_ANY) == NULL && rte_errno == EINVAL);
	for (; n < RTE_DIM(pools); n++) {
		snprintf(name, sizeof(name), "pool%u", n);
		pools[n] = create(dev.id, name, 64, 0, ROOM, SOCKET_ID_ANY);
		if (pools[n] == NULL)
			break;
	}
	CHECK(n == 16 && rte_errno == ENOSPC);
	CHECK(destroy(dev.id, NULL) == -ENOENT && destroy(dev.id, plain) == -ENOENT);
	CHECK(destroy(dev.id + 1, pools[0]) == -ENODEV);
	m = rte_pktmbuf_alloc(pools[3]);
	CHECK(m && destroy(dev.id, pools[3]) == -EBUSY);
	rte_pktmbuf_free(m);
	CHECK(destroy(dev.id, pools[3]) == 0 && destroy(dev.id, pools[3]) == -ENOENT);
	CHECK(create(dev.id, "again", 64, 0, ROOM, SOCKET_ID_ANY) != NULL);
}

/* Some mbufs use the second buffer, some the first: the copy engine still moves all of them as one run. */
static void joined(void)
{
	static struct pair pairs[64];
	struct rte_crypto_op *sent[64];
	struct rig rig;

	setup(&rig, OCL_CIPHER_AES_GCM);
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);

		/* Some packets are in the second buffer, as after an operation. */
		if (keeps(dev.id) && rnd_below(2)) {
			m->buf_addr = RTE_PTR_ADD(m->buf_addr, MBUFS * (ROOM + 256));
			m->buf_iova = (uintptr_t)m->buf_addr;
		}
		make_pair(&pairs[i], &rig, m, 256 + rnd_below(512), false);
		sent[i] = pairs[i].op[0];
	}
	rectangles = 0;
	run(sent, RTE_DIM(sent));
	CHECK(rectangles == (keeps(dev.id) ? 2 : 0));
	compare_all(pairs, RTE_DIM(pairs));
	teardown(&rig, true);
}

/* The device fails before a launch, after it, or never answers. Another device can then process
 * the remaining packets: they are unchanged, and all return to the pool. */
static void kept(bool *fault, const char *own_args, bool beside)
{
	struct rte_crypto_op *sent[64];
	static struct pair pairs[64];
	struct rig rig;

	device_open(&dev, own_args, 1);
	CHECK(keeps(dev.id) == 1);
	setup(&rig, OCL_CIPHER_AES_GCM);
	rig.offset = beside ? 0 : 24;
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		/* The last ones are too few for a rectangle. */
		for (unsigned int skip = 0; beside && i > 60 && skip < 2; skip++)
			rte_pktmbuf_free(rte_pktmbuf_alloc(rig.pool));
		make_pair(&pairs[i], &rig, rte_pktmbuf_alloc(rig.pool), 1024, beside && i & 1);
		sent[i] = pairs[i].op[0];
	}
	/* The sessions have been uploaded. */
	run(&pairs[0].op[1], 1);
	run(&sent[0], 1);
	CHECK(same_packet(sent[0]->sym->m_src, pairs[0].op[1]->sym->m_src));
	*fault = true;
	run(sent, RTE_DIM(sent));
	*fault = false;
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		CHECK(sent[i]->status == RTE_CRYPTO_OP_STATUS_ERROR);
		CHECK(same_packet(sent[i]->sym->m_src, pairs[i].op[1]->sym->m_src));
		free_op(pairs[i].op[0]);
		free_op(pairs[i].op[1]);
	}
	teardown(&rig, true);
	device_close(&dev);
}

/* A device that is given up may still write to packets of its pool: their mbufs never return to it. */
static void given_up(void)
{
	struct rte_crypto_op *sent[8];
	static struct pair pairs[8];
	struct rig rig;

	device_open(&dev, "memory=svm,timeout_ms=100", 1);
	CHECK(keeps(dev.id) == 0 && keeps(dev.id + 1) == -ENODEV);
	setup(&rig, OCL_CIPHER_AES_CBC);
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		make_pair(&pairs[i], &rig, rte_pktmbuf_alloc(rig.pool), 1024, false);
		sent[i] = pairs[i].op[i & 1];
	}
	fault_hang = true;
	run(sent, RTE_DIM(sent));
	fault_hang = false;
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		CHECK(sent[i]->status == RTE_CRYPTO_OP_STATUS_ERROR);
		free_op(pairs[i].op[0]);
		free_op(pairs[i].op[1]);
	}
	CHECK(rte_mempool_in_use_count(rig.pool) == RTE_DIM(pairs) / 2);
	teardown(&rig, false);
	device_close(&dev);
}

static void everything(const char *memory)
{
	printf("%s\n", memory);
	args = memory;
	device_open(&dev, args, 1);
	in_order(OCL_CIPHER_AES_CBC, false);
	in_order(OCL_CIPHER_AES_CBC, true);
	in_order(OCL_CIPHER_AES_GCM, false);
	out_of_order();
	sorted_again();
	freed_twice();
	foreign_buffer();
	mixed_pools();
	out_of_place();
	joined();
	no_core_copies();
	gathered(true);
	gathered(false);
	refused();
	device_close(&dev);
	/* The remaining pools were freed with the device. */
	CHECK(rte_mempool_lookup("again") == NULL);
}

/* Packets stay in place if the device can access them there; otherwise the device has its own
 * memory. */
static void chosen(void)
{
	bool shared = device_has("memory=svm");

	device_open(&dev, NULL, 1);
	CHECK(keeps(dev.id) == !shared);
	device_close(&dev);
}

static int no_ring(struct rte_mempool *mp)
{
	(void)mp;
	return -ENOTSUP;
}

static int no_enqueue(struct rte_mempool *mp, void *const *obj, unsigned int n)
{
	(void)mp, (void)obj, (void)n;
	return -ENOBUFS;
}

static int no_dequeue(struct rte_mempool *mp, void **obj, unsigned int n)
{
	(void)mp, (void)obj, (void)n;
	return -ENOBUFS;
}

static unsigned int no_count(const struct rte_mempool *mp)
{
	(void)mp;
	return 0;
}

/* Another library has registered the name of this driver's mempool handler before: its functions
 * must not be used. */
static void take_name(void)
{
	static const struct rte_mempool_ops other = {
		.name = "opencl_in_order",
		.alloc = no_ring,
		.enqueue = no_enqueue,
		.dequeue = no_dequeue,
		.get_count = no_count,
	};

	CHECK(rte_mempool_register_ops(&other) >= 0);
}

int main(void)
{
	take_name();
	harness_start();
	create = (create_fn *)dlsym(RTLD_DEFAULT, "rte_pmd_opencl_pktmbuf_pool_create");
	destroy = (free_fn *)dlsym(RTLD_DEFAULT, "rte_pmd_opencl_pktmbuf_pool_free");
	keeps = (keeps_fn *)dlsym(RTLD_DEFAULT, "rte_pmd_opencl_keeps_packets");
	CHECK(create && destroy && keeps);
	ops = rte_crypto_op_pool_create("ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC, 2047, 0, 16 + MAX_AAD,
					SOCKET_ID_ANY);
	plain = rte_pktmbuf_pool_create("plain", 2047, 0, 0, ROOM + RTE_PKTMBUF_HEADROOM,
					SOCKET_ID_ANY);
	CHECK(ops && plain);
	chosen();
	everything("memory=staged,wait_us=1000");
	heads("memory=staged,sched=all,wait_us=1000,granularity=512,launches=thread");
	mixed_with_heads("memory=staged,wait_us=1000", OCL_CIPHER_AES_CBC);
	mixed_with_heads("memory=staged,wait_us=1000,lanes=8", OCL_CIPHER_AES_CTR);
	kept(&fault_launch, "memory=staged", true);
	kept(&fault_error, "memory=staged", true);
	kept(&fault_hang, "memory=staged", true);
	kept(&fault_error, "memory=staged,launches=thread", false);
	kept(&fault_hang, "memory=staged", false);
	if (device_has("memory=svm"))
		everything("memory=svm,wait_us=1000");
	if (device_has("memory=persistent"))
		everything("memory=persistent,wait_us=1000");
	if (device_has("memory=svm"))
		given_up();
	full_by_bytes();
	rte_mempool_free(ops);
	rte_mempool_free(plain);
	harness_stop();
	printf("all as expected\n");
	return 0;
}
