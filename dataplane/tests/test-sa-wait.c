/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets waiting until charon has negotiated an SA: how long they wait, and the acquires that
 * charon gets. There are no routes, so a protected packet is dropped for that reason. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/sadb.h"
#include "esp_fixture.h"
#include "host/route.h"
#include "path/sa_wait.h"
#include "path/worker/policy.h"
#include "path/worker/worker.h"
#include "worker_fixture.h"

#define REQID 42

static struct worker *w = &workers[0];

/* The selectors of the packet of send_packet(). Charon narrows the SA to them. */
static const struct cygnet_flow sent = {
	.src = {.bytes = {192, 0, 2, 2}},
	.dst = {.bytes = {192, 0, 2, 1}},
	.sport = 0xb4bb,
	.dport = 0xc2c9,
	.af = AF_INET,
	.proto = IPPROTO_UDP,
	.has_ports = 1,
};

static int start(void **state)
{
	if (esp_fixture_start(state) || routes_init(1, 64) || events_init())
		return -1;
	esp_worker(w);
	return 0;
}

static int finish(void **state)
{
	routes_free();
	events_free();
	return esp_fixture_stop(state);
}

/* The initial state, in another second. */
static int clean(void **state)
{
	struct cygnet_event event;

	sa_wait_drop(w);
	clock_now += 100;
	memset(w->stats, 0, sizeof(*w->stats));
	events_post();
	while (cygnet_event_wait(sadb, &event, 0) == 0)
		events_post();
	return esp_fixture_clean(state);
}

/* A policy for all packets. Without an SA it is a trap. */
static struct cygnet_policy_params all_out(const struct cygnet_sa *sa)
{
	struct cygnet_policy_params policy = {
		.sel = {.sport_hi = UINT16_MAX, .dport_hi = UINT16_MAX, .af = AF_INET},
		.reqid = REQID,
		.spi = sa ? sa->spi : 0,
		.dir = CYGNET_OUT,
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
		.mode = CYGNET_TUNNEL,
		.af = AF_INET,
	};

	if (sa)
		policy.dst = cygnet_sa_path(sa)->dst;
	policy.sel.src_hi.v4 = UINT32_MAX;
	policy.sel.dst_hi.v4 = UINT32_MAX;
	return policy;
}

static struct cygnet_policy_params trap(void)
{
	struct cygnet_policy_params policy = all_out(NULL);

	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	return policy;
}

static void trap6(void)
{
	struct cygnet_policy_params policy = all_out(NULL);

	policy.sel.af = AF_INET6;
	memset(&policy.sel.src_hi, 0xff, sizeof(policy.sel.src_hi));
	memset(&policy.sel.dst_hi, 0xff, sizeof(policy.sel.dst_hi));
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
}

static void send_inner(const uint8_t *inner, unsigned int len)
{
	struct rte_mbuf *m = esp_packet(inner, len, RTE_PKTMBUF_HEADROOM, RTE_PKTMBUF_HEADROOM);

	packet(m)->from_kernel = 1;
	packet(m)->stage = STAGE_OUTBOUND;
	worker_pass(w, m);
}

static void send_packet(void)
{
	uint8_t inner[40];

	peer_packet(inner, sizeof(inner), 0, false);
	send_inner(inner, sizeof(inner));
}

static void pass_second(void)
{
	clock_now++;
	sa_wait_retry(w);
	dispatch_stages(w);
}

static void assert_flow(const struct cygnet_flow *flow, const struct cygnet_flow *wanted)
{
	assert_int_equal(flow->af, wanted->af);
	assert_memory_equal(&flow->src, &wanted->src, sizeof(flow->src));
	assert_memory_equal(&flow->dst, &wanted->dst, sizeof(flow->dst));
	assert_int_equal(flow->proto, wanted->proto);
	assert_int_equal(flow->has_ports, wanted->has_ports);
	assert_int_equal(flow->sport, wanted->sport);
	assert_int_equal(flow->dport, wanted->dport);
}

/* @return number of acquires with these selectors; there are no others */
static unsigned int acquires_of(const struct cygnet_flow *wanted)
{
	struct cygnet_event event;
	unsigned int n = 0;

	events_post();
	while (cygnet_event_wait(sadb, &event, 0) == 0) {
		assert_int_equal(event.type, CYGNET_EVENT_ACQUIRE);
		assert_int_equal(event.reqid, REQID);
		assert_flow(&event.flow, wanted);
		n++;
		events_post();
	}
	return n;
}

