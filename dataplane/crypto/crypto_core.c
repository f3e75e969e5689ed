/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DPDK has a device for this, crypto_scheduler's multi-core mode. Its rings to the cores have room
 * for one producer and are shared by all queue pairs: with two workers it loses operations. It
 * also has an operation for each packet cross to the other core and back, and knows no "CPU
 * crypto". Here what crosses is a batch. */
#include <errno.h>

#include <rte_cpuflags.h>
#include <rte_cryptodev.h>
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "base/log.h"
#include "crypto/crypt_call.h"
#include "crypto/crypto_core.h"
#include "crypto/device/engine.h"
#include "crypto/device/op.h"
#include "crypto/device/sessions.h"
#include "path/pipeline.h"
#include "path/worker.h"

#define OPS 128u		/* of a core */
#define BATCHES 4u		/* of a worker, for each core: they never wait for one */
#define DATA_AHEAD 4u		/* cache lines of each packet that are fetched before it is done */

/* Behind the job of an operation: whose it is. */
struct owner {
	struct crypto_batch *batch;
	unsigned int i;
};

struct crypto_core {
	uint16_t queue;		/* pair of each device that works when it is called */
	unsigned int idle;	/* operations */
	uint32_t at[STATS_MAX_DEVICES];	/* operations at each device */
	struct rte_crypto_op *op[OPS];	/* the idle ones */
} __rte_cache_aligned;

static struct crypto_core cores[CONF_MAX_CRYPTO_CORES];
static unsigned int ncores;
static struct rte_ring *batches; /* from all workers to whoever is free */
static struct rte_mempool *ops;
static bool idle_sleep, ending, gcm_is_quick;

/* --- the worker's side --- */

static struct crypto_batch *batch_at(struct crypto_lane *lane, uint32_t position)
{
	return &lane->batch[position & (lane->size - 1)];
}

/* Whether the worker does a packet sooner than it hands it over: with VAES 1,024 B of AES-GCM take
 * 60 ns, and the way to another core and back 90. It does not if the packet lies in another core's
 * cache, or would have to wait for packets of its SA that are before it. */
static bool is_quick(struct rte_mbuf *m, const struct session *s)
{
	return gcm_is_quick && s->gcm && !packet(m)->handed && !s->head;
}

bool crypto_batch_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa,
		      unsigned int device)
{
	struct session *s = packet(m)->session;
	struct crypto_lane *lane = &w->lane;
	struct crypto_batch *b;

	if (lane->filling - lane->oldest >= lane->size || !engine_device[device].at_once ||
	    s->by_queue || is_quick(m, s) ||
	    ((!s->at[device] || engine_lost(device)) && !session_on(s, sa, device)))
		return false;
	b = batch_at(lane, lane->filling);
	if (b->n == CRYPTO_BATCH)
		return false;
	b->job[b->n] = *crypt_job(w);
	b->todo[b->n++] = (struct crypto_todo){
		.m = m,
		.data = rte_pktmbuf_mtod(m, uint8_t *),
		.crypto = s->at[device],
		.device = (uint8_t)device,
		.form = s->form,
		.alone = s->by_call && s->form == SUITE_AEAD,
	};
	w->in_flight++;
	if (b->n == CRYPTO_BATCH)
		crypto_batch_send(w);
	return true;
}

void crypto_batch_send(struct worker *w)
{
	struct crypto_lane *lane = &w->lane;
	struct crypto_batch *b = batch_at(lane, lane->filling);

	/* The ring has room for all that there are. */
	if (lane->filling - lane->oldest < lane->size && b->n &&
	    rte_ring_enqueue(batches, b) == 0)
		lane->filling++;
}

struct crypto_batch *crypto_batch_back(struct worker *w)
{
	struct crypto_lane *lane = &w->lane;
	struct crypto_batch *b;

	if (lane->filling == lane->oldest)
		return NULL;
	b = batch_at(lane, lane->oldest);
	/* What the core has written comes before this. */
	return __atomic_load_n(&b->done, __ATOMIC_ACQUIRE) ? b : NULL;
}

void crypto_batch_reuse(struct worker *w)
{
	struct crypto_batch *b = batch_at(&w->lane, w->lane.oldest++);

	b->n = 0;
	b->done = false;
}

