/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DPDK has a device for this, crypto_scheduler's multi-core mode. Its rings to the cores have room
 * for one producer and are shared by all queue pairs: with two workers it loses operations. It
 * also has an operation for each packet cross to the other core and back, and knows no "CPU
 * crypto". Here what crosses is a batch. */
#include <errno.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_cryptodev.h>
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "base/log.h"
#include "base/nap.h"
#include "base/settings.h"
#include "crypto/core.h"
#include "crypto/device/op.h"
#include "crypto/device/sessions.h"
#include "crypto/failover.h"
#include "crypto/order.h"
#include "crypto/queue.h"
#include "crypto/sync_queue.h"

#define BATCHES	   4u /* of a worker, for each core: they never wait for one */
#define DATA_AHEAD 4u /* cache lines of each packet that are fetched before it is done */
_Static_assert(CRYPTO_CORE_BATCH <= CRYPTO_BATCH, "it fits");

static struct crypto_executor cores[CONF_MAX_CRYPTO_CORES];
/* Written by the core alone; atomic. */
static struct core_count {
	struct crypto_core_load load;
} __rte_cache_aligned counts[CONF_MAX_CRYPTO_CORES];
static unsigned int ncores;
static struct rte_ring *batches; /* from all workers to whichever core is free */
static struct rte_mempool *ops;
static bool ending, gcm_is_quick;

/* --- the worker's side --- */

static struct crypto_batch *batch_at(struct crypto_lane *lane, uint32_t position)
{
	return &lane->batch[position & (lane->size - 1)];
}

/* Whether the worker's own crypto takes less time than the transfer to a crypto core and back: with
 * VAES 1,024 B of AES-GCM take 60 ns, the transfer 90. It does not if the packet lies in another
 * core's cache, or has to wait for earlier packets of its SA. */
static bool is_quick(struct rte_mbuf *m, const struct session *s)
{
	return gcm_is_quick && s->gcm && !packet(m)->handed && !s->head;
}

static void send_batch(struct crypto_worker *c)
{
	struct crypto_lane *lane = &c->lane;
	struct crypto_batch *b = batch_at(lane, lane->filling);

	if (lane->filling - lane->oldest >= lane->size || !b->n)
		return;
	/* The ring has room for all batches that there are. */
	if (rte_ring_enqueue(batches, b) == 0)
		lane->filling++;
}

bool crypto_core_add(struct crypto_worker *c, struct rte_mbuf *m, struct session *s,
		     const struct cygnet_sa *sa, unsigned int device)
{
	struct crypto_lane *lane = &c->lane;
	struct crypto_batch *b;

	if (lane->filling - lane->oldest >= lane->size || !engine_device[device].at_once ||
	    s->by_queue || is_quick(m, s) ||
	    ((!s->crypto[device] || engine_lost(device)) && !session_on(s, sa, device)))
		return false;
	b = batch_at(lane, lane->filling);
	if (b->n == CRYPTO_CORE_BATCH)
		return false;
	b->job[b->n] = *crypto_job(c);
	crypto_batch_add(b, m, s, device);
	c->in_flight++;
	if (b->n == CRYPTO_CORE_BATCH)
		send_batch(c);
	return true;
}

/* The oldest batch, if a core has run it. */
static struct crypto_batch *oldest(struct crypto_lane *lane)
{
	struct crypto_batch *b;

	if (lane->filling == lane->oldest)
		return NULL;
	b = batch_at(lane, lane->oldest);
	/* Acquire: the core has written the packets before it set done. */
	return __atomic_load_n(&b->done, __ATOMIC_ACQUIRE) ? b : NULL;
}

/* Another core has had the packets. Headers, and an inner packet's trailer, are read or written now. */
static void fetch_done(const struct crypto_batch *b)
{
	for (unsigned int i = 0; i < b->n; i++) {
		char *data = rte_pktmbuf_mtod(b->m[i], char *);
		const struct esp_job *job = &b->job[i];

		rte_prefetch0_write(b->m[i]);
		rte_prefetch0_write(data);
		if (!b->s[i]->inbound)
			continue;
		rte_prefetch0_write(data + job->text_at);
		rte_prefetch0(data + job->text_at + job->text_len - 1);
	}
}

/* The next packets of an SA of which a core has failed one go by the worker's own queue. */
static void returned(struct crypto_worker *c, const struct crypto_batch *b, unsigned int i)
{
	enum rte_crypto_op_status status = crypto_vectors_status(&b->v, i);
	struct rte_mbuf *m = b->m[i];

	if (status == RTE_CRYPTO_OP_STATUS_SUCCESS) {
		crypto_count(c, b->device[i], b->s[i]->inbound, 1, rte_pktmbuf_data_len(m));
	} else if (status == RTE_CRYPTO_OP_STATUS_ERROR) {
		c->stats->device[b->device[i]].failed++;
		failover_shun(b->s[i], b->device[i]);
		if (queue_retry(c, m, &b->job[i], b->device[i]))
			return;
	}
	order_release(c, m, status);
}

