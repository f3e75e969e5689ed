/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "base/log.h"
#include "crypto/auto/measure.h"
#include "crypto/auto/measured.h"
#include "crypto/device/engine.h"
#include "crypto/device/op.h"
#include "crypto/device/pool.h"
#include "crypto/device/sessions.h"
#include "esp/esp_common.h"
#include "ip/packet.h"

#define MOST	      MEASURE_PACKETS
#define MEASURE_BURST MEASURED_BATCH
#define FEW	      4u /* packets of a burst under light load */
#define REPEATS	      3u
#define SLICE_US      500u  /* duration of one measurement */
#define SHARED_US     1000u /* duration of the measurement with all threads */
#define BEHIND	      4	    /* a device slower than another by this factor is measured only once */
/* Fraction of the core's time from which more packets in flight are not tried. */
#define FULL_LOAD 0.9f
#define GAIN	  2.0f	/* speedup of a batch over a few packets that justifies trying more */
#define LOST_MS	  2000u /* time limit for a device to complete a packet */

/* The operations of one thread. */
struct bench {
	struct rte_mempool *ops;
	/* The first `run.size` elements are a ring: `idle` operations, from index `first` on, are not at the
	 * device. Packets are sent in the order of their addresses in the pool. */
	struct rte_crypto_op *op[MOST];
	unsigned int first, idle, in_flight;
	uint16_t number;     /* of the thread */
	float gbps, cost_ns; /* results of keep_busy() */
};

/* A bench for each thread. Most measurements use the first one only. */
static struct {
	struct bench *bench[CONF_MAX_WORKERS];
	struct rte_mempool *packets;
	unsigned int threads;
	unsigned int ready; /* atomic: threads that are ready to measure together, of these */
	unsigned int together;
	uint64_t end; /* TSC: time limit of all measurements */
	bool stopped; /* atomic */
	bool failed;  /* a device failed, now or at the start */
	bool broken;  /* atomic: this device did, with an operation at least */
	/* What is being measured. */
	const struct engine_device *device;
	const struct session *session;
	void *crypto;	    /* session of the device */
	unsigned int bytes; /* length of a packet */
	unsigned int size;  /* packets in flight */
} run;

static uint64_t us(uint64_t n)
{
	return n * rte_get_tsc_hz() / 1000000;
}

static bool is_broken(void)
{
	return __atomic_load_n(&run.broken, __ATOMIC_RELAXED);
}

static void set_broken(bool broken)
{
	if (broken)
		__atomic_store_n(&run.broken, true, __ATOMIC_RELAXED);
}

/* --- operations --- */

static void bench_free(struct bench *b)
{
	/* The device may still access operations that it has not completed. */
	for (unsigned int i = 0; i < MOST && !b->in_flight && b->op[i]; i++)
		rte_pktmbuf_free(b->op[i]->sym->m_src);
	if (!b->in_flight)
		rte_mempool_free(b->ops);
	rte_free(b);
}

static bool fill(struct bench *b)
{
	for (unsigned int i = 0; i < MOST; i++) {
		struct rte_crypto_op *op = rte_crypto_op_alloc(b->ops,
							       RTE_CRYPTO_OP_TYPE_SYMMETRIC);

		if (!op)
			return false;
		b->op[i] = op;
		op->sym->m_src = rte_pktmbuf_alloc(run.packets);
		if (!op->sym->m_src)
			return false;
		memset(crypto_op_job(op), 0, sizeof(struct esp_job));
	}
	return true;
}

static struct bench *bench_new(unsigned int number)
{
	struct bench *b = rte_zmalloc("measure", sizeof(*b), 0);
	char name[RTE_MEMPOOL_NAMESIZE];

	if (!b)
		return NULL;
	b->number = (uint16_t)number;
	snprintf(name, sizeof(name), "measure%u", number);
	b->ops = rte_crypto_op_pool_create(name, RTE_CRYPTO_OP_TYPE_SYMMETRIC, MOST, 0,
					   sizeof(struct esp_job), SOCKET_ID_ANY);
	if (!b->ops || !fill(b)) {
		bench_free(b);
		return NULL;
	}
	return b;
}

