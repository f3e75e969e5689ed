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
 * -w  limit of the time of a lookup of other peers' flows among hostile policies, nanoseconds
 *
 * The exit status is 1 if a limit was exceeded.
 *
 * Policies are disjoint: /24 networks behind gateways, and /32 addresses of road
 * warriors. Lookups are in random order and always find an entry. Then 100 peers have 64 by 64 networks of 20 to 32
 * bits each, and are rekeyed.
 *
 * Outbound SAs of one SPI are those of peers with addresses in one /64 that have all chosen it.
 *
 * Hostile policies are those of a peer that may choose its selectors within a network of its own (/8, IPv6: /32) and
 * any local networks. They have all prefix lengths there are, and as many as possible cover one flow that matches none.
 * Lookups are measured of flows to other, honest networks, of flows that nobody has a policy for, and of that one flow.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cygnet.h"

#define LOOKUPS	 2000000u
#define SPI_BASE 0x10000u
#define BATCH	 1000u

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

#define SAME_SPI 24576u

static struct cygnet_sa_params same_spi(uint32_t i)
{
	struct cygnet_sa_params p = sa(0);

	p.flags = 0;
	p.replay_window = 0;
	p.id.af = p.path.af = AF_INET6;
	p.id.dst = (struct cygnet_addr){.bytes = {0x20, 0x01, 0x0d, 0xb8}};
	i = htonl(i);
	memcpy(&p.id.dst.bytes[12], &i, sizeof(i));
	p.path.dst = p.id.dst;
	return p;
}

static double same_spi_lookups(void)
{
	double start = now_ns();
	uint32_t n = 20000;

	for (uint32_t i = 0; i < n; i++) {
		struct cygnet_sa_id id = same_spi(rnd(SAME_SPI)).id;

		must(cygnet_sad_lookup_out(db, id.spi, id.proto, id.af, &id.dst) ? 0 : -2,
		     "an SA was not found");
	}
	return (now_ns() - start) / n;
}

