/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of the kernel alone: packets lie in the device's memory and stay there.
 *
 *   bench-kernel [-d DEVICE] [-n PACKETS] [-g GROUP] [-l LENGTH[,LENGTH...]] [-L LANES] [WHAT...]
 *
 * WHAT is one or more of
 *   algorithms  one line for each algorithm and length: best and median of 20 launches
 *	         by the device's own clock
 *   parts       the first algorithm in parts, each in a queue of its own, by the host's clock:
 *	         do kernels of different queues overlap?
 *   CHUNK,BINS,GRANULARITY,LEVEL,LENGTHS
 *	         PIPSEA's six algorithms in random order through the scheduler: mix.h
 * With LANES: those algorithms whose packets so many work-items can share. Without either: all
 * algorithms, parts, and the paper's figure 9 (launches of 4,096 packets, 64 bins, ranges of 256
 * bytes, all four levels).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_common.h>

#include "launch.h"
#include "mix.h"

#define MAX_PARTS 16

static struct {
	const char *device, *lengths;
	uint32_t packets, group, len, lanes;
} options = {.device = "", .packets = 16384, .group = 32, .lengths = "1024", .lanes = 1};

/* Records without packets behind them, then order and results. */
static void make_chunk(struct bench *b, uint32_t label)
{
	uint32_t n = options.packets, lanes = options.lanes;
	size_t bytes = n * (sizeof(struct ocl_record) + (lanes + 1) * sizeof(u32));
	struct ocl_record *r = calloc(1, bytes);
	u32 *order = (u32 *)(r + n);

	b->order = n * sizeof(*r);
	b->results = b->order + n * lanes * sizeof(u32);
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
		for (uint32_t lane = 0; lane < lanes; lane++)
			order[i * lanes + lane] = OCL_ENTRY(i * sizeof(*r), lane, lanes);
	}
	b->chunk = bench_buffer(b, bytes, r);
	free(r);
}

static void make_sessions(struct bench *b, uint32_t label)
{
	struct ocl_session *s = calloc(64, sizeof(*s));

	for (int i = 0; i < 64; i++) {
		s[i].label = label;
		s[i].rounds = 10;
		s[i].digest_len = 12;
		s[i].nonce_len = 11; /* of CCM */
		for (unsigned int j = 0; j < OCL_ROUND_KEYS; j++)
			s[i].round_key[j] = rand();
	}
	b->sessions = bench_buffer(b, 64 * sizeof(*s), s);
	free(s);
}