static unsigned int acquires(void)
{
	return acquires_of(&sent);
}

static void waits_so_long(void **state)
{
	(void)state;
	trap();
	send_packet();
	for (unsigned int i = 1; i < SA_WAIT_SECONDS; i++)
		pass_second();
	assert_int_equal(w->sa_wait.n, 1);
	send_packet();
	pass_second();
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(w->stats->drop[DROP_NO_SA_IN_TIME], 1);
	assert_int_equal(w->stats->waited_for_sa, 2);
}

/* Charon was killed, and its successor holds the policies: neither waiting packets nor later ones leave,
 * and charon is not asked. */
static void not_for_held_policies(void **state)
{
	(void)state;
	trap();
	send_packet();
	assert_int_equal(acquires(), 1);
	assert_int_equal(cygnet_db_hold(sadb), 0);
	pass_second();
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(w->stats->drop[DROP_POLICY_HELD], 1);
	send_packet();
	assert_int_equal(w->stats->drop[DROP_POLICY_HELD], 2);
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(acquires(), 0);
	/* The new charon's policy has an SA at once. */
	trap();
	send_packet();
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(acquires(), 1);
}

static void asked_once_a_second(void **state)
{
	(void)state;
	trap();
	for (unsigned int i = 0; i < 10; i++)
		send_packet();
	assert_int_equal(acquires(), 1);
	pass_second();
	pass_second();
	assert_int_equal(acquires(), 0);
	send_packet();
	send_packet();
	assert_int_equal(acquires(), 1);
}

/* An acquire has the selectors of its packet, of each protocol. For a protocol without ports it
 * says so. */
static void asked_for_that_packet(void **state)
{
	static const struct {
		uint8_t proto, start[4], has_ports;
		uint16_t sport, dport;
	} cases[] = {
		{IPPROTO_UDP, {0x0f, 0xa0, 0x00, 0x09}, 1, 4000, 9},
		{IPPROTO_TCP, {0x9c, 0x40, 0x00, 0x50}, 1, 40000, 80},
		{IPPROTO_ICMP, {8, 0, 0, 0}, 1, 8, 0},
		{IPPROTO_ICMP, {13, 3, 0, 0}, 1, 13, 3},
		{IPPROTO_GRE, {0x0f, 0xa0, 0x00, 0x09}, 0, 0, 0},
	};

	(void)state;
	trap();
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cygnet_flow wanted = sent;
		uint8_t inner[40] = {0};

		wanted.proto = cases[i].proto;
		wanted.has_ports = cases[i].has_ports;
		wanted.sport = cases[i].sport;
		wanted.dport = cases[i].dport;
		peer_ip(inner, 0, sizeof(inner), (uint16_t)i, 0, cases[i].proto);
		memcpy(inner + 20, cases[i].start, sizeof(cases[i].start));
		send_inner(inner, sizeof(inner));
		assert_int_equal(acquires_of(&wanted), 1);
		pass_second();
	}
}

/* The same for IPv6: whole addresses, and the L4 header behind extension headers. */
static void asked_for_that_packet6(void **state)
{
	static const struct {
		uint8_t next, behind[16], proto, has_ports;
		uint16_t sport, dport;
	} cases[] = {
		{IPPROTO_UDP, {0x0f, 0xa0, 0x00, 0x09}, IPPROTO_UDP, 1, 4000, 9},
		{IPPROTO_TCP, {0x9c, 0x40, 0x00, 0x50}, IPPROTO_TCP, 1, 40000, 80},
		{IPPROTO_ICMPV6, {128, 0, 0, 0}, IPPROTO_ICMPV6, 1, 128, 0},
		{IPPROTO_ICMPV6, {1, 4, 0, 0}, IPPROTO_ICMPV6, 1, 1, 4},
		{IPPROTO_GRE, {0x0f, 0xa0, 0x00, 0x09}, IPPROTO_GRE, 0, 0, 0},
		{IPPROTO_ICMP, {8, 1, 0, 0}, IPPROTO_ICMP, 0, 0, 0},
		{IPPROTO_DSTOPTS, {IPPROTO_UDP, 0, 1, 4, 0, 0, 0, 0, 0x0f, 0xa0, 0x00, 0x09},
		 IPPROTO_UDP, 1, 4000, 9},
	};

	(void)state;
	trap6();
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t inner[40 + 16] = {0x60, [5] = 16, [6] = cases[i].next, [7] = 64};
		struct cygnet_flow wanted = {
			.sport = cases[i].sport,
			.dport = cases[i].dport,
			.af = AF_INET6,
			.proto = cases[i].proto,
			.has_ports = cases[i].has_ports,
		};

		assert_int_equal(inet_pton(AF_INET6, "2001:db8:1::1234:5678", &wanted.src), 1);
		assert_int_equal(inet_pton(AF_INET6, "2001:db8:2::9abc:def0", &wanted.dst), 1);
		memcpy(inner + 8, &wanted.src, 16);
		memcpy(inner + 24, &wanted.dst, 16);
		memcpy(inner + 40, cases[i].behind, sizeof(cases[i].behind));
		send_inner(inner, sizeof(inner));
		assert_int_equal(acquires_of(&wanted), 1);
		pass_second();
	}
}

