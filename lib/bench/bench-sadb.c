/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the time of lookups, installs and deletes in a SAD/SPD of 1,000 and of
 * 1,000,000 entries, and of lookups among policies that a hostile peer has chosen.
 *
 *   bench-sadb [-n ENTRIES] [-l NS] [-s US] [-p US] [-w NS] [FILE]
 *
 * -n  entries of the largest database (1,000,000)
 * -l  limit of the time of a lookup, nanoseconds
 * -s  limit of the time to install or delete an SA, microseconds
 * -p  limit of the time to install a policy, microseconds
 * -w  limit of the time of a lookup among hostile policies, nanoseconds
 *
 * The exit status is 1 if a limit was exceeded.
 *
 * Policies are disjoint: /24 networks behind gateways, and /32 addresses of road
 * warriors. Lookups are in random order and always find an entry.
 *
 * Hostile policies have all forms of selectors. The chains that the lookup of one flow visits
 * contain as many of them as they can, and the flow matches none.
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
	double lookup_ns, sa_us, policy_us, hostile_ns;
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

#define HOSTILE 65536u
#define ROUNDS 50u

/* The range of a prefix, or all of it but its last addresses. Of at least 128 addresses, 64 can
 * be left out without another common prefix. */
static void range(struct cygnet_addr *lo, struct cygnet_addr *hi, const struct cygnet_addr *addr,
		  unsigned int bits, unsigned int prefix, uint32_t left_out)
{
	*lo = *hi = *addr;
	for (unsigned int bit = prefix; bit < bits; bit++) {
		lo->bytes[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);
		hi->bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	}
	hi->bytes[bits / 8 - 1] -= (uint8_t)left_out;
}

static struct cygnet_addr random_addr(unsigned int bits)
{
	struct cygnet_addr addr = {.words = {0, 0}};

	for (unsigned int i = 0; i < bits / 8; i++)
		addr.bytes[i] = (uint8_t)(rnd(256) & (i ? 0xff : 0x7f));
	return addr;
}

/* The last address: that of all prefixes that it is in. */
static struct cygnet_addr last_addr(unsigned int bits)
{
	struct cygnet_addr addr = {.words = {0, 0}};

	memset(addr.bytes, 0xff, bits / 8);
	return addr;
}

/* A policy with one of all forms of selectors, around two addresses. A flow between them, if
 * they are last_addr(), has the policy's hash, but does not match it.
 * @param least  length of the shortest prefix */
static struct cygnet_policy_params hostile(unsigned int bits, const struct cygnet_addr *src,
					   const struct cygnet_addr *dst, unsigned int least)
{
	struct cygnet_policy_params p = policy(0, 32);
	unsigned int src_bits = least + rnd(bits + 1 - least);
	unsigned int dst_bits = least + rnd(bits + 1 - least);
	bool by_src = src_bits <= bits - 7, by_dst = !by_src && dst_bits <= bits - 7;
	uint32_t left_out = 1 + rnd(64);

	p.sel.af = bits == 128 ? AF_INET6 : AF_INET;
	range(&p.sel.src_lo, &p.sel.src_hi, src, bits, src_bits, by_src ? left_out : 0);
	range(&p.sel.dst_lo, &p.sel.dst_hi, dst, bits, dst_bits, by_dst ? left_out : 0);
	if (rnd(2))
		p.sel.proto = IPPROTO_UDP;
	if (!(by_src || by_dst) || rnd(2))
		p.sel.sport_hi = (uint16_t)(1000 + rnd(1000));
	if (rnd(2))
		p.sel.dport_lo = (uint16_t)rnd(2);
	p.reqid = 1 + rnd(1000);
	return p;
}

/* The shortest time of a lookup in ROUNDS rounds, ns.
 * @param addr  NULL: each lookup is of another flow, so that little of what it visits is cached */
static double hostile_lookups(unsigned int bits, const struct cygnet_addr *addr)
{
	struct cygnet_flow flow = {.sport = 2000, .dport = 2, .proto = IPPROTO_UDP, .has_ports = 1,
				   .af = bits == 128 ? AF_INET6 : AF_INET};
	static struct cygnet_addr addrs[2][LOOKUPS / 1000];
	double best = 1e9;

	for (uint32_t i = 0; i < LOOKUPS / 1000; i++)
		for (unsigned int end = 0; end < 2; end++)
			addrs[end][i] = addr ? *addr : random_addr(bits);
	for (unsigned int r = 0; r < ROUNDS; r++) {
		double start = now_ns(), took;

		for (uint32_t i = 0; i < LOOKUPS / 1000; i++) {
			flow.src = addrs[0][i];
			flow.dst = addrs[1][i];
			if (cygnet_spd_lookup(db, CYGNET_OUT, &flow) && addr)
				must(-2, "a hostile policy matches");
		}
		took = (now_ns() - start) / (LOOKUPS / 1000);
		best = took < best ? took : best;
	}
	return best;
}

/* Hostile policies around one flow, and around others until there are HOSTILE. */
static void bench_hostile(const char *path, unsigned int bits)
{
	struct cygnet_addr last = last_addr(bits);
	uint32_t around = 0, n, tries = 0;
	double one, any;

	open_db(path, HOSTILE);
	for (uint32_t i = 0; i < HOSTILE; i++) {
		struct cygnet_policy_params p = hostile(bits, &last, &last, 0);

		around += !cygnet_policy_add(db, &p);
	}
	for (n = around; n < HOSTILE && tries < 100 * HOSTILE; tries++) {
		struct cygnet_addr src = random_addr(bits), dst = random_addr(bits);
		struct cygnet_policy_params p = hostile(bits, &src, &dst, bits / 4);

		n += !cygnet_policy_add(db, &p);
	}
	one = hostile_lookups(bits, &last);
	any = hostile_lookups(bits, NULL);
	printf("hostile, IPv%c   %9u %10.0f (%u of them around one flow), of many flows %.0f\n",
	       bits == 128 ? '6' : '4', n, one, around, any);
	check_limit("lookup among hostile policies", n, one > any ? one : any, limit.hostile_ns,
		    "ns");
	close_db(path);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: bench-sadb [-n ENTRIES] [-l NS] [-s US] [-p US] [-w NS] [FILE]\n");
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

	while ((option = getopt(argc, argv, "n:l:s:p:w:")) != -1) {
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
		case 'w':
			limit.hostile_ns = number(optarg, 1e9);
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
	bench_hostile(path, 32);
	bench_hostile(path, 128);
	return exceeded;
}
