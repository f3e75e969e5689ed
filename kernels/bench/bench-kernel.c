/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of the kernel alone: packets lie in the device's memory and stay there.
 *
 *   bench-kernel [-d DEVICE] [-n PACKETS] [-g GROUP] [-l LENGTH]
 *
 * One line for each algorithm: best and median of 20 launches by the device's
 * own clock. Then the first one in parts, each in a queue of its own, by the
 * host's clock: do kernels of different queues overlap? Then PIPSEA's figure 9,
 * the six algorithms in random order through the scheduler's four levels:
 * launches of 4,096 packets, 64 bins, ranges of 256 bytes.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_common.h>

#include "cost.h"
#include "device.h"
#include "inc_types.h"
#include "memory.h"
#include "scheduler.h"

#define LAUNCHES 20
#define PITCH	 2304
#define MAX_PARTS 16

static struct {
	const char *device;
	uint32_t packets, group, len;
} options = {.device = "", .packets = 16384, .group = 32, .len = 1024};

struct bench {
	struct ocl_device dev;
	cl_command_queue queue;
	cl_kernel kernel;
	cl_mem chunk, pool, sessions;
	uint32_t order, results;
};

static void check(cl_int err, const char *what)
{
	if (err == CL_SUCCESS)
		return;
	fprintf(stderr, "bench-kernel: %s: OpenCL error %d\n", what, err);
	exit(1);
}

static cl_mem buffer(struct bench *b, size_t bytes, void *init)
{
	cl_int err;
	cl_mem mem = clCreateBuffer(b->dev.context,
				    CL_MEM_READ_WRITE | (init ? CL_MEM_COPY_HOST_PTR : 0), bytes,
				    init, &err);

	check(err, "buffer");
	return mem;
}

/* Records without packets behind them, then order and results. */
static void make_chunk(struct bench *b, uint32_t label)
{
	uint32_t n = options.packets;
	size_t bytes = n * (sizeof(struct ocl_record) + 2 * sizeof(u32));
	struct ocl_record *r = calloc(1, bytes);
	u32 *order = (u32 *)(r + n);

	b->order = n * sizeof(*r);
	b->results = b->order + n * sizeof(u32);
	for (uint32_t i = 0; i < n; i++) {
		bool aead = ocl_is_aead(OCL_LABEL_CIPHER(label));

		r[i] = (struct ocl_record){
			.session = i % 64,
			.result = i,
			.area = OCL_AREA_POOL,
			.base = i * PITCH,
			.cipher_off = 32,
			.cipher_len = options.len,
			.auth_off = aead ? i * sizeof(*r) : 8,
			.auth_len = aead ? 8 : options.len + 24,
			.digest_area = OCL_AREA_POOL,
			.digest_off = i * PITCH + 32 + options.len,
		};
		order[i] = i * sizeof(*r);
	}
	b->chunk = buffer(b, bytes, r);
	free(r);
}

static void make_sessions(struct bench *b, uint32_t label)
{
	struct ocl_session *s = calloc(64, sizeof(*s));

	for (int i = 0; i < 64; i++) {
		s[i].label = label;
		s[i].rounds = 10;
		s[i].digest_len = 12;
		for (unsigned int j = 0; j < OCL_ROUND_KEYS; j++)
			s[i].round_key[j] = rand();
	}
	b->sessions = buffer(b, 64 * sizeof(*s), s);
	free(s);
}

static void set_arguments(struct bench *b)
{
	static const cl_mem none;

	check(clSetKernelArg(b->kernel, 0, sizeof(b->chunk), &b->chunk), "argument");
	check(clSetKernelArg(b->kernel, 1, sizeof(b->order), &b->order), "argument");
	check(clSetKernelArg(b->kernel, 2, sizeof(b->results), &b->results), "argument");
	check(clSetKernelArg(b->kernel, 3, sizeof(b->sessions), &b->sessions), "argument");
	for (int i = 0; i < OCL_POOLS; i++)
		check(clSetKernelArg(b->kernel, 4 + i, sizeof(cl_mem), i ? &none : &b->pool),
		      "argument");
}

