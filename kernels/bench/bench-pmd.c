/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Throughput and latency of a crypto device through the cryptodev API, with data
 * that start and end in mbufs: a closed loop with a fixed number of operations under way on each lcore.
 *
 *   bench-pmd [EAL arguments] -- [-a ALGORITHM] [-s LENGTHS] [-D] [-w WINDOW] [-b BURST]
 *	       [-S SESSIONS] [-t SECONDS] [-p own|plain] [-H FILE] [ALGORITHM,LENGTHS[,decrypt]...]
 *
 * ALGORITHM  cbc-sha1 | cbc | sha1 | gcm | chacha: encryption; mix: that of PIPSEA's evaluation,
 *	      AES-128-CBC+HMAC-SHA1, AES-128-CBC and HMAC-SHA1, each half of the time
 *	      encrypting or generating, half of the time decrypting or verifying
 * LENGTHS    bytes, random (64 to 1280), or imix or csit, of testing/bench/mixes.def
 * -D, decrypt
 *	      decryption of one algorithm. A cipher with a digest needs new packets each time: the
 *	      lcore writes them, which a network card's DMA would do without it
 * WINDOW     operations under way, each lcore
 * -p plain   an ordinary pool of mbufs also for crypto_opencl
 * -H FILE    the distributions of latencies: microseconds (upper end), operations; an empty
 *	      line behind each
 *
 * Every lcore but the main one feeds a queue pair from a pool of its own. What stands
 * behind the options is measured one after the other, on the same device. One line of results
 * each; a decryption that fails ends the run. Cycles per operation are processor time that was
 * used, be it for waiting: by the whole process, which includes the threads of an OpenCL on the
 * processor, and by the feeding lcores. Of these the line says where they went: make, free: the
 * benchmark's own, with mbufs; enqueue, dequeue: the driver; wait: when there was nothing to do.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cryptodev.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "job.h"
#include "rte_pmd_opencl.h"
#include "times.h"

#define MAX_LCORES 64
#define MAX_BURST  512
#define DIGEST	   12
#define TAG	   16
#define IV_OFFSET  (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define HEADER	   32	 /* in front of the payload, as with ESP in IPv4 */
#define AHEAD	   4	 /* operations that are fetched in advance */
#define MIN_POOL   1023u /* mbufs: more than DPDK caches */

/* In each mbuf's private area. */
struct work {
	struct rte_crypto_op op;
	struct rte_crypto_sym_op sym;
	uint8_t iv[16];
	uint8_t aad[16];
	uint64_t start; /* TSC */
	uint32_t len;
	uint32_t session;
	uint8_t kind;
	bool encrypted;	  /* what it holds; false: chosen anew */
	uint32_t written; /* the job that wrote it in order to decrypt it */
};

enum phase { MAKING, ENQUEUEING, DEQUEUEING, FREEING, WAITING, PHASES };

struct lcore {
	uint16_t qp;
	uint64_t last, spent[PHASES]; /* TSC */
	double seconds;		      /* of processor time, in what is counted */
	struct rte_mempool *pool;
	struct rte_mbuf **mbufs; /* a ring of the mbufs not under way, in the order of the pool */
	uint32_t nmbufs, first, nfree;
	struct rte_crypto_op
		*unsent[MAX_BURST]; /* the device had no room: sent first by the next send() */
	uint16_t nunsent;
	uint64_t rnd;
	uint64_t ops, bytes, failed;
	uint64_t latency; /* TSC */
	struct times times;
} __rte_cache_aligned;

static struct {
	const char *algorithm, *size;
	bool decrypt, plain;
	uint32_t window, burst, sessions;
	double seconds;
	FILE *histogram;
} options = {.algorithm = "cbc-sha1",
	     .size = "1024",
	     .window = 4096,
	     .burst = 64,
	     .sessions = 64,
	     .seconds = 2};

