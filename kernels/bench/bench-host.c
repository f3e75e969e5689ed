/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's speed for the lcores that feed a device: rates of bench-pmd mean little without it,
 * for machines of one kind differ, and one that is shared differs by the hour.
 *
 *   bench-host CORES...
 *
 * CORES is a list such as 1,3,5; all of a list work at once, so that what siblings, a shared
 * cache or a busy neighbour take from each other shows. For each list one line, means of its cores:
 *
 *   clock    GHz: a chain of multiplications, three cycles each
 *   slowest  the same in the slowest of 50 slices of 2 ms: below the clock when somebody
 *	      else had the core
 *   work     four chains at once, in GHz of one: up to three with a core of one's own, half of
 *	      that with a busy sibling
 *   copy     GB/s from one place in memory to another, 64 MiB each
 *   load     ns for a line from memory, 64 MiB, each address in the one before
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_CORES 64
#define SLICES	  50
#define SLICE	  2e-3
#define BYTES	  (64 << 20)
#define LINE	  64
#define LOADS	  (1 << 20)
#define COPIES	  8

struct core {
	pthread_t thread;
	int id;
	double clock, slowest, work, copy, load;
};

static pthread_barrier_t together;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Keeps a value out of the compiler's hands. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

/* Cycles a second, if each multiplication waits for the last one. */
static double time_chain(double seconds)
{
	uint64_t x = 3, n = 0;
	double start = now(), end;

	do {
		for (int i = 0; i < 1000; i++) {
			x *= 0x9e3779b97f4a7c15;
			OPAQUE(x);
		}
		n += 1000;
		end = now();
	} while (end - start < seconds);
	return 3 * n / (end - start);
}

static double time_chains(double seconds)
{
	uint64_t a = 3, b = 5, c = 7, d = 9, n = 0;
	double start = now(), end;

	do {
		for (int i = 0; i < 1000; i++) {
			a *= 0x9e3779b97f4a7c15;
			OPAQUE(a);
			b *= 0x9e3779b97f4a7c15;
			OPAQUE(b);
			c *= 0x9e3779b97f4a7c15;
			OPAQUE(c);
			d *= 0x9e3779b97f4a7c15;
			OPAQUE(d);
		}
		n += 4000;
		end = now();
	} while (end - start < seconds);
	return 3 * n / (end - start);
}

static void time_clock(struct core *core)
{
	core->slowest = 1e99;
	for (int i = 0; i < SLICES; i++) {
		double hz = time_chain(SLICE);

		core->clock = hz > core->clock ? hz : core->clock;
		core->slowest = hz < core->slowest ? hz : core->slowest;
	}
}

static double time_copy(uint8_t *to, const uint8_t *from)
{
	double start = now();

	for (int i = 0; i < COPIES; i++) {
		memcpy(to, from, BYTES);
		OPAQUE(to);
	}
	return (double)COPIES * BYTES / (now() - start);
}

/* One cycle through all lines, in random order (Sattolo). */
static void link_lines(uint8_t *memory)
{
	uint32_t n = BYTES / LINE, *next = malloc(n * sizeof(*next));
	uint64_t rnd = 88172645463325252;

	for (uint32_t i = 0; i < n; i++)
		next[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j, swap = next[i];

		rnd = rnd * 6364136223846793005 + 1442695040888963407;
		j = (rnd >> 33) % i;
		next[i] = next[j];
		next[j] = swap;
	}
	for (uint32_t i = 0; i < n; i++)
		*(void **)(memory + (size_t)i * LINE) = memory + (size_t)next[i] * LINE;
	free(next);
}

static double time_load(uint8_t *memory)
{
	void **p = (void **)memory;
	double start;

	link_lines(memory);
	pthread_barrier_wait(&together);
	start = now();
	for (int i = 0; i < LOADS; i++)
		p = *p;
	OPAQUE(p);
	return (now() - start) / LOADS;
}

static void *examine(void *arg)
{
	struct core *core = arg;
	uint8_t *a = malloc(BYTES), *b = malloc(BYTES);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(core->id, &set);
	if (a == NULL || b == NULL || pthread_setaffinity_np(pthread_self(), sizeof(set), &set)) {
		fprintf(stderr, "bench-host: no core %d, or no memory\n", core->id);
		exit(1);
	}
	memset(a, 1, BYTES);
	memset(b, 2, BYTES);
	pthread_barrier_wait(&together);
	time_clock(core);
	pthread_barrier_wait(&together);
	core->work = time_chains(SLICES * SLICE);
	pthread_barrier_wait(&together);
	core->copy = time_copy(a, b);
	core->load = time_load(a);
	free(a);
	free(b);
	return NULL;
}

static int parse(const char *list, struct core *cores)
{
	int n = 0;
	char *end;

	do {
		if (n == MAX_CORES)
			return -EINVAL;
		cores[n] = (struct core){.id = strtoul(list, &end, 10)};
		if (end == list || cores[n].id >= CPU_SETSIZE)
			return -EINVAL;
		n++;
		list = end + 1;
	} while (*end == ',');
	return *end ? -EINVAL : n;
}

static int run(const char *list)
{
	struct core cores[MAX_CORES], sum = {0};
	int n = parse(list, cores);

	if (n < 0 || pthread_barrier_init(&together, NULL, n)) {
		fprintf(stderr, "bench-host: %s: not a list of cores\n", list);
		return 2;
	}
	for (int i = 0; i < n; i++) {
		if (pthread_create(&cores[i].thread, NULL, examine, &cores[i]))
			return 1;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(cores[i].thread, NULL);
		sum.clock += cores[i].clock / n;
		sum.slowest += cores[i].slowest / n;
		sum.work += cores[i].work / n;
		sum.copy += cores[i].copy / n;
		sum.load += cores[i].load / n;
	}
	pthread_barrier_destroy(&together);
	printf("cores %-16s clock %.2f GHz, slowest %.2f, work %.2f GHz, copy %5.1f GB/s, load %4.0f ns\n",
	       list, sum.clock / 1e9, sum.slowest / 1e9, sum.work / 1e9, sum.copy / 1e9,
	       sum.load * 1e9);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int ret = argc < 2 ? 2 : 0;

	for (int i = 1; i < argc && ret == 0; i++)
		ret = run(argv[i]);
	return ret;
}
