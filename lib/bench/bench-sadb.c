/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the time of lookups, installs and deletes in a SAD/SPD of 1,000 and of
 * 1,000,000 entries.
 *
 *   bench-sadb [-n ENTRIES] [-l NS] [-s US] [-p US] [FILE]
 *
 * -n  entries of the largest database (1,000,000)
 * -l  limit of the time of a lookup, nanoseconds
 * -s  limit of the time to install or delete an SA, microseconds
 * -p  limit of the time to install a policy, microseconds
 *
 * The exit status is 1 if a limit was exceeded.
 *
 * Policies are disjoint: /24 networks behind gateways, and /32 addresses of road
 * warriors. Lookups are in random order and always find an entry.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cygnet.h"

#define LOOKUPS 2000000u
#define SPI_BASE 0x10000u
#define BATCH 1000u

static uint32_t many = 1000000; /* entries of the largest database */
/* Limits of the options; 0: no limit. */
static struct {
	double lookup_ns, sa_us, policy_us;
} limit;
static bool exceeded; /* a limit */

static struct cygnet_db *db;
static uint32_t random_state = 1;

static uint32_t rnd(uint32_t n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(random_state >> 4) * n >> 28);
}

/* CPU time of this thread, so that other load on the core does not count. */
static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void must(int err, const char *what)
{
	if (err) {
		fprintf(stderr, "bench-sadb: %s: %s\n", what, strerror(-err));
		exit(1);
	}
}

static void check_limit(const char *what, uint32_t n, double took, double most, const char *unit)
{
	if (!most || took <= most)
		return;
	printf("  limit exceeded: %s with %u entries takes %.2f %s, limit %.0f\n", what, n, took,
	       unit, most);
	exceeded = true;
}

static struct cygnet_sa_params sa(uint32_t i)
{
	struct cygnet_sa_params p = {
		.id = {.spi = htonl(SPI_BASE + i), .proto = IPPROTO_ESP, .af = AF_INET},
		.flags = CYGNET_SA_INBOUND,
		.cipher = CYGNET_CIPHER_AES_GCM,
		.icv_len = 16,
		.cipher_key_len = 16,
		.salt_len = 4,
		.replay_window = 32,
	};

	p.path.af = AF_INET;
	p.id.dst.v4 = p.path.dst.v4 = htonl(0xc0000201);
	return p;
}

/* The i-th network of 2^(32 - bits) addresses. */
static struct cygnet_policy_params policy(uint32_t i, unsigned int bits)
{
	struct cygnet_policy_params p = {
		.sel = {.af = AF_INET, .sport_hi = UINT16_MAX, .dport_hi = UINT16_MAX},
		.priority = 1000,
		.reqid = i + 1,
		.dir = CYGNET_OUT,
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
	};
	uint32_t base = 0x0a000000u + (i << (32 - bits));

	p.sel.src_hi.v4 = UINT32_MAX;
	p.sel.dst_lo.v4 = htonl(base);
	p.sel.dst_hi.v4 = htonl(bits < 32 ? base | UINT32_MAX >> bits : base);
	return p;
}

static double sad_lookups(uint32_t n)
{
	const struct cygnet_addr dst = cygnet_addr4(htonl(0xc0000201));
	double start = now_ns();
	uint32_t hits = 0;

	for (uint32_t i = 0; i < LOOKUPS; i++)
		hits += cygnet_sad_lookup(db, htonl(SPI_BASE + rnd(n)), IPPROTO_ESP, AF_INET,
					  &dst) != NULL;
	must(hits == LOOKUPS ? 0 : -2, "an SA was not found");
	return (now_ns() - start) / LOOKUPS;
}

static double spd_lookups(uint32_t n, unsigned int bits)
{
	struct cygnet_flow flow = {.af = AF_INET, .proto = IPPROTO_UDP, .has_ports = 1};
	double start = now_ns();
	uint32_t hits = 0;

	for (uint32_t i = 0; i < LOOKUPS; i++) {
		flow.dst.v4 = htonl(0x0a000000u + (rnd(n) << (32 - bits)));
		hits += cygnet_spd_lookup(db, CYGNET_OUT, &flow) != NULL;
	}
	must(hits == LOOKUPS ? 0 : -2, "a policy was not found");
	return (now_ns() - start) / LOOKUPS;
}