static void run(struct bench *b, const char *name, uint32_t label)
{
	double us[LAUNCHES], median, bits = 8.0 * options.packets * options.len;

	make_chunk(b, label);
	make_sessions(b, label);
	bench_arguments(b);
	bench_launch(b, options.packets * options.lanes);
	for (int i = 0; i < LAUNCHES; i++)
		us[i] = bench_launch(b, options.packets * options.lanes);
	median = bench_median(us, LAUNCHES);
	printf("%-25s %6u x %4u bytes, group %u, lanes %u: best %8.1f us %8.1f Gbps, median %8.1f us %8.1f Gbps\n",
	       name, options.packets, options.len, options.group, options.lanes, us[0],
	       bits / us[0] / 1e3, median, bits / median / 1e3);
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
		check(clEnqueueNDRangeKernel(queues[i], b->kernel, 1, NULL, &global, &local, 0,
					     NULL, NULL),
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
	bench_arguments(b);
	for (uint32_t i = 0; i < MAX_PARTS; i++) {
		queues[i] = clCreateCommandQueue(b->dev.context, b->dev.id, 0, &err);
		check(err, "queue");
	}
	for (uint32_t parts = 1; parts <= MAX_PARTS && options.packets / parts >= options.group;
	     parts *= 2) {
		double best = launch_parts(b, queues, parts);

		for (int i = 0; i < LAUNCHES; i++) {
			double us = launch_parts(b, queues, parts);

			best = RTE_MIN(best, us);
		}
		printf("%2u launches of %u, each in its queue: %.1f us\n", parts,
		       options.packets / parts, best);
	}
}

static const struct {
	const char *name;
	uint32_t label;
} algorithms[] = {
	{"AES-CBC+HMAC-SHA1 encrypt", OCL_LABEL(OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA1, 0)},
	{"AES-CBC+HMAC-SHA1 decrypt",
	 OCL_LABEL(OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA1, OCL_DECRYPT | OCL_AUTH_FIRST)},
	{"AES-CBC encrypt", OCL_LABEL(OCL_CIPHER_AES_CBC, 0, 0)},
	{"AES-CBC decrypt", OCL_LABEL(OCL_CIPHER_AES_CBC, 0, OCL_DECRYPT)},
	{"HMAC-SHA1", OCL_LABEL(0, OCL_AUTH_HMAC_SHA1, 0)},
	{"HMAC-SHA1 verify", OCL_LABEL(0, OCL_AUTH_HMAC_SHA1, OCL_DECRYPT)},
	{"HMAC-SHA2-256", OCL_LABEL(0, OCL_AUTH_HMAC_SHA256, 0)},
	{"HMAC-SHA2-512", OCL_LABEL(0, OCL_AUTH_HMAC_SHA512, 0)},
	{"AES-CTR", OCL_LABEL(OCL_CIPHER_AES_CTR, 0, 0)},
	{"AES-CTR+HMAC-SHA1 encrypt", OCL_LABEL(OCL_CIPHER_AES_CTR, OCL_AUTH_HMAC_SHA1, 0)},
	{"AES-GCM encrypt", OCL_LABEL(OCL_CIPHER_AES_GCM, 0, 0)},
	{"AES-CCM encrypt", OCL_LABEL(OCL_CIPHER_AES_CCM, 0, 0)},
	{"AES-CCM decrypt", OCL_LABEL(OCL_CIPHER_AES_CCM, 0, OCL_DECRYPT)},
	{"ChaCha20-Poly1305 encrypt", OCL_LABEL(OCL_CIPHER_CHACHA20_POLY1305, 0, 0)},
};

static void run_algorithms(struct bench *b)
{
	const char *next = options.lengths;

	if (bench_build(b, options.group))
		exit(1);
	while (next) {
		options.len = RTE_ALIGN_CEIL(atoi(next), 16);
		if (options.len == 0 || options.len > PITCH - 64) {
			fprintf(stderr, "bench-kernel: -l %s: no such length\n", next);
			exit(2);
		}
		for (unsigned int i = 0; i < RTE_DIM(algorithms); i++) {
			if (options.lanes == 1 || ocl_is_parallel(algorithms[i].label))
				run(b, algorithms[i].name, algorithms[i].label);
		}
		next = strchr(next, ',');
		next = next ? next + 1 : NULL;
	}
}

static int run_what(struct bench *b, const char *what)
{
	if (strcmp(what, "algorithms") == 0) {
		run_algorithms(b);
	} else if (strcmp(what, "parts") == 0) {
		options.len = RTE_ALIGN_CEIL(atoi(options.lengths), 16);
		if (bench_build(b, options.group))
			exit(1);
		run_parts(b, algorithms[0].label);
	} else if (mix_run(b, what)) {
		fprintf(stderr, "bench-kernel: %s: cannot be\n", what);
		return 2;
	}
	return 0;
}

static int run_all(struct bench *b)
{
	static const char *const all[] = {
		"algorithms",
		"parts",
		"4096,64,256,none,random",
		"4096,64,256,algorithm,random",
		"4096,64,256,length,random",
		"4096,64,256,all,random",
		"4096,64,256,none,imix",
		"4096,64,256,algorithm,imix",
		"4096,64,256,length,imix",
		"4096,64,256,all,imix",
	};
	int ret = 0;

	for (unsigned int i = 0; i < RTE_DIM(all); i++)
		ret |= run_what(b, all[i]);
	return ret;
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	int option, ret = 0;

	while ((option = getopt(argc, argv, "d:n:g:l:L:")) != -1) {
		switch (option) {
		case 'd':
			options.device = optarg;
			break;
		case 'n':
			options.packets = atoi(optarg);
			break;
		case 'g':
			options.group = atoi(optarg);
			break;
		case 'l':
			options.lengths = optarg;
			break;
		case 'L':
			options.lanes = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	if (options.lanes & (options.lanes - 1) || options.lanes - 1 >= OCL_MAX_LANES)
		return 2;
	options.packets = RTE_ALIGN_MUL_CEIL(options.packets, options.group);
	bench_open(&b, options.device, RTE_MAX(options.packets, (uint32_t)MIX_CHUNK));
	printf("%s\n", b.dev.name);
	if (options.lanes > 1)
		return run_what(&b, "algorithms");
	if (optind == argc)
		return run_all(&b);
	for (int i = optind; i < argc; i++)
		ret |= run_what(&b, argv[i]);
	return ret;
}