static const char *const phases[PHASES] = {"make", "enqueue", "dequeue", "free", "wait"};
static struct job job;	 /* that is being measured */
static uint32_t longest; /* bytes of payload, of all that is to be measured */
static uint32_t job_number;
static uint8_t dev;
static struct rte_mempool *session_pool;
static void **sessions[KINDS][2]; /* decrypt, encrypt */
static struct lcore lcores[MAX_LCORES];
static uint64_t begin, end; /* TSC: what is counted */
static float us_per_cycle;
static double all_seconds; /* of the process's processor time, in what is counted */
static uint8_t *encrypted; /* a packet of each length, from what is authenticated to the digest */
#define AUTH_FIRST	(HEADER - 24)
#define ENCRYPTED_PITCH (24 + LENGTH_MAX + TAG)

static void fail(const char *what)
{
	fprintf(stderr, "bench-pmd: %s (%s)\n", what, rte_strerror(rte_errno));
	exit(1);
}

static uint32_t rnd(struct lcore *l)
{
	l->rnd ^= l->rnd << 13;
	l->rnd ^= l->rnd >> 7;
	l->rnd ^= l->rnd << 17;
	return l->rnd >> 32;
}

static void *make_session(enum kind kind, bool encrypt)
{
	static const uint8_t key[32] = {1, 2, 3};
	struct rte_crypto_sym_xform cipher = {
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.cipher =
			{
				.op = encrypt ? RTE_CRYPTO_CIPHER_OP_ENCRYPT
					      : RTE_CRYPTO_CIPHER_OP_DECRYPT,
				.algo = RTE_CRYPTO_CIPHER_AES_CBC,
				.key = {key, 16},
				.iv = {IV_OFFSET, 16},
			},
	};
	struct rte_crypto_sym_xform auth = {
		.type = RTE_CRYPTO_SYM_XFORM_AUTH,
		.auth =
			{
				.op = encrypt ? RTE_CRYPTO_AUTH_OP_GENERATE
					      : RTE_CRYPTO_AUTH_OP_VERIFY,
				.algo = RTE_CRYPTO_AUTH_SHA1_HMAC,
				.key = {key, 20},
				.digest_length = DIGEST,
			},
	};
	struct rte_crypto_sym_xform aead = {
		.type = RTE_CRYPTO_SYM_XFORM_AEAD,
		.aead =
			{
				.op = encrypt ? RTE_CRYPTO_AEAD_OP_ENCRYPT
					      : RTE_CRYPTO_AEAD_OP_DECRYPT,
				.algo = kind == GCM ? RTE_CRYPTO_AEAD_AES_GCM
						    : RTE_CRYPTO_AEAD_CHACHA20_POLY1305,
				.key = {key, kind == GCM ? 16 : 32},
				.iv = {IV_OFFSET, 12},
				.digest_length = TAG,
				.aad_length = 8,
			},
	};
	struct rte_crypto_sym_xform *first = kind >= GCM ? &aead : kind == SHA1 ? &auth : &cipher;
	void *session;

	if (kind == CBC_SHA1) {
		first = encrypt ? &cipher : &auth;
		first->next = encrypt ? &auth : &cipher;
	}
	session = rte_cryptodev_sym_session_create(dev, first, session_pool);
	if (session == NULL)
		fail(kind_name[kind]);
	return session;
}

/* Make the sessions that the job needs and that do not exist yet. */
static void make_sessions(void)
{
	for (enum kind kind = 0; kind < KINDS; kind++) {
		if (sessions[kind][0] || (job.mix ? kind > SHA1 : kind != job.kind))
			continue;
		for (int encrypt = 0; encrypt < 2; encrypt++) {
			sessions[kind][encrypt] = calloc(options.sessions, sizeof(void *));
			for (uint32_t i = 0; i < options.sessions; i++)
				sessions[kind][encrypt][i] = make_session(kind, encrypt);
		}
	}
}

static void choose(struct lcore *l, struct work *w)
{
	w->len = lengths_draw(&job.lengths, rnd(l));
	w->session = (uint64_t)rnd(l) * options.sessions >> 32;
	w->kind = job.mix ? rnd(l) % 3 : job.kind;
}

static uint8_t *encrypted_packet(uint32_t len)
{
	return encrypted + (size_t)len / LENGTH_BLOCK * ENCRYPTED_PITCH;
}