/* An SA with random keys, used only for measuring. */
static void make_sa(struct cygnet_sa *sa, const struct algorithm *a)
{
	*sa = (struct cygnet_sa){
		.proto = IPPROTO_ESP,
		.path[0].af = AF_INET,
		.mode = CYGNET_TUNNEL,
		.cipher = a->cipher,
		.auth = a->auth,
		.icv_len = a->icv_len,
		.cipher_key_len = a->key_len,
		.salt_len = a->salt_len,
		.auth_key_len = a->auth_key_len,
	};
	for (unsigned int i = 0; i < CYGNET_KEY_MAX; i++) {
		sa->cipher_key[i] = (uint8_t)rte_rand();
		sa->auth_key[i] = (uint8_t)rte_rand();
	}
}

/* Initialise the packets of the first `run.size` operations. None may be in flight. */
static void make_packets(struct bench *b)
{
	const struct session *s = run.session;
	unsigned int header = sizeof(struct rte_esp_hdr) + s->iv_len;
	unsigned int text = run.bytes / s->align * s->align;

	b->idle = run.size;
	b->first = 0;
	for (unsigned int i = 0; i < run.size; i++) {
		struct rte_mbuf *m = b->op[i]->sym->m_src;

		rte_pktmbuf_reset(m);
		rte_pktmbuf_append(m, (uint16_t)(header + text + s->icv_len));
		rte_crypto_op_attach_sym_session(b->op[i], run.crypto);
		esp_describe(s, crypto_op_job(b->op[i]), 0, text, false, header + text);
		crypto_op_describe(b->op[i], m, s->form);
	}
}

/* Write to a completed packet, as a worker does. The cost includes the cache misses on packets that
 * were at the device for long. */
static void touch(struct rte_mbuf *m)
{
	struct packet *p = packet(m);

	p->status = 0;
	p->seq = 0;
	*rte_pktmbuf_mtod(m, volatile uint8_t *) = 0;
}

static uint16_t queue_of(const struct bench *b)
{
	return (uint16_t)(run.device->measure_queue + b->number);
}

static void enqueue(struct bench *b, unsigned int n)
{
	struct rte_crypto_op **op = &b->op[b->first];
	uint16_t sent;

	n = RTE_MIN(n, b->idle);
	n = RTE_MIN(n, run.size - b->first);
	for (unsigned int i = 0; i < n; i++)
		op[i]->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	sent = rte_cryptodev_enqueue_burst(run.device->id, queue_of(b), op, (uint16_t)n);
	b->first = (b->first + sent) % run.size;
	b->idle -= sent;
	b->in_flight += sent;
}

static unsigned int dequeue(struct bench *b)
{
	struct rte_crypto_op *op[MEASURE_BURST];
	uint16_t n = rte_cryptodev_dequeue_burst(run.device->id, queue_of(b), op, MEASURE_BURST);

	crypto_op_prefetch(op, n);
	for (uint16_t i = 0; i < n; i++) {
		set_broken(op[i]->status != RTE_CRYPTO_OP_STATUS_SUCCESS);
		touch(op[i]->sym->m_src);
		b->op[(b->first + b->idle++) % run.size] = op[i];
	}
	b->in_flight -= n;
	return n;
}

/* Wait until all operations are completed. Empty bursts flush the device, as those of a worker do. */
static void drain(struct bench *b)
{
	uint64_t end = rte_get_tsc_cycles() + us(LOST_MS * 1000ull);

	while (b->in_flight && !is_broken()) {
		if (!dequeue(b))
			enqueue(b, 0);
		set_broken(rte_get_tsc_cycles() > end);
	}
	while (b->in_flight && rte_get_tsc_cycles() < end)
		dequeue(b);
}

/* --- one thread --- */

/* The least of several latencies. It excludes interruptions of the core, and setup by the driver in the
 * first burst. */
static float latency(struct bench *b)
{
	uint64_t least = UINT64_MAX;

	run.size = FEW;
	make_packets(b);
	for (unsigned int i = 0; i <= REPEATS && !is_broken(); i++) {
		uint64_t began = rte_get_tsc_cycles();

		enqueue(b, FEW);
		drain(b);
		least = RTE_MIN(least, rte_get_tsc_cycles() - began);
	}
	return (float)((double)least * 1e6 / (double)rte_get_tsc_hz());
}

