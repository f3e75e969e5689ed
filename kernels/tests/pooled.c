/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <stdio.h>

#include <rte_cycles.h>

#include "faults.h"
#include "pooled.h"
#include "rte_pmd_opencl.h"

#define MBUFS 600 /* few more than a round needs, so that the pool wraps within some runs */
#define PAIRS 4	  /* maximum number of session pairs of a run */
#define RUNS \
	3	     /* runs of similar packets, and as many of different packets, with the same
		      * sessions */
#define LONGEST 96   /* maximum number of packets */
#define RANGE	1024 /* bytes of lengths that count as one */
#define MARGIN	88   /* bytes from the ends for data authenticated beside the text */
#define COLUMN	104  /* offset of a packet in its buffer: room for a head and the longest AAD */
#define SPREAD	24   /* columns; more columns would not be similar */

static typeof(rte_pmd_opencl_pktmbuf_pool_create) *create;
static typeof(rte_pmd_opencl_pktmbuf_pool_free) *destroy;
static typeof(rte_pmd_opencl_keeps_packets) *keeps;

static struct {
	struct device dev;
	bool twins; /* mbufs have two buffers, and packets have heads */
	struct rte_mempool *pool, *plain;
	struct job job[JOBS];
	uint32_t made, sent, back;
} rig;

static void open_rig(const char *args)
{
	char all_args[512];

	create = (typeof(create))dlsym(RTLD_DEFAULT, "rte_pmd_opencl_pktmbuf_pool_create");
	destroy = (typeof(destroy))dlsym(RTLD_DEFAULT, "rte_pmd_opencl_pktmbuf_pool_free");
	keeps = (typeof(keeps))dlsym(RTLD_DEFAULT, "rte_pmd_opencl_keeps_packets");
	CHECK(create && destroy && keeps);
	/* A launch is a run, which is launched only by an empty burst. */
	snprintf(all_args, sizeof(all_args),
		 "%schunk=256,granularity=%u,wait_us=1000000,"
		 "timeout_ms=600000,launches=lcore",
		 args, RANGE);
	device_open(&rig.dev, all_args, 1);
	rig.twins = keeps(rig.dev.id);
	rig.pool = create(rig.dev.id, "pooled", MBUFS, 0, ROOM + RTE_PKTMBUF_HEADROOM,
			  SOCKET_ID_ANY);
	rig.plain = rte_pktmbuf_pool_create("odd", 15, 0, 0, ROOM + RTE_PKTMBUF_HEADROOM,
					    SOCKET_ID_ANY);
	CHECK(rig.pool && rig.plain);
}

static void close_rig(void)
{
	CHECK(destroy(rig.dev.id, rig.pool) == 0);
	CHECK(rte_mempool_full(rig.plain));
	rte_mempool_free(rig.plain);
	device_close(&rig.dev);
}

/* A queue pair that has had no packets unlike each other, and expects none. */
static void fresh_queue_pair(void)
{
	const struct rte_cryptodev_qp_conf conf = {.nb_descriptors = DESCRIPTORS};

	rte_cryptodev_stop(rig.dev.id);
	CHECK(rte_cryptodev_queue_pair_setup(rig.dev.id, 0, &conf, SOCKET_ID_ANY) == 0);
	CHECK(rte_cryptodev_start(rig.dev.id) == 0);
}

static void take_back(void)
{
	struct rte_crypto_op *ops[64];
	unsigned int n = rte_cryptodev_dequeue_burst(rig.dev.id, 0, ops, RTE_DIM(ops));

	if (n == 0)
		rte_delay_us_sleep(20);
	for (unsigned int i = 0; i < n; i++, rig.back++)
		job_finish(&rig.job[rig.back % JOBS], ops[i], rig.back);
}

static void send(void)
{
	while (rig.sent < rig.made) {
		struct rte_crypto_op *ops[64];
		uint32_t n = 1 + rnd_below(RTE_DIM(ops)), i;

		for (i = 0; i < n && rig.sent + i < rig.made; i++)
			ops[i] = rig.job[(rig.sent + i) % JOBS].op;
		n = rte_cryptodev_enqueue_burst(rig.dev.id, 0, ops, i);
		rig.sent += n;
		if (n < i)
			take_back();
	}
	CHECK(rte_cryptodev_enqueue_burst(rig.dev.id, 0, NULL, 0) == 0);
}

/* The common parameters of the packets of a run. */
struct run {
	struct pair *pairs;
	bool encrypt;
	uint32_t npairs, packets;
	uint32_t least;	 /* minimum length */
	uint32_t column; /* minimum column */
	uint32_t odd;	 /* index of the packet that differs; packets: none */
	bool scattered;	 /* some rows are left out, others are swapped */
};

