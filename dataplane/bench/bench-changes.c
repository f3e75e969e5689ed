/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost for known flows of changes that do not concern them: packets of many tunnels are protected,
 * while a host on the segment alternates its MAC address, one tenant rekeys, or routers lower the path MTU
 * of one SA, CHANGES times a second each. Prints packets a second of a worker without changes, and with
 * changes as a ratio to the round without them before it: medians of ROUNDS rounds in turn. Only the worker's
 * time counts. A rekeying is ten calls of the library, as charon-plugin makes them; the worker looks at the
 * counts of changes after each of them, which is the worst case.
 *
 * usage: bench-changes [TUNNELS [FLOWS-OF-EACH]] */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "base/sadb.h"
#include "gateway_fixture.h"
#include "host/neigh.h"
#include "ip/headers.h"
#include "path/too_big.h"
#include "worker_fixture.h"

#define CHANGES	    1000u /* a second */
#define REKEY_STEPS 10u
#define ROUNDS	    41u
#define ROUND_MS    40u
#define WARM_MS	    4u
#define PREEMPTED_US \
	500u /* a burst that takes longer was interrupted by another program, and does not count */
#define TUNNELS_MAX 250u /* networks that gateway_fixture.h has room for */
#define LENGTH	    100u /* of packets before they are protected, bytes */
#define ETHER	    14u
#define SWEEP	    1024u /* bursts between two sweeps of the sessions, as in the worker's loop */
#define SENT	    1450u /* the packet that an ICMP message is about, bytes */

static struct worker *w = &workers[0];
static struct tunnel tunnels[TUNNELS_MAX];
static unsigned int ntunnels = 250, nflows = 4;
static struct rte_mempool *pool;
static uint8_t frames[TUNNELS_MAX][ETHER + LENGTH];

/* --- packets --- */

static void write_frames(void)
{
	static const uint8_t ether[ETHER] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 8, 0};

	for (unsigned int i = 0; i < ntunnels; i++) {
		memcpy(frames[i], ether, ETHER);
		gateway_inner(frames[i] + ETHER, &tunnels[i], false, true, LENGTH, 0, 64);
	}
}

/* The next packet, of another tunnel than the one before it. */
static void write_packet(struct rte_mbuf *m)
{
	static unsigned int count;
	unsigned int tunnel = count % ntunnels;
	uint16_t port = (uint16_t)(1000 + count / ntunnels % nflows);
	uint8_t *frame = (uint8_t *)rte_pktmbuf_append(m, ETHER + LENGTH);

	count++;
	memcpy(frame, frames[tunnel], ETHER + LENGTH);
	memcpy(frame + ETHER + 20, &port, sizeof(port));
	memset(packet(m), 0, sizeof(struct packet));
}

/* @return TSC cycles of the worker */
static uint64_t burst(void)
{
	static unsigned int bursts;
	struct rte_mbuf *m[BURST];
	uint64_t began, took;

	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, m, BURST), 0);
	for (unsigned int i = 0; i < BURST; i++)
		write_packet(m[i]);
	began = rte_rdtsc_precise();
	worker_receive(w, m, BURST, GATEWAY_LAN);
	if (++bursts % SWEEP == 0)
		sessions_sweep(w->sessions);
	cygnet_reader_quiescent(sadb, 0);
	took = rte_rdtsc_precise() - began;
	assert_int_equal(w->tx[GATEWAY_WAN].n, BURST);
	gateway_forget(w);
	return took;
}

/* --- changes --- */

static void change_neighbour(void)
{
	static struct rte_ether_addr mac = {{2, 0, 0, 0, 9, 0}};
	struct neigh host = {.addr.bytes = {192, 0, 2, 77},
			     .af = AF_INET,
			     .interface = GATEWAY_WAN};

	mac.addr_bytes[5] ^= 1;
	neigh_set(&host, &mac, false);
}

/* The SAs and policies of the first tunnel, before and after a rekeying. */
struct keying {
	struct cygnet_sa_params sa[2];
	struct cygnet_policy_params policy[3];
};

static struct cygnet_sa_params sa_params(const struct cygnet_sa *like, uint32_t spi)
{
	struct cygnet_sa_params p = esp_params(&tunnels[0].peer, 0);