/* The operation on one mbuf. */
static void describe(struct rte_mbuf *m, struct work *w, bool encrypt)
{
	struct rte_crypto_sym_op *sym = &w->sym;
	uint8_t *digest;

	m->data_len = m->pkt_len = HEADER + w->len + TAG;
	digest = rte_pktmbuf_mtod_offset(m, uint8_t *, HEADER + w->len);
	w->op.type = RTE_CRYPTO_OP_TYPE_SYMMETRIC;
	w->op.sess_type = RTE_CRYPTO_OP_WITH_SESSION;
	w->op.status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	sym->m_src = m;
	sym->m_dst = NULL;
	sym->session = sessions[w->kind][encrypt][w->session];
	if (w->kind >= GCM) {
		sym->aead.data.offset = HEADER;
		sym->aead.data.length = w->len;
		sym->aead.digest.data = digest;
		sym->aead.aad.data = w->aad;
		return;
	}
	sym->cipher.data.offset = HEADER;
	sym->cipher.data.length = w->len;
	sym->auth.data.offset = AUTH_FIRST;
	sym->auth.data.length = w->len + 24;
	sym->auth.digest.data = digest;
}

/* Without a digest any data can be decrypted, and without a cipher the data do not change. */
static bool can_decrypt_again(const struct work *w)
{
	return job.decrypt && w->written == job_number && (job.kind == CBC || job.kind == SHA1);
}

static void prepare(struct lcore *l, struct rte_mbuf *m, uint64_t now)
{
	struct work *w = rte_mbuf_to_priv(m);
	bool encrypt = !job.decrypt && !(job.mix && w->encrypted), again = can_decrypt_again(w);

	if ((encrypt || job.decrypt) && !again)
		choose(l, w);
	w->encrypted = encrypt;
	w->start = now;
	if (job.decrypt && !again) {
		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, AUTH_FIRST), encrypted_packet(w->len),
		       24 + w->len + TAG);
		w->written = job_number;
	}
	describe(m, w, encrypt);
}

/* One packet of each length, encrypted by the device that is to decrypt it. */
static void make_encrypted(struct lcore *l)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(l->pool);
	struct work *w = rte_mbuf_to_priv(m);
	struct rte_crypto_op *op = &w->op;

	w->kind = job.kind;
	for (w->len = LENGTH_BLOCK; w->len <= lengths_longest(&job.lengths);
	     w->len += LENGTH_BLOCK) {
		describe(m, w, true);
		if (rte_cryptodev_enqueue_burst(dev, l->qp, &op, 1) != 1)
			fail("the device takes no operation");
		rte_cryptodev_enqueue_burst(dev, l->qp, NULL, 0);
		while (rte_cryptodev_dequeue_burst(dev, l->qp, &op, 1) == 0)
			;
		if (op->status != RTE_CRYPTO_OP_STATUS_SUCCESS)
			fail("the device cannot encrypt");
		memcpy(encrypted_packet(w->len), rte_pktmbuf_mtod_offset(m, uint8_t *, AUTH_FIRST),
		       24 + w->len + TAG);
	}
	w->encrypted = false;
	rte_pktmbuf_free(m);
}

static void put_back(struct lcore *l, struct rte_mbuf *m)
{
	uint32_t slot = l->first + l->nfree++;

	l->mbufs[slot < l->nmbufs ? slot : slot - l->nmbufs] = m;
}

/* Take the mbufs that have not been used for longest, which are in no cache. Like
 * dpdk-test-crypto-perf, this does not free mbufs to their pool in between. */
static bool take_burst(struct lcore *l, struct rte_mbuf **mbufs, uint16_t n)
{
	if (l->nfree < n)
		return false;
	for (uint16_t i = 0; i < n; i++) {
		mbufs[i] = l->mbufs[l->first];
		l->first = l->first + 1 < l->nmbufs ? l->first + 1 : 0;
		rte_prefetch0(mbufs[i]);
		rte_prefetch0(rte_mbuf_to_priv(mbufs[i]));
		rte_prefetch0(RTE_PTR_ADD(rte_mbuf_to_priv(mbufs[i]), RTE_CACHE_LINE_SIZE));
	}
	l->nfree -= n;
	return true;
}

