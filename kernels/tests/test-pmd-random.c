/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver against OpenSSL and against DPDK's other drivers: random operations
 * of mixed algorithms, lengths and directions, in place and out of place, some
 * with a wrong digest, some malformed, in bursts; before those, of each pair of algorithms, the
 * lengths at which something may end, from nothing to 16 KiB, at every alignment; and runs of them in
 * pools of the driver. Each has to come back in order, with its own status, and with every byte of its
 * buffers as expected.
 *
 *   test-pmd-random [operations per pair of algorithms [vdev arguments]]
 *
 * Without an argument the environment's CYGNET_OPERATIONS says how many, for make check;
 * without the second they are shared by devices that go different ways.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "jobs.h"
#include "pooled.h"

#define PAIRS  48   /* of sessions at a time, at most */
#define ROUND  8192 /* operations that share sessions, at most */
#define POOLED 300  /* operations of each kind in pools, at least: some runs of each sort */

static struct kind kinds[OCL_CIPHERS * OCL_AUTHS];
static unsigned int nkinds;
static struct rte_cryptodev_stats counted;

static void add_kind(enum ocl_cipher cipher, enum ocl_auth auth)
{
	kinds[nkinds++] = (struct kind){.cipher = cipher, .auth = auth};
}

static void make_kinds(void)
{
	for (unsigned int cipher = 0; cipher < OCL_CIPHER_AES_GCM; cipher++) {
		for (unsigned int auth = 0; auth < OCL_AUTH_AES_GMAC; auth++)
			add_kind(cipher, auth);
	}
	add_kind(OCL_CIPHER_NONE, OCL_AUTH_AES_GMAC);
	for (unsigned int cipher = OCL_CIPHER_AES_GCM; cipher < OCL_CIPHERS; cipher++)
		add_kind(cipher, OCL_AUTH_NONE);
}

/* A pair of sessions whose algorithms still have something to do; NULL: none has. */
static struct pair *choose_pair(struct pair *pairs, unsigned int n)
{
	unsigned int first = rnd_below(n);

	for (unsigned int i = 0; i < n; i++) {
		struct pair *pair = &pairs[(first + i) % n];

		if (pair->kind->todo) {
			pair->kind->todo--;
			pair->kind->done++;
			return pair;
		}
	}
	return NULL;
}

static void run(const struct device *dev, struct pair *pairs, unsigned int npairs)
{
	static struct job jobs[JOBS];
	struct rte_crypto_op *burst[64];
	uint32_t made = 0, sent = 0, back = 0;
	bool more = true;

	while (more || back < made) {
		uint32_t n = rnd_below(RTE_DIM(burst)) + 1;

		while (more && n-- && made - back < JOBS) {
			struct pair *pair = made < ROUND ? choose_pair(pairs, npairs) : NULL;

			more = pair != NULL;
			if (more)
				job_make(&jobs[made++ % JOBS], pair);
		}
		for (n = 0; n < RTE_DIM(burst) && sent + n < made; n++)
			burst[n] = jobs[(sent + n) % JOBS].op;
		sent += rte_cryptodev_enqueue_burst(dev->id, 0, burst, n);
		n = rte_cryptodev_dequeue_burst(dev->id, 0, burst, 1 + rnd_below(RTE_DIM(burst)));
		if (n == 0 && (!more || made - back == JOBS))
			rte_delay_us_sleep(20);
		for (uint32_t i = 0; i < n; i++, back++) {
			counted.enqueue_err_count += job_is_refused(&jobs[back % JOBS]);
			job_finish(&jobs[back % JOBS], burst[i], back);
		}
	}
	counted.enqueued_count += made;
}

static uint32_t todo(void)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < nkinds; i++)
		n += kinds[i].todo;
	return n;
}

/* Sessions of the kinds [first, first + n), until those have nothing to do. */
static void run_kinds(const struct device *dev, struct kind *first, unsigned int n)
{
	struct pair pairs[PAIRS];
	unsigned int npairs = n == 1 ? 8 : n;

	CHECK(npairs <= PAIRS);
	while (todo()) {
		for (unsigned int i = 0; i < npairs; i++)
			pair_open(dev, &pairs[i], &first[i % n], NULL);
		run(dev, pairs, npairs);
		for (unsigned int i = 0; i < npairs; i++)
			pair_close(dev, &pairs[i]);
	}
}

