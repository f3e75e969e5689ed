/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "crypto_op.h"
#include "engine.h"
#include "esp_common.h"
#include "log.h"
#include "measure.h"
#include "offload.h"

#define MOST MEASURE_PACKETS /* in flight, the last of offload_step[] */
#define BURST 32u
#define FEW 4u		    /* packets of a burst at light load */
#define REPEATS 3u
#define SLICE_US 1000u	    /* for each number of packets in flight, twice */
#define TOTAL_MS 4000u	    /* for all */
#define BEHIND 4	    /* times slower than another: not worth a second look */
#define LOST_MS 2000u	    /* after which a device is given up that gives nothing back */

struct bench {
	struct rte_mempool *ops;
	struct rte_crypto_op *op[MOST];
	unsigned int idle;	/* those in op[] */
	unsigned int in_flight;
	bool failed;		/* an operation came back with an error, or not at all */
	uint8_t id;		/* of the cryptodev */
	unsigned int bytes;	/* of a packet */
	uint64_t end;		/* TSC: when measuring has to stop */
};

static uint64_t us(uint64_t n)
{
	return n * rte_get_tsc_hz() / 1000000;
}

/* --- operations --- */

static void bench_free(struct bench *b)
{
	while (b->idle) {
		struct rte_crypto_op *op = b->op[--b->idle];

		rte_pktmbuf_free(op->sym->m_src);
		rte_crypto_op_free(op);
	}
	/* Those that a device never gave back are still in it. */
	if (!b->in_flight)
		rte_mempool_free(b->ops);
}

static int bench_init(struct bench *b, struct rte_mempool *packets)
{
	*b = (struct bench){0};
	b->ops = rte_crypto_op_pool_create("measure", RTE_CRYPTO_OP_TYPE_SYMMETRIC, MOST, 0,
					   sizeof(struct esp_job), SOCKET_ID_ANY);
	if (!b->ops)
		return -ENOMEM;
	for (; b->idle < MOST; b->idle++) {
		struct rte_crypto_op *op = rte_crypto_op_alloc(b->ops,
							       RTE_CRYPTO_OP_TYPE_SYMMETRIC);
		struct rte_mbuf *m = op ? rte_pktmbuf_alloc(packets) : NULL;

		if (!m) {
			rte_crypto_op_free(op);
			bench_free(b);
			return -ENOMEM;
		}
		op->sym->m_src = m;
		b->op[b->idle] = op;
		memset(crypto_op_job(op), 0, sizeof(struct esp_job));
	}
	return 0;
}

/* An SA that nobody has, with a key that nobody knows. */
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

static void make_packets(struct bench *b, const struct session *s, unsigned int bytes, void *crypto)
{
	unsigned int header = sizeof(struct rte_esp_hdr) + s->iv_len;
	unsigned int text = bytes / s->align * s->align;

	b->bytes = bytes;
	for (unsigned int i = 0; i < b->idle; i++) {
		struct rte_mbuf *m = b->op[i]->sym->m_src;

		rte_pktmbuf_reset(m);
		rte_pktmbuf_append(m, (uint16_t)(header + text + s->icv_len));
		rte_crypto_op_attach_sym_session(b->op[i], crypto);
		esp_describe(s, crypto_op_job(b->op[i]), 0, text, false, header + text);
		crypto_op_describe(b->op[i], m, s->form);
	}
}

static void enqueue(struct bench *b, unsigned int n)
{
	uint16_t sent;

	n = RTE_MIN(n, b->idle);
	for (unsigned int i = b->idle - n; i < b->idle; i++)
		b->op[i]->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	sent = rte_cryptodev_enqueue_burst(b->id, 0, &b->op[b->idle - n], (uint16_t)n);
	/* The first of them have gone: the others close the gap. */
	memmove(&b->op[b->idle - n], &b->op[b->idle - n + sent], (n - sent) * sizeof(b->op[0]));
	b->idle -= sent;
	b->in_flight += sent;
}

static unsigned int dequeue(struct bench *b)
{
	uint16_t n = rte_cryptodev_dequeue_burst(b->id, 0, &b->op[b->idle], BURST);

	for (uint16_t i = 0; i < n; i++)
		b->failed |= b->op[b->idle + i]->status != RTE_CRYPTO_OP_STATUS_SUCCESS;
	b->idle += n;
	b->in_flight -= n;
	return n;
}

/* Take back all. Empty bursts flush, as the worker's do. */
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

/* --- what is measured --- */

/* The soonest of a few times: what else runs on this core is not the device's fault,
 * nor is what is set up at the first time. */