static void make_burst(struct lcore *l, uint16_t n)
{
	struct rte_mbuf *mbufs[MAX_BURST];
	uint64_t now = rte_get_tsc_cycles();

	if (n == 0 || !take_burst(l, mbufs, n))
		return;
	for (uint16_t i = 0; i < n; i++) {
		prepare(l, mbufs[i], now);
		l->unsent[i] = &((struct work *)rte_mbuf_to_priv(mbufs[i]))->op;
	}
	l->nunsent = n;
}

/* Add the time since the last call to a phase. */
static void spend(struct lcore *l, enum phase phase)
{
	uint64_t now = rte_get_tsc_cycles();

	if (now >= begin && now < end)
		l->spent[phase] += now - l->last;
	l->last = now;
}

static uint16_t send(struct lcore *l, uint32_t room)
{
	uint16_t sent;

	if (l->nunsent == 0)
		make_burst(l, RTE_MIN(options.burst, room));
	if (l->nunsent == 0)
		return 0;
	spend(l, MAKING);
	sent = rte_cryptodev_enqueue_burst(dev, l->qp, l->unsent, l->nunsent);
	l->nunsent -= sent;
	memmove(l->unsent, l->unsent + sent, l->nunsent * sizeof(*l->unsent));
	spend(l, sent ? ENQUEUEING : WAITING);
	return sent;
}

static void count(struct lcore *l, const struct work *w, uint64_t now)
{
	l->ops++;
	l->bytes += w->len;
	l->latency += now - w->start;
	times_add(&l->times, (now - w->start) * us_per_cycle);
}

static uint16_t receive(struct lcore *l)
{
	struct rte_crypto_op *ops[MAX_BURST];
	uint16_t n = rte_cryptodev_dequeue_burst(dev, l->qp, ops, options.burst);
	uint64_t now = rte_get_tsc_cycles();

	spend(l, n ? DEQUEUEING : WAITING);
	for (uint16_t i = 0; i < n; i++) {
		struct work *w = (struct work *)ops[i];

		if (i + AHEAD < n) {
			rte_prefetch0(&((struct work *)ops[i + AHEAD])->start);
			rte_prefetch0(((struct work *)ops[i + AHEAD])->sym.m_src);
		}
		l->failed += ops[i]->status != RTE_CRYPTO_OP_STATUS_SUCCESS;
		if (now >= begin && now < end)
			count(l, w, now);
		put_back(l, w->sym.m_src);
	}
	spend(l, n ? FREEING : WAITING);
	return n;
}