/* --- the core's side --- */

static void done(struct crypto_batch *b, unsigned int i, unsigned int status)
{
	b->status[i] = (uint8_t)status;
	/* After the status and the packets: the worker may have it all. */
	if (--b->left == 0)
		__atomic_store_n(&b->done, true, __ATOMIC_RELEASE);
}

/* The packets lie in the worker's cache, or in that of whoever has received them. */
static void fetch(const struct crypto_batch *b)
{
	for (unsigned int i = 0; i < b->n; i++) {
		if (!b->todo[i].alone)
			rte_prefetch0(b->todo[i].m);
		for (unsigned int line = 0; line < DATA_AHEAD; line++)
			rte_prefetch0(b->todo[i].data + line * RTE_CACHE_LINE_SIZE);
	}
}

/* @param n  packets of one SA and device, of an AEAD: all that a call is given is text */
static void do_at_once(struct crypto_batch *b, unsigned int from, unsigned int n)
{
	const union rte_crypto_sym_ofs whole = {.raw = 0};
	const struct crypto_todo *todo = &b->todo[from];
	struct crypt_vectors v;

	for (unsigned int i = 0; i < n; i++) {
		struct esp_job *job = &b->job[from + i];

		crypt_vectors_set(&v, i, todo[i].data + job->text_at, job->text_len,
				  todo[i].data + job->icv_at, job->iv, job->aad);
	}
	crypt_call_device(todo->device, todo->crypto, whole, &v, 0, n);
	for (unsigned int i = 0; i < n; i++)
		done(b, from + i, crypt_vectors_status(&v, i));
}

static struct owner *owner(struct rte_crypto_op *op)
{
	return (struct owner *)(crypto_op_job(op) + 1);
}

static void finish(struct crypto_core *c, struct rte_crypto_op *op)
{
	const struct owner *o = owner(op);
	unsigned int status = op->status;

	/* The IV begins with the SA's salt. */
	memset(crypto_op_job(op), 0, sizeof(struct esp_job));
	c->op[c->idle++] = op;
	if (status != RTE_CRYPTO_OP_STATUS_SUCCESS && status != RTE_CRYPTO_OP_STATUS_AUTH_FAILED)
		status = RTE_CRYPTO_OP_STATUS_ERROR;
	done(o->batch, o->i, status);
}

/* By operations of the core's own, so that several packets are done side by side. */
static void enqueue(struct crypto_core *c, struct crypto_batch *b, unsigned int from,
		    unsigned int n)
{
	unsigned int device = b->todo[from].device;
	struct rte_crypto_op *op[CRYPTO_BATCH];
	uint16_t sent;

	for (unsigned int i = 0; i < n; i++) {
		const struct crypto_todo *todo = &b->todo[from + i];

		op[i] = c->op[--c->idle];
		op[i]->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
		*crypto_op_job(op[i]) = b->job[from + i];
		*owner(op[i]) = (struct owner){b, from + i};
		crypto_op_describe(op[i], todo->m, todo->form);
		rte_crypto_op_attach_sym_session(op[i], todo->crypto);
	}
	sent = rte_cryptodev_enqueue_burst(engine_device[device].id, c->queue, op, (uint16_t)n);
	c->at[device] += sent;
	for (unsigned int i = sent; i < n; i++)
		finish(c, op[i]);
}

/* @return how many packets from there on are done in the same way, and with the same session
 *	   if they are done at once */
static unsigned int run_length(const struct crypto_batch *b, unsigned int from)
{
	const struct crypto_todo *first = &b->todo[from];
	unsigned int n = 1;

	for (; from + n < b->n; n++) {
		const struct crypto_todo *next = &b->todo[from + n];

		if (next->device != first->device || next->alone != first->alone ||
		    (first->alone && next->crypto != first->crypto))
			break;
	}
	return n;
}

static void begin(struct crypto_core *c, struct crypto_batch *b)
{
	unsigned int all = b->n; /* once all are done it may be another batch already */

	fetch(b);
	b->left = all;
	for (unsigned int i = 0, n; i < all; i += n) {
		n = run_length(b, i);
		if (b->todo[i].alone)
			do_at_once(b, i, n);
		else
			enqueue(c, b, i, n);
	}
}