	p.flags = like->flags;
	p.reqid = like->reqid;
	p.replay_window = like->replay_window;
	p.path = *cygnet_sa_path(like);
	p.id.dst = p.path.dst;
	p.id.spi = htonl(spi);
	return p;
}

static struct cygnet_policy_params policy_params(enum cygnet_dir dir,
						 const struct cygnet_sa_params *sa)
{
	struct cygnet_addr own = {.bytes = {10, 1}}, own_end = {.bytes = {10, 1, 255, 255}};
	struct cygnet_addr far = {.bytes = {10, (uint8_t)tunnels[0].number}};
	struct cygnet_addr far_end = {.bytes = {10, (uint8_t)tunnels[0].number, 255, 255}};
	bool out = dir == CYGNET_OUT;

	return (struct cygnet_policy_params){
		.sel = {.src_lo = out ? own : far,
			.src_hi = out ? own_end : far_end,
			.dst_lo = out ? far : own,
			.dst_hi = out ? far_end : own_end,
			.sport_hi = UINT16_MAX,
			.dport_hi = UINT16_MAX,
			.af = AF_INET},
		.reqid = sa->reqid,
		.spi = sa->id.spi,
		.dst = sa->path.dst,
		.dir = (uint8_t)dir,
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
		.mode = CYGNET_TUNNEL,
		.af = AF_INET,
	};
}

static void make_keying(struct keying *k)
{
	static uint32_t spi = 0x100000;

	k->sa[0] = sa_params(tunnels[0].in, ++spi);
	k->sa[1] = sa_params(tunnels[0].out, ++spi);
	k->policy[0] = policy_params(CYGNET_OUT, &k->sa[1]);
	k->policy[1] = policy_params(CYGNET_FWD, &k->sa[0]);
	k->policy[2] = policy_params(CYGNET_IN, &k->sa[0]);
}

static void rekey_step(void)
{
	static struct keying old, new;
	static unsigned int step;
	static bool rekeyed;
	unsigned int now = step++ % REKEY_STEPS;

	if (!now) {
		old = new;
		make_keying(&new);
	}
	if (now < 2)
		assert_int_equal(cygnet_sa_add(sadb, &new.sa[now]), 0);
	else if (now < 5)
		assert_int_equal(cygnet_policy_add(sadb, &new.policy[now - 2]), 0);
	else if (now < 8 && rekeyed)
		assert_int_equal(cygnet_policy_delete(sadb, &old.policy[now - 5]), 0);
	else if (rekeyed)
		assert_int_equal(cygnet_sa_delete(sadb, &old.sa[now - 8].id), 0);
	rekeyed |= now == REKEY_STEPS - 1;
}

static struct rte_mbuf *too_big(uint16_t mtu)
{
	struct cygnet_sa *sa = tunnels[1].out;
	const struct cygnet_path *path = cygnet_sa_path(sa);
	struct rte_ipv4_hdr ip = {.version_ihl = RTE_IPV4_VHL_DEF,
				  .next_proto_id = IPPROTO_ICMP,
				  .dst_addr = path->src.v4};
	struct rte_ipv4_hdr sent = {.version_ihl = RTE_IPV4_VHL_DEF,
				    .total_length = htons(SENT),
				    .next_proto_id = IPPROTO_ESP,
				    .src_addr = path->src.v4,
				    .dst_addr = path->dst.v4};
	struct icmphdr icmp = {.type = ICMP_DEST_UNREACH, .code = ICMP_FRAG_NEEDED};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *data, *header;
	uint32_t seq;