static void check_stats(const struct device *dev)
{
	struct rte_cryptodev_stats stats;

	CHECK(rte_cryptodev_stats_get(dev->id, &stats) == 0);
	CHECK(stats.enqueued_count == counted.enqueued_count);
	CHECK(stats.dequeued_count == counted.enqueued_count);
	CHECK(stats.enqueue_err_count == counted.enqueue_err_count);
	CHECK(stats.dequeue_err_count == 0);
}

static void report(void)
{
	static const char *const ciphers[OCL_CIPHERS] = {
		"-", "AES-CBC", "AES-CTR", "3DES-CBC", "AES-GCM", "AES-CCM", "ChaCha20-Poly1305",
	};
	static const char *const auths[OCL_AUTHS] = {
		"-",	       "HMAC-MD5",    "HMAC-SHA1", "HMAC-SHA256",
		"HMAC-SHA384", "HMAC-SHA512", "AES-XCBC",  "AES-GMAC",
	};

	printf("%-18s%-12s%10s%8s%8s", "cipher", "digest", "operations", "pooled", "heads");
	for (unsigned int i = 0; i < PEERS; i++)
		printf("  %s", peer_name(i));
	printf("\n");
	for (const struct kind *kind = kinds; kind < kinds + nkinds; kind++) {
		CHECK(kind->edge == EDGES);
		printf("%-18s%-12s%10u%8u%8u", ciphers[kind->cipher], auths[kind->auth], kind->done,
		       kind->pooled, kind->heads);
		for (unsigned int i = 0; i < PEERS; i++)
			printf("  %*u", (int)strlen(peer_name(i)), kind->compared[i]);
		printf("\n");
	}
}

static void run_device(const char *args, uint32_t total)
{
	char all_args[512];
	struct device dev;

	/* A loaded machine is late, not lost. */
	snprintf(all_args, sizeof(all_args), "%stimeout_ms=600000", args);
	memset(&counted, 0, sizeof(counted));
	device_open(&dev, all_args, 1);
	/* An eighth of each alone, which is how a busy tunnel's packets come. */
	for (unsigned int i = 0; i < nkinds; i++) {
		kinds[i].todo = total / 8 + EDGES - kinds[i].edge;
		run_kinds(&dev, &kinds[i], 1);
	}
	for (unsigned int i = 0; i < nkinds; i++)
		kinds[i].todo = total - total / 8;
	run_kinds(&dev, kinds, nkinds);
	check_stats(&dev);
	device_close(&dev);
}

static void run_pooled(const char *args, uint32_t total)
{
	for (unsigned int i = 0; i < nkinds; i++)
		kinds[i].todo = total;
	pooled_run(args, kinds, nkinds);
}

int main(int argc, char *argv[])
{
	static const char *const usual[] = {"", "lanes=8,", "lanes=8,sched=all,tables=banks,",
					    "memory=staged,sched=none,launches=thread,"};
	static const char *const pooled[] = {"", "memory=staged,",
					     "memory=staged,sched=all,lanes=8,tables=banks,"};
	const char *operations = argc > 1 ? argv[1] : getenv("CYGNET_OPERATIONS");
	uint32_t total = operations ? strtoul(operations, NULL, 0) : 1000;
	char own[256];

	CHECK(total >= 8);
	harness_start();
	jobs_open();
	make_kinds();
	snprintf(own, sizeof(own), "%s,", argc > 2 ? argv[2] : "");
	for (unsigned int i = 0; argc <= 2 && i < RTE_DIM(usual); i++)
		run_device(usual[i], total / RTE_DIM(usual) + 8);
	/* Another kernel around the same algorithms, which nothing else runs all of. */
	if (argc <= 2 && device_has("memory=persistent"))
		run_device("memory=persistent,", total / 8 + 8);
	for (unsigned int i = 0; argc <= 2 && i < RTE_DIM(pooled); i++)
		run_pooled(pooled[i], total / 8 + POOLED);
	if (argc > 2) {
		run_device(own, total);
		run_pooled(own, total / 4 + POOLED);
	}
	report();
	jobs_close();
	harness_stop();
	printf("all as expected\n");
	return 0;
}