bool crypto_core_poll(struct crypto_worker *c, struct crypto_poll *poll)
{
	struct crypto_batch *b;

	send_batch(c);
	b = oldest(&c->lane);
	if (!b)
		return false;
	c->in_flight -= b->n;
	c->stats->crypto_cores += b->n;
	poll->moved += b->n;
	fetch_done(b);
	for (unsigned int i = 0; i < b->n; i++)
		returned(c, b, i);
	crypto_batch_clear(b);
	b->done = false;
	c->lane.oldest++;
	return true;
}

/* --- the core's side --- */

/* The packets lie in the cache of the worker, or of the worker that has received them. */
static void fetch(const struct crypto_batch *b)
{
	for (unsigned int i = 0; i < b->n; i++)
		for (unsigned int line = 0; line < DATA_AHEAD; line++)
			rte_prefetch0((char *)b->v.range[i].base + line * RTE_CACHE_LINE_SIZE);
}

static void count(unsigned int core, uint64_t cycles)
{
	struct crypto_core_load *load = &counts[core].load;

	__atomic_store_n(&load->batches, load->batches + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&load->busy_cycles, load->busy_cycles + cycles, __ATOMIC_RELAXED);
}

bool crypto_core_load(unsigned int core, struct crypto_core_load *load)
{
	if (core >= ncores)
		return false;
	load->batches = __atomic_load_n(&counts[core].load.batches, __ATOMIC_RELAXED);
	load->busy_cycles = __atomic_load_n(&counts[core].load.busy_cycles, __ATOMIC_RELAXED);
	return true;
}

unsigned int crypto_core_turn(unsigned int core)
{
	struct crypto_batch *b;
	uint64_t begin;

	if (rte_ring_dequeue(batches, (void **)&b))
		return 0;
	begin = rte_rdtsc();
	fetch(b);
	crypto_execute(&cores[core], b);
	count(core, rte_rdtsc() - begin);
	/* After the status and the packets: the worker may have it all. */
	__atomic_store_n(&b->done, true, __ATOMIC_RELEASE);
	return 1;
}

int crypto_core_main(void *arg)
{
	unsigned int core = (unsigned int)(uintptr_t)arg, idle = 0;

	while (!__atomic_load_n(&ending, __ATOMIC_ACQUIRE)) {
		idle = crypto_core_turn(core) ? 0 : idle + 1;
		if (idle >= NAP_TURNS && (settings_now() & SETTING_IDLE_SLEEP))
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

int crypto_cores_init(const struct conf *conf)
{
	unsigned int n = conf->ncrypto_cores;
	uint32_t all = rte_align32pow2(BATCHES * n) * conf->workers;

	if (!n)
		return 0;
	ncores = n;
	ending = false;
	gcm_is_quick = has_vaes();
	/* A CPU may be shared: no core waits for one that is not running. */
	batches = rte_ring_create("crypto_batches", rte_align32pow2(all + 1), SOCKET_ID_ANY,
				  RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ);
	ops = rte_crypto_op_pool_create("crypto_core_ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC,
					n * CRYPTO_BATCH, 0, sizeof(struct esp_job), SOCKET_ID_ANY);
	if (!batches || !ops) {
		log_error("no memory for %u crypto cores", n);
		crypto_cores_free();
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < n; i++)
		cores[i] = (struct crypto_executor){(uint16_t)(conf->workers + i), ops, NULL};
	return 0;
}

int crypto_lane_init(struct crypto_worker *c)
{
	struct crypto_lane lane = {.size = rte_align32pow2(BATCHES * ncores)};

	if (!ncores)
		return 0;
	lane.batch = rte_zmalloc("batches", lane.size * sizeof(lane.batch[0]), RTE_CACHE_LINE_SIZE);
	if (!lane.batch)
		return -ENOMEM;
	c->lane = lane;
	return 0;
}

void crypto_lane_free(struct crypto_worker *c)
{
	if (c->lane.batch)
		explicit_bzero(c->lane.batch, c->lane.size * sizeof(c->lane.batch[0]));
	rte_free(c->lane.batch);
	c->lane = (struct crypto_lane){0};
}

void crypto_cores_begin(void)
{
	__atomic_store_n(&ending, false, __ATOMIC_RELEASE);
}

void crypto_cores_end(void)
{
	__atomic_store_n(&ending, true, __ATOMIC_RELEASE);
}

void crypto_cores_free(void)
{
	rte_ring_free(batches);
	rte_mempool_free(ops);
	batches = NULL;
	ops = NULL;
	ncores = 0;
}
