/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Path MTU of an SA reported by routers: how long and how often it is accepted, and how much of
 * the packet a router has to quote. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <string.h>

#include "base/changes.h"
#include "base/clock.h"
#include "esp/path_mtu.h"
#include "esp_fixture.h"
#include "ip/headers.h"
#include "path/too_big.h"
#include "path/worker/worker.h"

#define LINK 1500u
#define SENT 1450u	/* the packet that was too big, bytes */
#define AROUND (sizeof(struct rte_ipv4_hdr) + sizeof(struct icmphdr))
#define NEEDED (sizeof(struct rte_ipv4_hdr) + sizeof(uint32_t))

static struct worker *w = &workers[0];
static struct esp_sa e;

static int start(void **state)
{
	if (esp_fixture_start(state))
		return -1;
	*w = (struct worker){.workers = 1, .packets = esp_packets, .stats = &stats[0]};
	return 0;
}

static int setup(void **state)
{
	(void)state;
	clock_now += 10000;
	memset(w->stats, 0, sizeof(*w->stats));
	esp_sa_any(&e, &esp_algorithms[0], 0);
	return 0;
}

static int clean(void **state)
{
	return esp_fixture_clean(state);
}

/* The error about a packet of the SA that quotes so many bytes of it. */
static struct rte_mbuf *too_big(uint16_t mtu, unsigned int quoted)
{
	const struct cygnet_path *path = cygnet_sa_path(e.sa);
	uint8_t bytes[AROUND + sizeof(struct rte_ipv4_hdr) + 8] = {0};
	struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = htons((uint16_t)(AROUND + quoted)),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_ICMP,
		.dst_addr = path->src.v4,
	};
	const struct rte_ipv4_hdr sent = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = htons(SENT),
		.time_to_live = 1,
		.next_proto_id = IPPROTO_ESP,
		.src_addr = path->src.v4,
		.dst_addr = path->dst.v4,
	};
	struct icmphdr icmp = {.type = ICMP_DEST_UNREACH, .code = ICMP_FRAG_NEEDED};
	uint8_t *quote = bytes + AROUND;

	memcpy(bytes, &ip, sizeof(ip));
	memcpy(quote, &sent, sizeof(sent));
	memcpy(quote + sizeof(sent), &e.sa->spi, sizeof(e.sa->spi));
	icmp.un.frag.mtu = htons(mtu);
	memcpy(bytes + sizeof(ip), &icmp, sizeof(icmp));
	icmp.checksum = (uint16_t)~rte_raw_cksum(bytes + sizeof(ip), sizeof(icmp) + quoted);
	memcpy(bytes + sizeof(ip), &icmp, sizeof(icmp));
	return esp_packet(bytes, (unsigned int)AROUND + quoted, 0, 0);
}

static void hear(uint16_t mtu, unsigned int quoted)
{
	struct rte_mbuf *m = too_big(mtu, quoted);
	struct headers h = headers_read(m);

	too_big_learn(w, m, &h);
	rte_pktmbuf_free(m);
}

static void forgotten(void **state)
{
	(void)state;
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
	hear(1400, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), 1400);
	clock_now += PATH_MTU_FORGET - 1;
	assert_int_equal(path_mtu(e.sa, LINK), 1400);
	clock_now++;
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
	/* The path MTU may have grown meanwhile. */
	hear(1420, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), 1420);
	/* A time in the future is ignored. */
	clock_now -= 5;
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
}

static void only_down(void **state)
{
	(void)state;
	hear(1400, NEEDED);
	clock_now += PATH_MTU_FORGET - 1;
	hear(1420, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), 1400);
	hear(1400, NEEDED); /* repeated: holds for the full time again */
	clock_now += PATH_MTU_FORGET - 1;
	assert_int_equal(path_mtu(e.sa, LINK), 1400);
	hear(576, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), 576);
	/* The link now has the smallest MTU. */
	assert_int_equal(path_mtu(e.sa, 570), 570);
	assert_int_equal(w->stats->too_big_ignored, 0);
}

/* Flows of all workers are invalidated only if the path MTU changes. */
static void noted(void **state)
{
	uint64_t seen = changes_seen();

	(void)state;
	hear(1400, NEEDED);
	assert_int_equal(changes_seen(), seen + 1);
	clock_now += PATH_MTU_FORGET - 1;
	hear(1400, NEEDED);
	hear(1420, NEEDED);
	assert_int_equal(changes_seen(), seen + 1);
	hear(1300, NEEDED);
	assert_int_equal(changes_seen(), seen + 2);
	clock_now += PATH_MTU_FORGET;
	hear(1300, NEEDED); /* the path MTU had been aged out */
	assert_int_equal(changes_seen(), seen + 3);
}

static void implausible(void **state)
{
	static const uint16_t mtus[] = {0, 1, 68, 575, SENT, SENT + 1, UINT16_MAX};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(mtus); i++)
		hear(mtus[i], NEEDED);
	assert_int_equal(w->stats->too_big_ignored, RTE_DIM(mtus));
	assert_int_equal(e.sa->path_mtu, 0);
	hear(SENT - 1, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), SENT - 1);
	/* Implausible values that another process wrote into the file are ignored. */
	e.sa->path_mtu = 100ull << PATH_MTU_SHIFT | clock_now;
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
	e.sa->path_mtu = 9000ull << PATH_MTU_SHIFT | clock_now;
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
}

static void each_length(void **state)
{
	(void)state;
	for (unsigned int quoted = 0; quoted < NEEDED; quoted++) {
		hear(1400, quoted);
		assert_int_equal(w->stats->too_big_ignored, quoted + 1);
	}
	assert_int_equal(e.sa->path_mtu, 0);
	hear(1400, NEEDED);
	assert_int_equal(w->stats->too_big_learned, 1);
}

static void limited(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		hear(1, NEEDED);
	hear(1400, NEEDED);
	assert_int_equal(w->stats->too_big_ignored, 101);
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
	clock_now++;
	hear(1400, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), 1400);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, clean)
	const struct CMUnitTest tests[] = {
		TEST(forgotten),
		TEST(only_down),
		TEST(noted),
		TEST(implausible),
		TEST(each_length),
		TEST(limited),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests_name("path-mtu", tests, start, esp_fixture_stop);
}