	assert_non_null(m);
	if (!sa->seq)
		sa->seq = 1;
	seq = htonl((uint32_t)sa->seq);
	data = (uint8_t *)rte_pktmbuf_append(m, sizeof(ip) + sizeof(icmp) + sizeof(sent) + 8);
	if (data == NULL)
		abort();
	header = data + sizeof(ip);
	memset(data, 0, rte_pktmbuf_data_len(m));
	ip.total_length = htons((uint16_t)rte_pktmbuf_data_len(m));
	memcpy(data, &ip, sizeof(ip));
	memcpy(header + sizeof(icmp), &sent, sizeof(sent));
	memcpy(header + sizeof(icmp) + sizeof(sent), &sa->spi, sizeof(sa->spi));
	memcpy(header + sizeof(icmp) + sizeof(sent) + sizeof(sa->spi), &seq, sizeof(seq));
	icmp.un.frag.mtu = htons(mtu);
	memcpy(header, &icmp, sizeof(icmp));
	icmp.checksum = (uint16_t)~rte_raw_cksum(header, sizeof(icmp) + sizeof(sent) + 8);
	memcpy(header, &icmp, sizeof(icmp));
	memset(packet(m), 0, sizeof(struct packet));
	return m;
}

static void lower_path_mtu(void)
{
	static uint16_t mtu = 576;
	struct rte_mbuf *m;
	struct headers h;

	if (--mtu < 576) {
		mtu = 1400;
		tunnels[1].out->path_mtu = 0;
	}
	m = too_big(mtu);
	h = headers_read(m);
	memset(w->too_big, 0, sizeof(w->too_big)); /* as if many workers had heard them */
	too_big_learn(w, m, &h);
	rte_pktmbuf_free(m);
	assert_int_equal(w->stats->too_big_ignored, 0);
}

static const struct {
	const char *name;
	void (*change)(void);
	unsigned int per_second;
} kinds[] = {
	{"neighbour", change_neighbour, CHANGES},
	{"rekeying", rekey_step, CHANGES *REKEY_STEPS},
	{"path-mtu", lower_path_mtu, CHANGES},
};

/* --- measuring --- */

/* @param change  NULL: none. @return packets a second */
static double run(void (*change)(void), unsigned int per_second, unsigned int ms)
{
	uint64_t hz = rte_get_tsc_hz(), took = 0, due = 0, packets = 0, one;

	while (took < hz / 1000 * ms) {
		if (change && took >= due) {
			change();
			due += hz / per_second;
		}
		one = burst();
		if (one > hz / 1000000 * PREEMPTED_US)
			continue;
		took += one;
		packets += BURST;
	}
	return (double)packets * (double)hz / (double)took;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double sorted(double *values, unsigned int index)
{
	qsort(values, ROUNDS, sizeof(values[0]), compare);
	return values[index];
}

static void measure(unsigned int kind)
{
	double without[ROUNDS], ratio[ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		run(NULL, 0, WARM_MS);
		without[i] = run(NULL, 0, ROUND_MS);
		ratio[i] = run(kinds[kind].change, kinds[kind].per_second, ROUND_MS) / without[i];
	}
	printf("%s,%u,%u,%u,%.3f,%.3f,%.3f,%.3f\n", kinds[kind].name, CHANGES, ntunnels,
	       ntunnels * nflows, sorted(without, ROUNDS / 2) / 1e6, sorted(ratio, ROUNDS / 2),
	       sorted(ratio, ROUNDS / 4), sorted(ratio, ROUNDS - 1 - ROUNDS / 4));
}

static void bench(void **state)
{
	(void)state;
	clock_now = 1000;
	gateway_open(w, esp_sas);
	for (unsigned int i = 0; i < ntunnels; i++)
		gateway_tunnel(&tunnels[i], &esp_gcm, 2 + i, false, false);
	write_frames();
	printf("change,per_second,tunnels,flows,without_mpps,ratio,ratio_low,ratio_high\n");
	for (unsigned int kind = 0; kind < RTE_DIM(kinds); kind++)
		measure(kind);
	gateway_close(w);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bench)};

	ntunnels = argc > 1 ? (unsigned int)atoi(argv[1]) : ntunnels;
	nflows = argc > 2 ? (unsigned int)atoi(argv[2]) : nflows;
	esp_sas = 2 * TUNNELS_MAX + 64;
	gateway_flows = 8 * ntunnels * nflows;
	if (ntunnels < 2 || ntunnels > TUNNELS_MAX || !nflows || esp_fixture_eal(argv[0]))
		return 1;
	pool = rte_pktmbuf_pool_create("frames", 1023, 0, PACKET_PRIVATE, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	return !pool || cmocka_run_group_tests(tests, gateway_start, gateway_stop);
}