static void open_db(const char *path, uint32_t n)
{
	const struct cygnet_geometry geometry = {n + BATCH, n + BATCH};
	char error[256];

	unlink(path);
	if (cygnet_db_open_flags(path, &geometry, CYGNET_OPEN_ON_DISK, &db, error, sizeof(error))) {
		fprintf(stderr, "bench-sadb: %s\n", error);
		exit(1);
	}
	/* Register a reader, as a running dataplane does: deleted slots wait for it. */
	must(cygnet_role_take(db, CYGNET_ROLE_DATAPLANE), "role");
	must(cygnet_reader_online(db, 0), "reader");
}

static void close_db(const char *path)
{
	cygnet_db_close(db);
	unlink(path);
}

/* Microseconds of one install and one delete on top of n entries. */
static void time_sas(uint32_t n, double *install, double *delete)
{
	double start = now_ns();

	for (uint32_t i = n; i < n + BATCH; i++) {
		struct cygnet_sa_params p = sa(i);

		must(cygnet_sa_add(db, &p), "install");
	}
	*install = (now_ns() - start) / BATCH / 1000;
	start = now_ns();
	for (uint32_t i = n; i < n + BATCH; i++) {
		struct cygnet_sa_params p = sa(i);

		must(cygnet_sa_delete(db, &p.id), "delete");
		cygnet_reader_quiescent(db, 0);
	}
	*delete = (now_ns() - start) / BATCH / 1000;
}

static double time_policies(uint32_t n, unsigned int bits)
{
	double start = now_ns();

	for (uint32_t i = n; i < n + BATCH; i++) {
		struct cygnet_policy_params p = policy(i, bits);

		must(cygnet_policy_add(db, &p), "policy");
	}
	return (now_ns() - start) / BATCH / 1000;
}

static void bench_sad(const char *path, uint32_t n)
{
	double lookup, install, delete;

	open_db(path, n);
	for (uint32_t i = 0; i < n; i++) {
		struct cygnet_sa_params p = sa(i);

		must(cygnet_sa_add(db, &p), "install");
	}
	time_sas(n, &install, &delete);
	lookup = sad_lookups(n);
	printf("SAs             %9u %10.0f %12.2f %12.2f\n", n, lookup, install, delete);
	check_limit("SA lookup", n, lookup, limit.lookup_ns, "ns");
	check_limit("SA install", n, install, limit.sa_us, "us");
	check_limit("SA delete", n, delete, limit.sa_us, "us");
	close_db(path);
}

static void bench_spd(const char *path, uint32_t n, unsigned int bits)
{
	double lookup, install;

	open_db(path, n);
	for (uint32_t i = 0; i < n; i++) {
		struct cygnet_policy_params p = policy(i, bits);

		must(cygnet_policy_add(db, &p), "policy");
	}
	lookup = spd_lookups(n, bits);
	install = time_policies(n, bits);
	printf("policies, /%u   %9u %10.0f %12.2f\n", bits, n, lookup, install);
	check_limit("policy lookup", n, lookup, limit.lookup_ns, "ns");
	check_limit("policy install", n, install, limit.policy_us, "us");
	close_db(path);
}

static void usage(void)
{
	fprintf(stderr, "usage: bench-sadb [-n ENTRIES] [-l NS] [-s US] [-p US] [FILE]\n");
	exit(2);
}

static double number(const char *text, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value > 0 && value <= most))
		usage();
	return value;
}

int main(int argc, char **argv)
{
	const char *path;
	int option;

	while ((option = getopt(argc, argv, "n:l:s:p:")) != -1) {
		switch (option) {
		case 'n':
			many = (uint32_t)number(optarg, CYGNET_MAX_ENTRIES - BATCH);
			break;
		case 'l':
			limit.lookup_ns = number(optarg, 1e9);
			break;
		case 's':
			limit.sa_us = number(optarg, 1e9);
			break;
		case 'p':
			limit.policy_us = number(optarg, 1e9);
			break;
		default:
			usage();
		}
	}
	path = optind < argc ? argv[optind] : "./bench-sadb.file";
	printf("                  entries  lookup ns   install us    delete us\n");
	bench_sad(path, 1000);
	bench_sad(path, many);
	for (unsigned int bits = 24; bits <= 32; bits += 8) {
		bench_spd(path, 1000, bits);
		bench_spd(path, 100000, bits);
		bench_spd(path, many, bits);
	}
	return exceeded;
}