static double clock_seconds(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* When the counting begins (-1) and ends. */
static void account(struct lcore *l, int sign)
{
	l->seconds += sign * clock_seconds(CLOCK_THREAD_CPUTIME_ID);
	if (l->qp == 0)
		all_seconds += sign * clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* Take back the operations that the device has not accepted. */
static void take_back(struct lcore *l)
{
	for (uint16_t i = 0; i < l->nunsent; i++) {
		struct work *w = (struct work *)l->unsent[i];

		w->encrypted = false;
		put_back(l, w->sym.m_src);
	}
	l->nunsent = 0;
}

static int feed(void *arg)
{
	struct lcore *l = arg;
	uint32_t under_way = 0;
	bool counting = false;
	uint64_t now;

	while ((now = rte_get_tsc_cycles()) < end && l->failed == 0) {
		if (!counting && now >= begin) {
			account(l, -1);
			counting = true;
		}
		under_way += send(l, options.window - under_way);
		under_way -= receive(l);
	}
	if (counting)
		account(l, 1);
	rte_cryptodev_enqueue_burst(dev, l->qp, NULL, 0);
	while (under_way)
		under_way -= receive(l);
	take_back(l);
	return 0;
}

static struct rte_mempool *make_pool(uint32_t index, int socket)
{
	uint32_t n = RTE_MAX(options.window + 2 * MAX_BURST, MIN_POOL);
	uint32_t room = RTE_MAX((uint32_t)RTE_MBUF_DEFAULT_BUF_SIZE,
				RTE_PKTMBUF_HEADROOM + HEADER + longest + TAG);
	char name[32];

	snprintf(name, sizeof(name), "packets%u", index);
	if (!options.plain)
		return rte_pmd_opencl_pktmbuf_pool_create(dev, name, n, sizeof(struct work), room,
							  socket);
	return rte_pktmbuf_pool_create(name, n, 256, sizeof(struct work), room, socket);
}

/* Writes to all of it, so that no page is missing when time counts. */
static void clear(struct rte_mempool *pool __rte_unused, void *arg __rte_unused, void *object,
		  unsigned int i __rte_unused)
{
	struct rte_mbuf *m = object;

	memset(rte_mbuf_to_priv(m), 0, sizeof(struct work));
	memset(m->buf_addr, 0, m->buf_len);
}

/* Allocate the mbufs that can be under way, and one burst more. */
static void take_all(struct lcore *l)
{
	l->nmbufs = options.window + MAX_BURST;
	l->mbufs = calloc(l->nmbufs, sizeof(*l->mbufs));
	if (l->mbufs == NULL)
		fail("no memory");
	for (uint32_t i = 0; i < l->nmbufs; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(l->pool);

		if (m == NULL)
			fail("no mbuf");
		put_back(l, m);
	}
}

static uint32_t start_device(void)
{
	struct rte_cryptodev_config config = {.nb_queue_pairs = rte_lcore_count() - 1};
	struct rte_cryptodev_qp_conf qp = {.nb_descriptors = 2 * options.window};
	struct rte_cryptodev_info info;
	uint32_t n = 0;
	unsigned int id;

	if (rte_cryptodev_count() == 0 || rte_lcore_count() < 2)
		fail("needs a crypto device (--vdev) and two lcores (-l)");
	rte_cryptodev_info_get(dev, &info);
	if (strcmp(info.driver_name, "crypto_opencl") != 0)
		options.plain = true;
	if (rte_cryptodev_configure(dev, &config))
		fail("cannot configure the device");
	RTE_LCORE_FOREACH_WORKER(id)
	{
		struct lcore *l = &lcores[n];

		l->qp = n++;
		l->rnd = 88172645463325252 + n;
		l->pool = make_pool(n, rte_lcore_to_socket_id(id));
		if (l->pool == NULL || rte_cryptodev_queue_pair_setup(dev, l->qp, &qp, 0))
			fail("no queue pair or no pool");
		rte_mempool_obj_iter(l->pool, clear, NULL);
		take_all(l);
	}
	return n;
}

static int report(uint32_t n)
{
	struct lcore sum = {0};
	struct rte_cryptodev_info info;

	for (uint32_t i = 0; i < n; i++) {
		sum.ops += lcores[i].ops;
		sum.bytes += lcores[i].bytes;
		sum.latency += lcores[i].latency;
		sum.failed += lcores[i].failed;
		sum.seconds += lcores[i].seconds;
		times_merge(&sum.times, &lcores[i].times);
		for (int j = 0; j < PHASES; j++)
			sum.spent[j] += lcores[i].spent[j];
	}
	rte_cryptodev_info_get(dev, &info);
	printf("%-18s %-9s %7s bytes %2u lcores window %5u: %8.3f Mops/s %8.4f Gbps, "
	       "latency us mean %7.1f p50 %5.0f p99 %5.0f p99.9 %5.0f max %5.0f, "
	       "cycles per operation %.0f (lcores %.0f), %lu failed%s%s",
	       info.driver_name, job.mix ? "mix" : kind_name[job.kind], job.size, n, options.window,
	       sum.ops / options.seconds / 1e6, sum.bytes * 8 / options.seconds / 1e9,
	       sum.ops ? (double)sum.latency / sum.ops / rte_get_tsc_hz() * 1e6 : 0,
	       times_share(&sum.times, 0.5), times_share(&sum.times, 0.99),
	       times_share(&sum.times, 0.999), times_share(&sum.times, 1),
	       all_seconds * rte_get_tsc_hz() / RTE_MAX(sum.ops, 1u),
	       sum.seconds * rte_get_tsc_hz() / RTE_MAX(sum.ops, 1u), sum.failed,
	       options.plain ? ", plain pool" : "", job.decrypt ? ", decrypted" : "");
	for (int i = 0; i < PHASES; i++)
		printf("%s %s %.0f", i ? "" : ";", phases[i],
		       (double)sum.spent[i] / RTE_MAX(sum.ops, 1u));
	printf("\n");
	fflush(stdout);
	if (options.histogram)
		times_write(&sum.times, options.histogram);
	return sum.failed || sum.ops == 0;
}

/* @return the index of the first argument behind the options */
static int parse(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "a:s:w:b:S:t:p:DH:")) != -1) {
		switch (option) {
		case 'a':
			options.algorithm = optarg;
			break;
		case 's':
			options.size = optarg;
			break;
		case 'w':
			options.window = atoi(optarg);
			break;
		case 'b':
			options.burst = RTE_MIN(atoi(optarg), MAX_BURST);
			break;
		case 'S':
			options.sessions = atoi(optarg);
			break;
		case 't':
			options.seconds = atof(optarg);
			break;
		case 'p':
			options.plain = strcmp(optarg, "plain") == 0;
			break;
		case 'D':
			options.decrypt = true;
			break;
		case 'H':
			options.histogram = fopen(optarg, "w");
			if (options.histogram == NULL)
				fail(optarg);
			break;
		default:
			exit(2);
		}
	}
	return optind;
}