static void bench_same_spi(const char *path)
{
	double start, install, delete, lookup;

	open_db(path, SAME_SPI);
	start = now_ns();
	for (uint32_t i = 0; i < SAME_SPI; i++) {
		struct cygnet_sa_params p = same_spi(i);

		must(cygnet_sa_add(db, &p), "install");
	}
	install = (now_ns() - start) / SAME_SPI / 1000;
	lookup = same_spi_lookups();
	start = now_ns();
	for (uint32_t i = 0; i < SAME_SPI; i++) {
		struct cygnet_sa_params p = same_spi(i);

		must(cygnet_sa_delete(db, &p.id), "delete");
	}
	delete = (now_ns() - start) / SAME_SPI / 1000;
	printf("SAs, one SPI    %9u %10.0f %12.2f %12.2f\n", SAME_SPI, lookup, install, delete);
	check_limit("SA lookup", SAME_SPI, lookup, limit.lookup_ns, "ns");
	check_limit("SA install", SAME_SPI, install, limit.sa_us, "us");
	check_limit("SA delete", SAME_SPI, delete, limit.sa_us, "us");
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
#define HONEST	(HOSTILE / 4)
#define ROUNDS	50u
#define FLOWS	2000u /* lookups of a round */

/* First bytes of the networks of the hostile peer, of honest peers, and of nobody. */
enum { THEIRS = 0x20, HONEST_NET = 0x30, NOBODYS = 0x40 };

/* An address of the network that begins with a byte. */
static struct cygnet_addr random_addr(unsigned int bits, uint8_t first)
{
	struct cygnet_addr addr = {.words = {0, 0}};

	for (unsigned int i = 0; i < bits / 8; i++)
		addr.bytes[i] = (uint8_t)rnd(256);
	addr.bytes[0] = first;
	if (bits == 128)
		addr.bytes[1] = addr.bytes[2] = addr.bytes[3] = 0;
	return addr;
}

/* The range of a prefix, or all of it but its last addresses. Of at least 128 addresses, 64 can
 * be left out without another common prefix. */
static void range(struct cygnet_addr *lo, struct cygnet_addr *hi, const struct cygnet_addr *addr,
		  unsigned int bits, unsigned int prefix, uint32_t left_out)
{
	*lo = *hi = *addr;
	for (unsigned int bit = prefix; bit < bits; bit++) {
		lo->bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
		hi->bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	}
	hi->bytes[bits / 8 - 1] -= (uint8_t)left_out;
}

/* The last address of the hostile peer's network, or of all: that of all prefixes that it is in. */
static struct cygnet_addr last_addr(unsigned int bits, bool theirs)
{
	struct cygnet_addr addr = {.words = {0, 0}};

	memset(addr.bytes, 0xff, bits / 8);
	if (theirs) {
		addr.bytes[0] = THEIRS;
		if (bits == 128)
			addr.bytes[1] = addr.bytes[2] = addr.bytes[3] = 0;
	}
	return addr;
}

static struct cygnet_policy_params between(unsigned int bits, const struct cygnet_addr *src,
					   unsigned int src_bits, const struct cygnet_addr *dst,
					   unsigned int dst_bits)
{
	struct cygnet_policy_params p = policy(0, 32);

	p.sel.af = bits == 128 ? AF_INET6 : AF_INET;
	range(&p.sel.src_lo, &p.sel.src_hi, src, bits, src_bits, 0);
	range(&p.sel.dst_lo, &p.sel.dst_hi, dst, bits, dst_bits, 0);
	p.priority = 400000 - 512 * (src_bits + dst_bits); /* as the plugin does */
	p.reqid = 1 + rnd(1000);
	return p;
}

/* A policy of the hostile peer whose prefixes cover its one flow, but that does not match the flow. */
static struct cygnet_policy_params hostile(unsigned int bits)
{
	unsigned int least = bits / 4, src_bits = rnd(bits + 1),
		     dst_bits = least + rnd(bits + 1 - least);
	struct cygnet_addr src = last_addr(bits, false), dst = last_addr(bits, true);
	struct cygnet_policy_params p = between(bits, &src, src_bits, &dst, dst_bits);

	p.sel.sport_lo = (uint16_t)rnd(1000);
	p.sel.sport_hi = (uint16_t)(p.sel.sport_lo + rnd(1000));
	return p;
}

static struct cygnet_policy_params honest(unsigned int bits)
{
	struct cygnet_addr dst = random_addr(bits, HONEST_NET), any = {.words = {0, 0}};

	return between(bits, &any, bits / 4, &dst, bits == 128 ? 64 : 24);
}

/* The shortest time of a lookup in some rounds, ns.
 * @param first  of the destinations, which are different ones; 0: the one flow of the hostile peer
 * @param n      lookups of a round */
static double hostile_lookups(unsigned int bits, uint8_t first, unsigned int rounds, unsigned int n)
{
	struct cygnet_flow flow = {.sport = 2000,
				   .dport = 2,
				   .proto = IPPROTO_UDP,
				   .has_ports = 1,
				   .af = bits == 128 ? AF_INET6 : AF_INET};
	static struct cygnet_addr addrs[FLOWS];
	double best = 1e12;

	for (unsigned int i = 0; i < n; i++)
		addrs[i] = first ? random_addr(bits, first) : last_addr(bits, true);
	if (!first)
		flow.src = last_addr(bits, false);
	for (unsigned int r = 0; r < rounds; r++) {
		double start = now_ns(), took;

		for (unsigned int i = 0; i < n; i++) {
			flow.dst = addrs[i];
			if (cygnet_spd_lookup(db, CYGNET_OUT, &flow) && first != HONEST_NET)
				must(-2, "a hostile policy matches");
		}
		took = (now_ns() - start) / n;
		best = took < best ? took : best;
	}
	return best;
}

static void bench_hostile(const char *path, unsigned int bits)
{
	double others, nobodys, own;
	uint32_t n = 0;

	open_db(path, HOSTILE);
	while (n < HOSTILE) {
		struct cygnet_policy_params p = n < HONEST ? honest(bits) : hostile(bits);

		if (n >= HONEST &&
		    n % CYGNET_DIRS != CYGNET_OUT) /* IKE installs policies of all directions */
			p.dir = (uint8_t)(n % CYGNET_DIRS);
		must(cygnet_policy_add(db, &p), "policy");
		n++;
	}
	others = hostile_lookups(bits, HONEST_NET, ROUNDS, FLOWS);
	nobodys = hostile_lookups(bits, NOBODYS, ROUNDS, FLOWS);
	own = hostile_lookups(bits, 0, 3, 3);
	printf("hostile, IPv%c   %9u %10.0f (other peers), %.0f (nobody's flows), %.0f (its own flow)\n",
	       bits == 128 ? '6' : '4', n, others, nobodys, own);
	check_limit("lookup among hostile policies", n, others > nobodys ? others : nobodys,
		    limit.hostile_ns, "ns");
	close_db(path);
}

#define PEERS 100u
#define NETS  64u /* of either side of a peer */

/* One of a peer's NETS * NETS policies of a direction. Its networks have 20 to 32 bits, in 4,096 addresses each. */
static struct cygnet_policy_params peers_policy(uint32_t peer, uint32_t here, uint32_t there,
						uint8_t dir)
{
	struct cygnet_addr src = cygnet_addr4(htonl(0x0a000000 | here << 12));
	struct cygnet_addr dst = cygnet_addr4(htonl(0x20000000 | (peer * NETS + there) << 12));
	struct cygnet_policy_params p = between(32, &src, 20 + here % 13, &dst,
						20 + there * 7 % 13);
	struct cygnet_selector sel = p.sel;

	if (dir != CYGNET_OUT) {
		p.sel.src_lo = sel.dst_lo;
		p.sel.src_hi = sel.dst_hi;
		p.sel.dst_lo = sel.src_lo;
		p.sel.dst_hi = sel.src_hi;
	}
	p.dir = dir;
	p.reqid = peer + 1;
	p.action = CYGNET_PROTECT;
	return p;
}

/* Call a function for all policies of a peer. @param spi  of the policies. @return nanoseconds */
static double each_policy(int (*change)(struct cygnet_db *, const struct cygnet_policy_params *),
			  uint32_t peer, uint32_t spi)
{
	double start = now_ns();

	for (uint32_t i = 0; i < NETS * NETS * CYGNET_DIRS; i++) {
		uint32_t n = i / CYGNET_DIRS;
		struct cygnet_policy_params p = peers_policy(peer, n / NETS, n % NETS,
							     (uint8_t)(i % CYGNET_DIRS));

		p.spi = spi;
		must(change(db, &p), "policy");
		cygnet_reader_quiescent(db, 0);
	}
	return now_ns() - start;
}

static double peers_lookups(void)
{
	struct cygnet_flow flow = {.af = AF_INET, .proto = IPPROTO_UDP, .has_ports = 1};
	double start = now_ns();

	for (uint32_t i = 0; i < LOOKUPS; i++) {
		const struct cygnet_policy *policy;
		uint32_t peer = rnd(PEERS);

		flow.src.v4 = htonl(0x0a000000 | rnd(NETS) << 12);
		flow.dst.v4 = htonl(0x20000000 | (peer * NETS + rnd(NETS)) << 12);
		policy = cygnet_spd_lookup(db, CYGNET_OUT, &flow);
		must(policy && policy->reqid == peer + 1 ? 0 : -2, "a policy was not found");
	}
	return (now_ns() - start) / LOOKUPS;
}

/* Peers with a child of many networks each. Then each is rekeyed: its new policies come, and its old ones go. */
static void bench_peers(const char *path)
{
	double install = 0, rekey_install = 0, delete = 0, lookup;
	uint32_t n = PEERS * NETS * NETS * CYGNET_DIRS;

	open_db(path, n + NETS * NETS * CYGNET_DIRS);
	for (uint32_t peer = 0; peer < PEERS; peer++)
		install += each_policy(cygnet_policy_add, peer, 1) / n / 1000;
	for (uint32_t peer = 0; peer < PEERS; peer++) {
		rekey_install += each_policy(cygnet_policy_add, peer, 2) / n / 1000;
		delete += each_policy(cygnet_policy_delete, peer, 1) / n / 1000;
	}
	lookup = peers_lookups();
	printf("%u by %u nets   %9u %10.0f %12.2f %12.2f (%u peers; rekeyed: %.2f)\n", NETS, NETS,
	       n, lookup, install, delete, PEERS, rekey_install);
	check_limit("policy lookup", n, lookup, limit.lookup_ns, "ns");
	check_limit("policy install", n, rekey_install, limit.policy_us, "us");
	close_db(path);
}

static void usage(void)
{
	fprintf(stderr, "usage: bench-sadb [-n ENTRIES] [-l NS] [-s US] [-p US] [-w NS] [FILE]\n");
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
	setlinebuf(stdout);
	path = optind < argc ? argv[optind] : "./bench-sadb.file";
	printf("                  entries  lookup ns   install us    delete us\n");
	bench_sad(path, 1000);
	bench_sad(path, many);
	bench_same_spi(path);
	for (unsigned int bits = 24; bits <= 32; bits += 8) {
		bench_spd(path, 1000, bits);
		bench_spd(path, 100000, bits);
		bench_spd(path, many, bits);
	}
	bench_peers(path);
	bench_hostile(path, 32);
	bench_hostile(path, 128);
	return exceeded;
}