/* Keep run.size packets in flight for slice_us, or until that many are completed. A device that collects
 * packets completes none at first, and then many at once. Its measurement begins when it has completed
 * run.size packets, or with the first completion after slice_us, and ends with the last completion. */
static void keep_busy(struct bench *b, unsigned int slice_us)
{
	uint64_t began = rte_get_tsc_cycles(), now = began, last = began, busy = 0, done = 0;
	double hz = (double)rte_get_tsc_hz();
	bool filling = !run.device->at_once;

	while ((now - began < us(slice_us) || done < run.size) &&
	       now - began < us(LOST_MS * 1000) && !is_broken()) {
		unsigned int before = b->in_flight, n;
		uint64_t then;

		enqueue(b, MEASURE_BURST);
		n = dequeue(b);
		then = rte_get_tsc_cycles();
		busy += n || b->in_flight != before ? then - now : 0;
		now = then;
		done += n;
		last = n ? now : last;
		if (filling && n && (done >= run.size || now - began >= us(slice_us))) {
			filling = false;
			began = now;
			busy = done = 0;
		}
	}
	drain(b);
	b->gbps = b->cost_ns = 0;
	if (!done)
		return;
	b->gbps = (float)((double)(done * run.bytes * 8) / ((double)(last - began) / hz) / 1e9);
	b->cost_ns = (float)((double)busy / hz * 1e9 / (double)done);
}

/* The better of two measurements. One is enough if the device is far behind another. */
static void throughput(struct bench *b, unsigned int in_flight, float fastest, struct measured *m)
{
	run.size = in_flight;
	make_packets(b);
	for (unsigned int i = 0; i < 2 && (i == 0 || m->gbps * BEHIND >= fastest); i++) {
		keep_busy(b, SLICE_US);
		if (b->gbps > m->gbps) {
			m->gbps = b->gbps;
			m->cost_ns = b->cost_ns;
		}
	}
}

/* --- all threads --- */

static void *run_shared(void *arg)
{
	struct bench *b = arg;

	make_packets(b);
	__atomic_fetch_add(&run.ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&run.ready, __ATOMIC_ACQUIRE) < run.together)
		rte_pause();
	keep_busy(b, SHARED_US);
	return NULL;
}

/* Limit the throughput of a worker to its share when all threads use the device at once. They share the device's link,
 * locks and memory. */
static void share(struct measured *m)
{
	unsigned int launched = 0, n = RTE_MIN(run.threads, run.device->measure_queues);
	pthread_t thread[CONF_MAX_WORKERS];
	float gbps = 0;

	if (n < 2)
		return;
	run.ready = 0;
	run.together = n;
	for (; launched < n; launched++)
		if (pthread_create(&thread[launched], NULL, run_shared, run.bench[launched]))
			break;
	/* Let the started threads continue without the others. */
	if (launched < n)
		__atomic_store_n(&run.ready, n, __ATOMIC_RELEASE);
	for (unsigned int t = 0; t < launched; t++) {
		pthread_join(thread[t], NULL);
		gbps += run.bench[t]->gbps;
	}
	if (launched)
		m->gbps = RTE_MIN(m->gbps, gbps / (float)launched);
}

/* Whether more packets in flight may pay. They can at most increase the throughput as much. They increase it
 * little if a batch did so, and not at all if the device takes all of the core's time. */
static bool may_gain(const struct measured *m, float fastest)
{
	float few = (float)(FEW * run.bytes * 8) / m->latency_us / 1000;

	return m->gbps * MOST / MEASURED_BATCH >= fastest / 2 && m->gbps >= few * GAIN &&
	       m->gbps * m->cost_ns <= (float)(run.bytes * 8) * FULL_LOAD;
}