static struct run make_run(struct pair *pairs, uint32_t npairs, bool alike)
{
	struct run run = {
		.pairs = pairs,
		.npairs = npairs,
		.encrypt = rnd_below(2),
		.packets = RTE_MIN(8 + rnd_below(LONGEST - 7), pairs->kind->todo),
		.least = RANGE * rnd_below(2),
		.column = COLUMN + rnd_below(SPREAD),
	};

	run.odd = run.packets;
	if (!alike) {
		run.scattered = rnd_below(2);
		if (!run.scattered || rnd_below(2))
			run.odd = rnd_below(run.packets);
	}
	return run;
}

/* In the order of their rows, or nearly so. */
static void take_mbufs(const struct run *run, struct rte_mbuf **m)
{
	for (uint32_t i = 0; i < run->packets; i++) {
		if (run->scattered && rnd_below(16) == 0)
			rte_pktmbuf_free(rte_pktmbuf_alloc(rig.pool)); /* leave a row out */
		m[i] = rte_pktmbuf_alloc(rig.pool);
		CHECK(m[i] != NULL);
	}
	for (uint32_t i = 0; run->scattered && i < run->packets; i += 1 + rnd_below(64)) {
		uint32_t other = rnd_below(run->packets);
		struct rte_mbuf *moved = m[i];

		m[i] = m[other];
		m[other] = moved;
	}
}

/* With another length, of no pool, or at another offset than the heads of the others. */
static void make_odd(struct job *job, const struct run *run, struct pair *pair, struct rte_mbuf *m)
{
	uint32_t least = run->least, which = rnd_below(3);

	m->data_off = run->column;
	if (which == 0)
		least = RANGE - least;
	if (which == 1) {
		rte_pktmbuf_free(m);
		m = rte_pktmbuf_alloc(rig.plain);
		CHECK(m != NULL);
	}
	if (which == 2)
		m->data_off = run->column / 2;
	job_make_in(job, pair, m, least + MARGIN + rnd_below(64), run->encrypt);
	job->packet_only = rig.twins && which != 1;
	job->may_be_plain = !rig.twins && which != 1;
}

static void make_jobs(const struct run *run)
{
	struct rte_mbuf *m[LONGEST];

	take_mbufs(run, m);
	for (uint32_t i = 0; i < run->packets; i++) {
		struct job *job = &rig.job[rig.made++ % JOBS];
		struct pair *pair = &run->pairs[rnd_below(run->npairs)];

		if (i == run->odd) {
			make_odd(job, run, pair, m[i]);
			continue;
		}
		m[i]->data_off = run->column + (i ? rnd_below(SPREAD) : 0);
		job_make_in(job, pair, m[i], run->least + MARGIN + rnd_below(RANGE - 2 * MARGIN),
			    run->encrypt);
		job->packet_only = rig.twins;
		job->may_be_plain = !rig.twins;
	}
}

/* If all packets have heads, the driver copies rectangles only. */
static void run_packets(struct pair *pairs, uint32_t npairs, bool alike)
{
	struct run run = make_run(pairs, npairs, alike);
	struct kind *kind = pairs->kind;

	make_jobs(&run);
	uploaded = rectangles = 0;
	send();
	if (rectangles && uploaded == 0)
		kind->heads += run.packets;
	CHECK(!alike || !rig.twins || (rectangles && uploaded == 0));
	kind->pooled += run.packets;
	kind->done += run.packets;
	kind->todo -= run.packets;
}

static void run_round(struct kind *kind)
{
	struct pair pairs[PAIRS];
	uint32_t npairs = 1 + rnd_below(PAIRS);

	for (uint32_t i = 0; i < npairs; i++)
		pair_open(&rig.dev, &pairs[i], kind, i ? &pairs[0].suite : NULL);
	fresh_queue_pair();
	for (unsigned int i = 0; i < 2 * RUNS && kind->todo; i++)
		run_packets(pairs, npairs, i < RUNS);
	while (rig.back < rig.made)
		take_back();
	for (uint32_t i = 0; i < npairs; i++)
		pair_close(&rig.dev, &pairs[i]);
}

void pooled_run(const char *args, struct kind *kinds, unsigned int n)
{
	open_rig(args);
	for (struct kind *kind = kinds; kind < kinds + n; kind++) {
		while (kind->todo)
			run_round(kind);
	}
	close_rig();
}