static double launch(struct bench *b)
{
	size_t local = options.group, global = options.packets;
	cl_ulong start, end;
	cl_event event;

	check(clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &global, &local, 0, NULL, &event),
	      "launch");
	check(clWaitForEvents(1, &event), "wait");
	check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start), &start, NULL),
	      "time");
	check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL),
	      "time");
	clReleaseEvent(event);
	return (end - start) / 1e3;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void run(struct bench *b, const char *name, uint32_t label)
{
	double us[LAUNCHES], bits = 8.0 * options.packets * options.len;

	make_chunk(b, label);
	make_sessions(b, label);
	set_arguments(b);
	launch(b);
	for (int i = 0; i < LAUNCHES; i++)
		us[i] = launch(b);
	qsort(us, LAUNCHES, sizeof(*us), by_time);
	printf("%-24s %6u x %4u bytes, group %u: best %8.1f us %8.1f Gbps, median %8.1f us %8.1f Gbps\n",
	       name, options.packets, options.len, options.group, us[0], bits / us[0] / 1e3,
	       us[LAUNCHES / 2], bits / us[LAUNCHES / 2] / 1e3);
	fflush(stdout);
	clReleaseMemObject(b->chunk);
	clReleaseMemObject(b->sessions);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* The same packets in parts, all under way at once. */
static double launch_parts(struct bench *b, cl_command_queue *queues, uint32_t parts)
{
	size_t local = options.group, global = options.packets / parts;
	double start = now();

	for (uint32_t i = 0; i < parts; i++) {
		uint32_t order = b->order + i * global * sizeof(u32);

		check(clSetKernelArg(b->kernel, 1, sizeof(order), &order), "argument");
		check(clEnqueueNDRangeKernel(queues[i], b->kernel, 1, NULL, &global, &local, 0, NULL,
					     NULL),
		      "launch");
		check(clFlush(queues[i]), "flush");
	}
	for (uint32_t i = 0; i < parts; i++)
		check(clFinish(queues[i]), "finish");
	return now() - start;
}

static void run_parts(struct bench *b, uint32_t label)
{
	cl_command_queue queues[MAX_PARTS];
	cl_int err;

	make_chunk(b, label);
	make_sessions(b, label);
	set_arguments(b);
	for (uint32_t i = 0; i < MAX_PARTS; i++) {
		queues[i] = clCreateCommandQueue(b->dev.context, b->dev.id, 0, &err);
		check(err, "queue");
	}
	for (uint32_t parts = 1; parts <= MAX_PARTS; parts *= 2) {
		double best = launch_parts(b, queues, parts);

		for (int i = 0; i < LAUNCHES; i++) {
			double us = launch_parts(b, queues, parts);

			best = RTE_MIN(best, us);
		}
		printf("%2u launches of %u, each in its queue: %.1f us\n", parts,
		       options.packets / parts, best);
	}
}

#define MIX_CHUNK  4096
#define MIX_BINS   64
#define MIX_ROUNDS 30

static const uint32_t mix[] = {
	OCL_LABEL(OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA1, 0),
	OCL_LABEL(OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA1, OCL_DECRYPT | OCL_AUTH_FIRST),
	OCL_LABEL(OCL_CIPHER_AES_CBC, 0, 0),
	OCL_LABEL(OCL_CIPHER_AES_CBC, 0, OCL_DECRYPT),
	OCL_LABEL(0, OCL_AUTH_HMAC_SHA1, 0),
	OCL_LABEL(0, OCL_AUTH_HMAC_SHA1, OCL_DECRYPT),
};

struct arrival {
	uint32_t kind, len;
};

static struct arrival arrive(bool imix)
{
	uint32_t x = random() % 10000;
	struct arrival a = {.kind = random() % RTE_DIM(mix)};

	if (imix)
		a.len = x < 6122 ? 64 : x < 6122 + 2347 ? 544 : 1360;
	else
		a.len = RTE_ALIGN_FLOOR(64 + random() % 1217, 16);
	return a;
}

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

/* A launch's packets: those left over first, then new ones. Returns the bytes in bins. */
static uint64_t fill_round(struct ocl_bins *bins, struct ocl_record *records, bool imix,
			   struct arrival *left, uint32_t *nleft)
{
	uint32_t waiting = *nleft, n = 0;
	uint64_t bytes = 0;

	*nleft = 0;
	for (uint32_t i = 0; n + *nleft < MIX_CHUNK; i++) {
		struct arrival a = i < waiting ? left[i] : arrive(imix);
		int bin = ocl_bins_find(bins, mix[a.kind], a.len);

		if (bin < 0) {
			left[(*nleft)++] = a;
			continue;
		}
		ocl_bins_put(bins, bin, a.len, n * sizeof(*records));
		records[n] = record_of(&a, n);
		bytes += a.len;
		n++;
	}
	return bytes;
}

static void run_mix(struct bench *b, struct ocl_sched *sched, bool imix, const char *level)
{
	size_t items = sched->bins * sched->bin_size;
	size_t bytes = MIX_CHUNK * (sizeof(struct ocl_record) + sizeof(u32)) + items * sizeof(u32);
	struct ocl_record *records = calloc(1, bytes);
	static struct arrival left[MIX_CHUNK];
	uint64_t total = 0, leftover = 0;
	struct ocl_bins bins;
	uint32_t nleft = 0;
	double us = 0;

	srandom(1);
	if (ocl_bins_init(&bins, sched))
		exit(1);
	b->chunk = buffer(b, bytes, records);
	b->results = MIX_CHUNK * sizeof(*records);
	b->order = b->results + MIX_CHUNK * sizeof(u32);
	set_arguments(b);
	for (int i = 0; i < MIX_ROUNDS; i++) {
		total += fill_round(&bins, records, imix, left, &nleft);
		leftover += nleft;
		options.packets = ocl_bins_order(&bins, (u32 *)((u8 *)records + b->order));
		check(clEnqueueWriteBuffer(b->queue, b->chunk, CL_TRUE, 0, bytes, records, 0, NULL,
					   NULL),
		      "write");
		us += launch(b);
		ocl_bins_reset(&bins);
	}
	printf("mix %-6s sched=%-9s %8.1f us a launch %8.1f Gbps, %4.1f%% left over\n",
	       imix ? "imix" : "random", level, us / MIX_ROUNDS, total * 8 / us / 1e3,
	       100.0 * leftover / MIX_ROUNDS / MIX_CHUNK);
	fflush(stdout);
	clReleaseMemObject(b->chunk);
	ocl_bins_free(&bins);
	free(records);
}

/* A kernel of its own: bins are work-groups. */
static void run_figure9(struct bench *b)
{
	static const char *const levels[] = {"none", "algorithm", "length", "all"};
	struct ocl_sched sched = {
		.chunk = MIX_CHUNK,
		.bins = MIX_BINS,
		.bin_size = MIX_CHUNK / MIX_BINS,
		.granularity = 256,
		.level = OCL_SCHED_ALL,
	};
	struct ocl_session *s = calloc(RTE_DIM(mix), sizeof(*s));
	cl_int err;

	options.group = sched.bin_size;
	if (ocl_device_build(&b->dev, options.group) ||
	    ocl_cost_measure(&sched, &b->dev, ocl_memory_choose(&b->dev, "auto")))
		exit(1);
	b->kernel = clCreateKernel(b->dev.program, "crypto_opencl", &err);
	check(err, "kernel");
	for (unsigned int i = 0; i < RTE_DIM(mix); i++)
		s[i] = (struct ocl_session){.label = mix[i], .rounds = 10, .digest_len = 12};
	b->sessions = buffer(b, RTE_DIM(mix) * sizeof(*s), s);
	for (int imix = 0; imix < 2; imix++) {
		for (int level = OCL_SCHED_NONE; level <= OCL_SCHED_ALL; level++) {
			sched.level = level;
			run_mix(b, &sched, imix, levels[level]);
		}
	}
	free(s);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint32_t label;
	} algorithms[] = {
		{"AES-CBC+HMAC-SHA1 encrypt", OCL_LABEL(OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA1, 0)},
		{"AES-CBC encrypt", OCL_LABEL(OCL_CIPHER_AES_CBC, 0, 0)},
		{"AES-CBC decrypt", OCL_LABEL(OCL_CIPHER_AES_CBC, 0, OCL_DECRYPT)},
		{"HMAC-SHA1", OCL_LABEL(0, OCL_AUTH_HMAC_SHA1, 0)},
		{"HMAC-SHA2-256", OCL_LABEL(0, OCL_AUTH_HMAC_SHA256, 0)},
		{"HMAC-SHA2-512", OCL_LABEL(0, OCL_AUTH_HMAC_SHA512, 0)},
		{"AES-CTR", OCL_LABEL(OCL_CIPHER_AES_CTR, 0, 0)},
		{"AES-GCM encrypt", OCL_LABEL(OCL_CIPHER_AES_GCM, 0, 0)},
	};
	struct bench b = {0};
	cl_int err;
	int option;

	while ((option = getopt(argc, argv, "d:n:g:l:")) != -1) {
		switch (option) {
		case 'd': options.device = optarg; break;
		case 'n': options.packets = atoi(optarg); break;
		case 'g': options.group = atoi(optarg); break;
		case 'l': options.len = atoi(optarg); break;
		default: return 2;
		}
	}
	options.packets = RTE_ALIGN_MUL_CEIL(options.packets, options.group);
	if (ocl_device_open(&b.dev, options.device) || ocl_device_build(&b.dev, options.group))
		return 1;
	printf("%s\n", b.dev.name);
	b.queue = clCreateCommandQueue(b.dev.context, b.dev.id, CL_QUEUE_PROFILING_ENABLE, &err);
	check(err, "queue");
	b.kernel = clCreateKernel(b.dev.program, "crypto_opencl", &err);
	check(err, "kernel");
	b.pool = buffer(&b, (size_t)RTE_MAX(options.packets, 4096u) * PITCH, NULL);
	for (unsigned int i = 0; i < RTE_DIM(algorithms); i++)
		run(&b, algorithms[i].name, algorithms[i].label);
	run_parts(&b, algorithms[0].label);
	run_figure9(&b);
	return 0;
}