static void measure_one(struct bench *b, struct measured *m, float *fastest)
{
	*m = (struct measured){.latency_us = latency(b)};
	throughput(b, MEASURED_BATCH, *fastest, m);
	if (may_gain(m, *fastest)) {
		struct measured more = {.latency_us = m->latency_us};

		throughput(b, MOST, *fastest, &more);
		if (more.gbps > m->gbps * MEASURED_BETTER)
			*m = more;
		else
			run.size = MEASURED_BATCH;
	}
	*fastest = RTE_MAX(*fastest, m->gbps);
	if (!is_broken() && m->gbps * BEHIND >= *fastest)
		share(m);
}

static bool late(void)
{
	return rte_get_tsc_cycles() > run.end || __atomic_load_n(&run.stopped, __ATOMIC_RELAXED);
}

static bool is_lost(void)
{
	for (unsigned int t = 0; t < run.threads; t++)
		if (run.bench[t]->in_flight)
			return true;
	return false;
}

/* All lengths of one algorithm on one device. A device that has not completed all packets is taken out: a
 * worker would receive them later. */
static void measure_device(unsigned int device, unsigned int algorithm,
			   float fastest[LENGTH_CLASSES])
{
	struct cygnet_sa sa;
	struct session s;

	run.device = &engine_device[device];
	run.session = &s;
	run.crypto = NULL;
	run.broken = false;
	make_sa(&sa, &algorithms[algorithm]);
	if (session_describe(&s, &sa))
		session_crypto(&sa, device, &run.crypto);
	explicit_bzero(&sa, sizeof(sa));
	for (unsigned int l = 0; run.crypto && l < LENGTH_CLASSES && !is_broken() && !late(); l++) {
		struct measured *m = &measured[device][algorithm][l];

		run.bytes = length_class_bytes[l];
		measure_one(run.bench[0], m, &fastest[l]);
		if (is_broken())
			*m = (struct measured){0};
	}
	if (is_broken())
		log_warn("engine %s: %s failed while it was measured", run.device->engine,
			 run.device->name);
	run.failed |= is_broken();
	if (is_lost())
		engine_take_out(device);
	else if (run.crypto)
		rte_cryptodev_sym_session_free(run.device->id, run.crypto);
}

/* All devices with one algorithm. */
static void measure_algorithm(unsigned int algorithm)
{
	float fastest[LENGTH_CLASSES] = {0};

	for (unsigned int d = 0; d < engine_devices && !is_lost(); d++) {
		if (engine_lost(d))
			run.failed = true;
		else if (engine_device[d].measure_queues)
			measure_device(d, algorithm, fastest);
	}
}

/* The operations of a lost device cannot be used for the others, and a device that was lost before
 * (engines_start()) may work at the next start: then nothing is kept, and that start measures all again. */
int measure_all(unsigned int limit_ms)
{
	run.failed = false;
	run.end = rte_get_tsc_cycles() + us(limit_ms * 1000ull);
	for (unsigned int a = measured_algorithms; a < algorithm_count && !late() && !is_lost();
	     a++) {
		measure_algorithm(a);
		if (!late() && !is_lost())
			__atomic_store_n(&measured_algorithms, a + 1, __ATOMIC_RELEASE);
	}
	if (run.failed)
		return -EAGAIN;
	return measured_algorithms < algorithm_count ? -ETIME : 0;
}

void measure_stop(void)
{
	__atomic_store_n(&run.stopped, true, __ATOMIC_RELAXED);
}

/* One pool, because a device has few in its memory. */
int measure_begin(unsigned int threads)
{
	if (measured_algorithms >= algorithm_count)
		measured_algorithms = 0;
	if (!measured_algorithms)
		memset(measured, 0, sizeof(measured));
	run.stopped = false;
	run.packets = packet_pool_create("measured", threads * MOST);
	for (run.threads = 0; run.packets && run.threads < threads; run.threads++) {
		run.bench[run.threads] = bench_new(run.threads);
		if (!run.bench[run.threads])
			break;
	}
	if (run.packets && run.threads == threads)
		return 0;
	measure_end();
	return -ENOMEM;
}

void measure_end(void)
{
	while (run.threads)
		bench_free(run.bench[--run.threads]);
	packet_pool_free(run.packets);
	run.packets = NULL;
}