static float latency(struct bench *b)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i <= REPEATS && !b->failed; i++) {
		uint64_t began = rte_get_tsc_cycles();

		enqueue(b, FEW);
		drain(b);
		least = RTE_MIN(least, rte_get_tsc_cycles() - began);
	}
	return (float)((double)least * 1e6 / (double)rte_get_tsc_hz());
}

/* Keep most packets in flight for a slice of time; what takes longer is measured
 * once. */
static void keep_busy(struct bench *b, unsigned int most, float *gbps, float *cost_ns)
{
	uint64_t began = rte_get_tsc_cycles(), now = began, busy = 0, done = 0;
	double hz = (double)rte_get_tsc_hz();

	while ((now - began < us(SLICE_US) || done < most) && now - began < us(LOST_MS * 1000) &&
	       !b->failed) {
		unsigned int before = b->in_flight, n;
		uint64_t then;

		enqueue(b, RTE_MIN(most - before, BURST));
		n = dequeue(b);
		then = rte_get_tsc_cycles();
		busy += n || b->in_flight != before ? then - now : 0;
		now = then;
		done += n;
	}
	drain(b);
	*gbps = (float)((double)(done * b->bytes * 8) / ((double)(now - began) / hz) / 1e9);
	*cost_ns = done ? (float)((double)busy / hz * 1e9 / (double)done) : 0;
}

/* The better of two. */
static void throughput(struct bench *b, unsigned int most, float fastest, float *gbps,
		       float *cost_ns)
{
	float other_gbps, other_cost;

	keep_busy(b, most, gbps, cost_ns);
	if (*gbps * BEHIND < fastest)
		return;
	keep_busy(b, most, &other_gbps, &other_cost);
	if (other_gbps > *gbps) {
		*gbps = other_gbps;
		*cost_ns = other_cost;
	}
}

/* Twice as many packets in flight are twice as fast at the most: what cannot reach the
 * half of another device so need not be tried. */
static bool hopeless(const struct measured *m, unsigned int step, float fastest)
{
	return m->gbps[step] * MOST / offload_step[step] < fastest / 2;
}

static void measure_one(struct bench *b, struct measured *m, float *fastest)
{
	*m = (struct measured){0};
	m->latency_us = latency(b);
	for (unsigned int i = 0; i < OFFLOAD_STEPS && !b->failed; i++) {
		float cost;

		throughput(b, offload_step[i], *fastest, &m->gbps[i], &cost);
		/* The core's time counts where the device is fastest. */
		if (i == 0 || m->gbps[i] > m->gbps[i - 1])
			m->cost_ns = cost;
		*fastest = RTE_MAX(*fastest, m->gbps[i]);
		if (hopeless(m, i, *fastest))
			break;
	}
	if (b->failed)
		*m = (struct measured){0};
}

static bool late(const struct bench *b)
{
	return rte_get_tsc_cycles() > b->end;
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
	b->id = engine_device[device].id;
	for (unsigned int l = 0; crypto && l < LENGTH_CLASSES && !b->failed && !late(b); l++) {
		make_packets(b, &s, length_class_bytes[l], crypto);
		measure_one(b, &measured[device][algorithm][l], &fastest[l]);
	}
	if (b->failed) {
		log_warn("engine %s: %s failed while it was measured", engine_device[device].engine,
			 engine_device[device].name);
		b->failed = false;
	}
	if (crypto && !b->in_flight)
		rte_cryptodev_sym_session_free(b->id, crypto);
}

/* A device that has kept packets is not asked again, nor used: a worker would get them back. */
static void measure_devices(struct bench *b)
{
	for (unsigned int a = 0; a < algorithm_count && !late(b); a++) {
		float fastest[LENGTH_CLASSES] = {0};

		for (unsigned int d = 0; d < engine_devices && !b->in_flight; d++) {
			measure_device(b, d, a, fastest);
			if (b->in_flight)
				engine_take_out(d);
		}
	}
}

int measure_all(struct rte_mempool *packets)
{
	struct bench *b = rte_malloc("measure", sizeof(*b), 0);
	int err = b ? bench_init(b, packets) : -ENOMEM;

	memset(measured, 0, sizeof(measured));
	if (err)
		goto out;
	b->end = rte_get_tsc_cycles() + us(TOTAL_MS * 1000ull);
	measure_devices(b);
	if (late(b))
		log_warn("not all engines are measured within %u s: for the rest the first that "
			 "serves it is taken, until the file with it is deleted", TOTAL_MS / 1000);
	bench_free(b);
out:
	rte_free(b);
	return err;
}
