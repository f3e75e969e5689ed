/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_cryptodev.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "base/log.h"
#include "crypto/auto/measure.h"
#include "crypto/auto/measured.h"
#include "crypto/device/engine.h"
#include "crypto/device/op.h"
#include "crypto/device/sessions.h"
#include "esp/esp_common.h"
#include "ip/packet.h"

#define MOST MEASURE_PACKETS /* packets in flight: the last value of measured_in_flight[] */
#define MEASURE_BURST 32u
#define FEW 4u		    /* packets of a burst under light load */
#define REPEATS 3u
#define SLICE_US 500u	    /* duration of one measurement; two for each number of packets in flight */
#define SHARED_US 1000u	    /* duration of the measurement with all workers */
#define BEHIND 4	    /* a device slower than another by this factor is measured only once */
#define LONG_US 4000u	    /* CPU time of a measurement that interruptions of the core hardly change */
#define FULL_LOAD 0.9f	    /* fraction of the core's time from which more packets in flight are not tried */
#define GAIN 2.0f	    /* speedup by more packets in flight that justifies trying yet more */
#define LOST_MS 2000u	    /* time limit for a device to complete a packet */

/* The measurements of one lcore. */
struct bench {
	struct rte_mempool *ops;
	struct rte_crypto_op *op[MOST];	/* the first `size` elements are a ring: `idle` operations,
					 * from index `first` on, are not at the device. Packets are
					 * sent in the order of their addresses in the pool. */
	unsigned int size, first, idle;
	unsigned int in_flight;
	bool failed;		/* an operation completed with an error or not at all */
	const struct engine_device *device;
	uint16_t queue;
	const struct session *session;
	void *crypto;		/* session of the device */
	unsigned int bytes;	/* length of a packet */
	float gbps, cost_ns;	/* results of keep_busy() */
};

/* The run of measure_all(), with a bench for each worker. Most measurements use the first one only. */
static struct {
	struct bench *bench[CONF_MAX_WORKERS];
	unsigned int workers;
	unsigned int ready;	/* atomic: workers that are ready to measure together */
	uint64_t end;		/* TSC: time limit of all measurements */
	bool failed;		/* a device failed */
} run;

static uint64_t us(uint64_t n)
{
	return n * rte_get_tsc_hz() / 1000000;
}

/* --- operations --- */

static void bench_free(struct bench *b)
{
	/* The device may still access operations that it has not completed. */
	for (unsigned int i = 0; i < MOST && !b->in_flight && b->op[i]; i++) {
		rte_pktmbuf_free(b->op[i]->sym->m_src);
		rte_crypto_op_free(b->op[i]);
	}
	if (!b->in_flight)
		rte_mempool_free(b->ops);
	rte_free(b);
}

static bool fill(struct bench *b, struct rte_mempool *packets)
{
	for (unsigned int i = 0; i < MOST; i++) {
		struct rte_crypto_op *op = rte_crypto_op_alloc(b->ops,
							       RTE_CRYPTO_OP_TYPE_SYMMETRIC);
		struct rte_mbuf *m = op ? rte_pktmbuf_alloc(packets) : NULL;

		if (!m) {
			rte_crypto_op_free(op);
			return false;
		}
		op->sym->m_src = m;
		b->op[i] = op;
		memset(crypto_op_job(op), 0, sizeof(struct esp_job));
	}
	return true;
}

static struct bench *bench_new(unsigned int worker, struct rte_mempool *packets)
{
	struct bench *b = rte_zmalloc("measure", sizeof(*b), 0);
	char name[RTE_MEMPOOL_NAMESIZE];