static void reset(struct lcore *l)
{
	l->seconds = 0;
	l->ops = l->bytes = l->failed = l->latency = 0;
	memset(l->spent, 0, sizeof(l->spent));
	memset(&l->times, 0, sizeof(l->times));
}

/* How long they get decides on the pools. */
static void look_at(char *const *specs, int n)
{
	for (int i = 0; i < n; i++) {
		if (job_parse(&job, specs[i])) {
			fprintf(stderr, "bench-pmd: %s: no such algorithm or lengths\n", specs[i]);
			exit(2);
		}
		longest = RTE_MAX(longest, lengths_longest(&job.lengths));
	}
}

static int measure(const char *spec, uint32_t n)
{
	double warm = RTE_MIN(options.seconds, 0.5); /* does not count */
	unsigned int id;
	uint32_t i = 0;

	job_parse(&job, spec);
	job_number++;
	make_sessions();
	if (job.decrypt)
		make_encrypted(&lcores[0]);
	for (i = 0; i < n; i++)
		reset(&lcores[i]);
	all_seconds = 0;
	begin = rte_get_tsc_cycles() + warm * rte_get_tsc_hz();
	end = begin + options.seconds * rte_get_tsc_hz();
	i = 0;
	RTE_LCORE_FOREACH_WORKER(id)
	rte_eal_remote_launch(feed, &lcores[i++], id);
	/* Asleep, for EAL keeps a processor busy while it waits for lcores. */
	rte_delay_us_sleep((warm + options.seconds) * 1e6);
	rte_eal_mp_wait_lcore();
	return report(n);
}

int main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv), nspecs, ret = 0;
	char one[48], *only = one, **specs = &only;
	uint32_t n;

	if (used < 0)
		fail("EAL");
	argc -= used;
	argv += used;
	used = parse(argc, argv);
	snprintf(one, sizeof(one), "%s,%s%s", options.algorithm, options.size,
		 options.decrypt ? ",decrypt" : "");
	if (used < argc)
		specs = argv + used;
	nspecs = RTE_MAX(argc - used, 1);
	look_at(specs, nspecs);
	n = start_device();
	session_pool = rte_cryptodev_sym_session_pool_create(
		"sessions", 2 * KINDS * options.sessions + 512,
		rte_cryptodev_sym_get_private_session_size(dev), 0, 0, SOCKET_ID_ANY);
	encrypted = calloc(LENGTH_MAX / LENGTH_BLOCK + 1, ENCRYPTED_PITCH);
	if (session_pool == NULL || encrypted == NULL)
		fail("no pool of sessions");
	if (rte_cryptodev_start(dev))
		fail("cannot start the device");
	us_per_cycle = 1e6 / rte_get_tsc_hz();
	for (int i = 0; i < nspecs; i++)
		ret |= measure(specs[i], n);
	return ret;
}
