/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "cost.h"
#include "lengths.h"
#include "mix.h"
#include "scheduler.h"

#define ROUNDS 30

static const uint32_t labels[] = {
	OCL_LABEL(OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA1, 0),
	OCL_LABEL(OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA1, OCL_DECRYPT | OCL_AUTH_FIRST),
	OCL_LABEL(OCL_CIPHER_AES_CBC, 0, 0),
	OCL_LABEL(OCL_CIPHER_AES_CBC, 0, OCL_DECRYPT),
	OCL_LABEL(0, OCL_AUTH_HMAC_SHA1, 0),
	OCL_LABEL(0, OCL_AUTH_HMAC_SHA1, OCL_DECRYPT),
};

static const char *const levels[] = {
	[OCL_SCHED_NONE] = "none",
	[OCL_SCHED_ALGORITHM] = "algorithm",
	[OCL_SCHED_LENGTH] = "length",
	[OCL_SCHED_ALL] = "all",
};

struct arrival {
	uint32_t kind, len;
};

struct mix {
	struct ocl_sched sched;
	struct lengths lengths;
	struct ocl_bins bins;
	struct arrival left[MIX_CHUNK]; /* had no room in the last launch */
	uint32_t nleft;
	uint64_t leftover;
	double us[ROUNDS], gbps[ROUNDS];
};

static struct ocl_record record_of(const struct arrival *a, uint32_t index)
{
	return (struct ocl_record){
		.session = a->kind,
		.result = index,
		.area = OCL_AREA_POOL,
		.base = index * PITCH,
		.cipher_off = 32,
		.cipher_len = a->len,
		.auth_off = 8,
		.auth_len = a->len + 24,
		.digest_area = OCL_AREA_POOL,
		.digest_off = index * PITCH + 32 + a->len,
	};
}

/* The packets of a launch: leftover ones first, then new ones. Returns the bytes. */
static uint64_t fill(struct mix *m, struct ocl_record *records)
{
	uint32_t waiting = m->nleft, n = 0;
	uint64_t bytes = 0;

	m->nleft = 0;
	for (uint32_t i = 0; n + m->nleft < m->sched.chunk; i++) {
		struct arrival a = {.kind = random() % RTE_DIM(labels)};
		int bin;

		if (i < waiting)
			a = m->left[i];
		else
			a.len = lengths_draw(&m->lengths, random());
		bin = ocl_bins_find(&m->bins, labels[a.kind], a.len);
		if (bin < 0) {
			m->left[m->nleft++] = a;
			continue;
		}
		ocl_bins_put(&m->bins, bin, a.len, n * sizeof(*records));
		records[n] = record_of(&a, n);
		bytes += a.len;
		n++;
	}
	m->leftover += m->nleft;
	return bytes;
}

static void launches(struct bench *b, struct mix *m)
{
	size_t records = m->sched.chunk * sizeof(struct ocl_record);
	size_t results = m->sched.chunk * sizeof(u32);
	size_t bytes = records + results + m->sched.bins * m->sched.bin_size * sizeof(u32);
	u8 *chunk = calloc(1, bytes);

	b->chunk = bench_buffer(b, bytes, chunk);
	b->results = records;
	b->order = records + results;
	bench_arguments(b);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t filled = fill(m, (struct ocl_record *)chunk);
		uint32_t items;

		items = ocl_bins_order(&m->bins, (u32 *)(chunk + b->order));
		check(clEnqueueWriteBuffer(b->queue, b->chunk, CL_TRUE, 0, bytes, chunk, 0, NULL,
					   NULL),
		      "write");
		m->us[i] = bench_launch(b, items);
		m->gbps[i] = filled * 8 / m->us[i] / 1e3;
		ocl_bins_reset(&m->bins);
	}
	clReleaseMemObject(b->chunk);
	free(chunk);
}

static void make_sessions(struct bench *b)
{
	struct ocl_session s[RTE_DIM(labels)] = {0};

	for (unsigned int i = 0; i < RTE_DIM(labels); i++)
		s[i] = (struct ocl_session){.label = labels[i], .rounds = 10, .digest_len = 12};
	b->sessions = bench_buffer(b, sizeof(s), s);
}

static int parse(struct mix *m, const char *spec, char *size)
{
	unsigned int chunk, bins, granularity, level = 0;
	char name[16];

	if (sscanf(spec, "%u,%u,%u,%15[^,],%15s", &chunk, &bins, &granularity, name, size) != 5)
		return -EINVAL;
	while (level < RTE_DIM(levels) && strcmp(name, levels[level]) != 0)
		level++;
	if (level == RTE_DIM(levels) || chunk == 0 || chunk > MIX_CHUNK || bins == 0 ||
	    chunk % bins || granularity < LENGTH_BLOCK)
		return -EINVAL;
	m->sched = (struct ocl_sched){
		.chunk = chunk,
		.bins = bins,
		.bin_size = chunk / bins,
		.granularity = granularity,
		.lanes = 1,
		.items = chunk,
		.level = level,
	};
	return lengths_find(&m->lengths, size);
}

/* Of the median launch: what else a machine does meets some of them. */
static void report(struct mix *m, const char *size)
{
	printf("mix %-6s chunk=%u bins=%u granularity=%u sched=%-9s %8.1f us a launch %8.2f Gbps, "
	       "%4.1f%% left over\n",
	       size, m->sched.chunk, m->sched.bins, m->sched.granularity, levels[m->sched.level],
	       bench_median(m->us, ROUNDS), bench_median(m->gbps, ROUNDS),
	       100.0 * m->leftover / ROUNDS / m->sched.chunk);
	fflush(stdout);
}

/* Bins are work-groups: the kernel is built for their size, and their cost is measured then. */
static int prepare(struct bench *b, struct ocl_sched *sched)
{
	static struct ocl_cost cost[OCL_KINDS];

	if (sched->bin_size > b->dev.max_group)
		return -EINVAL;
	if (b->group != sched->bin_size) {
		if (bench_build(b, sched->bin_size))
			return -EINVAL;
		if (ocl_cost_measure(sched, &b->dev, ocl_memory_choose(&b->dev, "auto"))) {
			/* It is the kernel that cannot have such work-groups. */
			b->dev.lost = false;
			return -EINVAL;
		}
		memcpy(cost, sched->cost, sizeof(cost));
	}
	memcpy(sched->cost, cost, sizeof(cost));
	return 0;
}

int mix_run(struct bench *b, const char *spec)
{
	struct mix *m = calloc(1, sizeof(*m));
	char size[16];
	int ret = parse(m, spec, size);

	if (ret || (ret = prepare(b, &m->sched)))
		goto out;
	if (ocl_bins_init(&m->bins, &m->sched))
		exit(1);
	srandom(1);
	make_sessions(b);
	launches(b, m);
	report(m, size);
	clReleaseMemObject(b->sessions);
	ocl_bins_free(&m->bins);
out:
	free(m);
	return ret;
}