	if (!b)
		return NULL;
	snprintf(name, sizeof(name), "measure%u", worker);
	b->queue = (uint16_t)worker;
	b->ops = rte_crypto_op_pool_create(name, RTE_CRYPTO_OP_TYPE_SYMMETRIC, MOST, 0,
					   sizeof(struct esp_job), SOCKET_ID_ANY);
	if (!b->ops || !fill(b, packets)) {
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

/* Initialise the packets of the first `size` operations. None may be in flight. */
static void make_packets(struct bench *b, unsigned int size)
{
	const struct session *s = b->session;
	unsigned int header = sizeof(struct rte_esp_hdr) + s->iv_len;
	unsigned int text = b->bytes / s->align * s->align;

	b->size = b->idle = size;
	b->first = 0;
	for (unsigned int i = 0; i < size; i++) {
		struct rte_mbuf *m = b->op[i]->sym->m_src;

		rte_pktmbuf_reset(m);
		rte_pktmbuf_append(m, (uint16_t)(header + text + s->icv_len));
		rte_crypto_op_attach_sym_session(b->op[i], b->crypto);
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

static void enqueue(struct bench *b, unsigned int n)
{
	struct rte_crypto_op **op = &b->op[b->first];
	uint16_t sent;

	n = RTE_MIN(n, b->idle);
	n = RTE_MIN(n, b->size - b->first);
	for (unsigned int i = 0; i < n; i++)
		op[i]->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	sent = rte_cryptodev_enqueue_burst(b->device->id, b->queue, op, (uint16_t)n);
	b->first = (b->first + sent) % b->size;
	b->idle -= sent;
	b->in_flight += sent;
}

static unsigned int dequeue(struct bench *b)
{
	struct rte_crypto_op *op[MEASURE_BURST];
	uint16_t n = rte_cryptodev_dequeue_burst(b->device->id, b->queue, op, MEASURE_BURST);

	crypto_op_prefetch(op, n);
	for (uint16_t i = 0; i < n; i++) {
		b->failed |= op[i]->status != RTE_CRYPTO_OP_STATUS_SUCCESS;
		touch(op[i]->sym->m_src);
		b->op[(b->first + b->idle++) % b->size] = op[i];
	}
	b->in_flight -= n;
	return n;
}

/* Wait until all operations are completed. Empty bursts flush the device, as those of a worker do. */
static void drain(struct bench *b)
{
	uint64_t end = rte_get_tsc_cycles() + us(LOST_MS * 1000ull);

	while (b->in_flight && !b->failed) {
		if (!dequeue(b))
			enqueue(b, 0);
		b->failed |= rte_get_tsc_cycles() > end;
	}
	while (b->in_flight && rte_get_tsc_cycles() < end)
		dequeue(b);
}

/* --- one worker --- */

/* The least of several latencies. It excludes interruptions of the core, and setup by the driver in the
 * first burst. */
static float latency(struct bench *b)
{
	uint64_t least = UINT64_MAX;

	make_packets(b, FEW);
	for (unsigned int i = 0; i <= REPEATS && !b->failed; i++) {
		uint64_t began = rte_get_tsc_cycles();

		enqueue(b, FEW);
		drain(b);
		least = RTE_MIN(least, rte_get_tsc_cycles() - began);
	}
	return (float)((double)least * 1e6 / (double)rte_get_tsc_hz());
}

/* Keep b->size packets in flight for slice_us, or until that many are completed. A device that collects
 * packets completes none at first, and then many at once. Its measurement begins when it has completed
 * b->size packets, or with the first completion after slice_us, and ends with the last completion. */
static void keep_busy(struct bench *b, unsigned int slice_us)
{
	unsigned int most = b->size;
	uint64_t began = rte_get_tsc_cycles(), now = began, last = began, busy = 0, done = 0;
	double hz = (double)rte_get_tsc_hz();
	bool filling = !b->device->at_once;

	while ((now - began < us(slice_us) || done < most) && now - began < us(LOST_MS * 1000) &&
	       !b->failed) {
		unsigned int before = b->in_flight, n;
		uint64_t then;

		enqueue(b, MEASURE_BURST);
		n = dequeue(b);
		then = rte_get_tsc_cycles();
		busy += n || b->in_flight != before ? then - now : 0;
		now = then;
		done += n;
		last = n ? now : last;
		if (filling && n && (done >= most || now - began >= us(slice_us))) {
			filling = false;
			began = now;
			busy = done = 0;
		}
	}
	drain(b);
	b->gbps = b->cost_ns = 0;
	if (!done)
		return;
	b->gbps = (float)((double)(done * b->bytes * 8) / ((double)(last - began) / hz) / 1e9);
	b->cost_ns = (float)((double)busy / hz * 1e9 / (double)done);
}

/* CPU time of this thread, without the time of other processes on the core. */
static uint64_t own_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* The better of two measurements. One is enough if the device is far behind another, or if the
 * measurement took long. */
static void throughput(struct bench *b, unsigned int most, float fastest, float *gbps,
		       float *cost_ns)
{
	uint64_t began = own_us();

	make_packets(b, most);
	keep_busy(b, SLICE_US);
	*gbps = b->gbps;
	*cost_ns = b->cost_ns;
	if (*gbps * BEHIND < fastest || own_us() - began > LONG_US)
		return;
	keep_busy(b, SLICE_US);
	if (b->gbps > *gbps) {
		*gbps = b->gbps;
		*cost_ns = b->cost_ns;
	}
}

/* --- all workers --- */

static int run_shared(void *arg)
{
	struct bench *b = arg;

	make_packets(b, b->size);
	__atomic_fetch_add(&run.ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&run.ready, __ATOMIC_ACQUIRE) < run.workers)
		rte_pause();
	keep_busy(b, SHARED_US);
	return 0;
}

/* Limit the throughput of a worker to its share when all workers use the device at once. The workers
 * share the device's link, locks and memory. */
static void share(struct measured *m)
{
	const struct bench *first = run.bench[0];
	unsigned int step = measured_step(m), launched = 0;
	float gbps = 0;

	for (unsigned int w = 0; w < run.workers; w++) {
		struct bench *b = run.bench[w];

		b->device = first->device;
		b->session = first->session;
		b->crypto = first->crypto;
		b->bytes = first->bytes;
		b->failed = false;
		b->size = measured_in_flight[step];
	}
	run.ready = 0;
	for (; launched < run.workers; launched++)
		if (rte_eal_remote_launch(run_shared, run.bench[launched], launched + 1))
			break;
	/* Let the started workers continue without the others. */
	if (launched < run.workers)
		__atomic_store_n(&run.ready, run.workers, __ATOMIC_RELEASE);
	for (unsigned int w = 0; w < launched; w++) {
		while (rte_eal_get_lcore_state(w + 1) == RUNNING)
			rte_delay_us_sleep(100);
		rte_eal_wait_lcore(w + 1);
		gbps += run.bench[w]->gbps;
		run.bench[0]->failed |= run.bench[w]->failed;
	}
	gbps /= (float)RTE_MAX(launched, 1u);
	for (unsigned int i = 0; i < MEASURED_STEPS; i++)
		m->gbps[i] = RTE_MIN(m->gbps[i], gbps);
}

/* Whether more packets in flight need not be tried. Twice as many at most double the throughput, so a
 * device may be unable to reach half of the fastest one. A device also stays at its throughput if the
 * last increase gained little, or if it already takes all of the core's time. */
static bool is_at_its_end(const struct bench *b, const struct measured *m, unsigned int step,
			  float fastest)
{
	float fewer = step ? m->gbps[step - 1] : (float)(FEW * b->bytes * 8) / m->latency_us / 1000;

	return m->gbps[step] * MOST / measured_in_flight[step] < fastest / 2 ||
	       m->gbps[step] < fewer * GAIN ||
	       m->gbps[step] * m->cost_ns > (float)(b->bytes * 8) * FULL_LOAD;
}

static void measure_one(struct bench *b, struct measured *m, float *fastest)
{
	*m = (struct measured){0};
	m->latency_us = latency(b);
	for (unsigned int i = 0; i < MEASURED_STEPS && !b->failed; i++) {
		float cost;

		throughput(b, measured_in_flight[i], *fastest, &m->gbps[i], &cost);
		/* The cost is that at the highest throughput. */
		if (i == 0 || m->gbps[i] > m->gbps[i - 1])
			m->cost_ns = cost;
		*fastest = RTE_MAX(*fastest, m->gbps[i]);
		if (is_at_its_end(b, m, i, *fastest))
			break;
	}
	if (run.workers > 1 && !b->failed && measured_gbps(m) * BEHIND >= *fastest)
		share(m);
	if (b->failed)
		*m = (struct measured){0};
}

static bool late(void)
{
	return rte_get_tsc_cycles() > run.end;
}

static bool is_lost(void)
{
	for (unsigned int w = 0; w < run.workers; w++)
		if (run.bench[w]->in_flight)
			return true;
	return false;
}

/* All lengths of one algorithm on one device. */
static void measure_device(struct bench *b, unsigned int device, unsigned int algorithm,
			   float fastest[LENGTH_CLASSES])
{
	struct cygnet_sa sa;
	struct session s;
	void *crypto = NULL;

	make_sa(&sa, &algorithms[algorithm]);
	if (session_describe(&s, &sa))
		session_crypto(&sa, device, &crypto);
	explicit_bzero(&sa, sizeof(sa));
	b->device = &engine_device[device];
	b->session = &s;
	b->crypto = crypto;
	for (unsigned int l = 0; crypto && l < LENGTH_CLASSES && !b->failed && !late(); l++) {
		b->bytes = length_class_bytes[l];
		measure_one(b, &measured[device][algorithm][l], &fastest[l]);
	}
	if (b->failed) {
		log_warn("engine %s: %s failed while it was measured", b->device->engine,
			 b->device->name);
		b->failed = false;
		run.failed = true;
	}
	if (crypto && !is_lost())
		rte_cryptodev_sym_session_free(b->device->id, crypto);
}

/* A device that has not completed all packets is taken out: a worker would receive them later. */
static void measure_devices(struct bench *b)
{
	for (unsigned int a = measured_algorithms; a < algorithm_count && !late(); a++) {
		float fastest[LENGTH_CLASSES] = {0};

		for (unsigned int d = 0; d < engine_devices && !is_lost(); d++) {
			if (engine_lost(d)) /* it failed its self-test */
				continue;
			measure_device(b, d, a, fastest);
			if (is_lost())
				engine_take_out(d);
		}
		if (!late())
			measured_algorithms = a + 1;
	}
}

/* @return as measure_all() */
static int measure_within(unsigned int limit_ms)
{
	run.failed = false;
	run.end = rte_get_tsc_cycles() + us(limit_ms * 1000ull);
	measure_devices(run.bench[0]);
	if (measured_algorithms < algorithm_count)
		log_warn("engines measured with %u of %u algorithms within %u ms: the next start measures "
			 "the others; until then the first engine that supports them serves them",
			 measured_algorithms, algorithm_count, limit_ms);
	if (run.failed)
		return -EAGAIN;
	return measured_algorithms < algorithm_count ? -ETIME : 0;
}

int measure_all(struct rte_mempool *const *packets, unsigned int workers, unsigned int limit_ms)
{
	int err = -ENOMEM;

	if (measured_algorithms >= algorithm_count)
		measured_algorithms = 0;
	if (!measured_algorithms)
		memset(measured, 0, sizeof(measured));
	for (run.workers = 0; run.workers < workers; run.workers++) {
		run.bench[run.workers] = bench_new(run.workers, packets[run.workers]);
		if (!run.bench[run.workers])
			break;
	}
	if (run.workers == workers)
		err = measure_within(limit_ms);
	for (unsigned int w = 0; w < run.workers; w++)
		bench_free(run.bench[w]);
	return err;
}