/* The event queue is full, because charon is busy. */
static void asked_again(void **state)
{
	const struct cygnet_event another = {
		.type = CYGNET_EVENT_ACQUIRE,
		.reqid = REQID,
		.flow = sent,
	};
	unsigned int full = 0;

	(void)state;
	while (event_raise(&another))
		full++;
	trap();
	/* A waiting packet that should have caused an acquire is replaced by another one. */
	for (unsigned int i = 0; i < SA_WAIT_PER_POLICY + 1; i++)
		send_packet();
	pass_second();
	assert_int_equal(acquires(), full);
	pass_second();
	assert_int_equal(acquires(), 1);
	pass_second();
	assert_int_equal(acquires(), 0);
	assert_int_equal(w->sa_wait.n, SA_WAIT_PER_POLICY);
}

/* The policy was used within this second, but no packet waited, so there was no acquire. */
static void sa_just_gone(void **state)
{
	struct cygnet_policy_params policy;
	struct esp_sa e;

	(void)state;
	esp_sa_any(&e, &esp_algorithms[0], 0);
	policy = all_out(e.sa);
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	send_packet();
	esp_worker_finish(w);
	assert_int_equal(w->stats->drop[DROP_NO_ROUTE], 1);
	esp_sa_delete(&e);
	send_packet();
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(acquires(), 0);
	pass_second();
	assert_int_equal(acquires(), 1);
}

/* A policy with an SA is installed beside the trap: waiting packets leave before later ones. */
static void sa_comes(void **state)
{
	struct cygnet_policy_params policy;
	struct esp_sa e;

	(void)state;
	trap();
	for (unsigned int i = 0; i < 5; i++)
		send_packet();
	esp_sa_any(&e, &esp_algorithms[0], 0);
	sa_wait_retry(w);
	assert_int_equal(w->sa_wait.n, 5);
	policy = all_out(e.sa);
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	send_packet();
	esp_worker_finish(w);
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(w->stats->encapsulated, 6);
	assert_int_equal(w->stats->waited_for_sa, 5);
	esp_sa_delete(&e);
}

static void policy_goes(void **state)
{
	struct cygnet_policy_params policy;

	(void)state;
	policy = trap();
	send_packet();
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	sa_wait_retry(w);
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(w->stats->drop[DROP_POLICY_GONE], 1);
	/* Another policy replaces it. The packet belongs to the first one; charon gets acquires
	 * of both. */
	policy = trap();
	send_packet();
	assert_int_equal(acquires(), 2);
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	policy.priority++;
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	sa_wait_retry(w);
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(acquires(), 1);
}

static void dropped_at_the_end(void **state)
{
	(void)state;
	trap();
	for (unsigned int i = 0; i < 3; i++)
		send_packet();
	sa_wait_drop(w);
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(w->stats->drop[DROP_NO_SA], 3);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_teardown(name, clean)
	const struct CMUnitTest tests[] = {
		TEST(waits_so_long),
		TEST(not_for_held_policies),
		TEST(asked_once_a_second),
		TEST(asked_for_that_packet),
		TEST(asked_for_that_packet6),
		TEST(asked_again),
		TEST(sa_just_gone),
		TEST(sa_comes),
		TEST(policy_goes),
		TEST(dropped_at_the_end),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	clock_now = 1000;
	return cmocka_run_group_tests_name("sa-wait", tests, start, finish);
}