static unsigned int collect(struct crypto_core *c, unsigned int device)
{
	struct rte_crypto_op *op[CRYPTO_BATCH];
	uint16_t n = rte_cryptodev_dequeue_burst(engine_device[device].id, c->queue, op,
						 RTE_DIM(op));

	c->at[device] -= n;
	for (uint16_t i = 0; i < n; i++)
		finish(c, op[i]);
	return n;
}

unsigned int crypto_core_turn(unsigned int core)
{
	struct crypto_core *c = &cores[core];
	struct crypto_batch *b;
	unsigned int moved = 0;

	/* Before what is there is collected: the driver does as many side by side as it has. */
	if (c->idle >= CRYPTO_BATCH && rte_ring_dequeue(batches, (void **)&b) == 0) {
		moved = 1;
		begin(c, b);
	}
	for (unsigned int d = 0; d < engine_devices; d++)
		if (c->at[d])
			moved += collect(c, d);
	return moved;
}

int crypto_core_main(void *arg)
{
	unsigned int core = (unsigned int)(uintptr_t)arg, idle = 0;

	while (!__atomic_load_n(&ending, __ATOMIC_ACQUIRE)) {
		idle = crypto_core_turn(core) ? 0 : idle + 1;
		if (idle >= NAP_TURNS && idle_sleep)
			rte_delay_us_sleep(IDLE_NAP_US);
		else if (idle)
			rte_pause();
	}
	return 0;
}

/* --- from start to end --- */

static bool has_vaes(void)
{
#ifdef RTE_ARCH_X86
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_VAES) > 0;
#else
	return false;
#endif
}

static int init_core(struct crypto_core *c, unsigned int queue)
{
	*c = (struct crypto_core){.queue = (uint16_t)queue, .idle = OPS};
	return rte_crypto_op_bulk_alloc(ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, c->op, OPS) == OPS
		       ? 0 : -ENOMEM;
}

static int init_lane(struct crypto_lane *lane)
{
	*lane = (struct crypto_lane){.size = rte_align32pow2(BATCHES * ncores)};
	lane->batch = rte_zmalloc("batches", lane->size * sizeof(lane->batch[0]),
				  RTE_CACHE_LINE_SIZE);
	return lane->batch ? 0 : -ENOMEM;
}

int crypto_cores_init(const struct conf *conf)
{
	unsigned int n = conf->ncrypto_cores;
	uint32_t all = rte_align32pow2(BATCHES * n) * conf->workers;
	int err = 0;

	if (!n)
		return 0;
	ncores = n;
	ending = false;
	idle_sleep = conf->idle_sleep;
	gcm_is_quick = has_vaes();
	/* A CPU may be shared: nobody waits for one who is not running. */
	batches = rte_ring_create("crypto_batches", rte_align32pow2(all + 1), SOCKET_ID_ANY,
				  RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ);
	ops = rte_crypto_op_pool_create("crypto_core_ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC, n * OPS, 0,
					sizeof(struct esp_job) + sizeof(struct owner),
					SOCKET_ID_ANY);
	if (!batches || !ops)
		err = -ENOMEM;
	for (unsigned int i = 0; i < n && !err; i++)
		err = init_core(&cores[i], conf->workers + i);
	for (unsigned int i = 0; i < conf->workers && !err; i++)
		err = init_lane(&workers[i].lane);
	if (err) {
		log_error("no memory for %u crypto cores", n);
		crypto_cores_free();
	}
	return err;
}

void crypto_cores_end(void)
{
	__atomic_store_n(&ending, true, __ATOMIC_RELEASE);
}

void crypto_cores_free(void)
{
	for (unsigned int i = 0; i < CONF_MAX_WORKERS; i++) {
		struct crypto_lane *lane = &workers[i].lane;

		if (lane->batch)
			explicit_bzero(lane->batch, lane->size * sizeof(lane->batch[0]));
		rte_free(lane->batch);
		*lane = (struct crypto_lane){0};
	}
	rte_ring_free(batches);
	rte_mempool_free(ops);
	batches = NULL;
	ops = NULL;
	ncores = 0;
}
