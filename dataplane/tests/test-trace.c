/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace passes the stages and leaves no mark: not in SAs near their limits, not in the counters of
 * a worker, and not in the next trace. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/event.h"
#include "base/sadb.h"
#include "gateway_fixture.h"
#include "host/interface.h"
#include "path/trace.h"
#include "path/worker/owner.h"

#define OUT "src 10.1.0.1 dst 10.2.0.1"

static struct worker *w = &workers[0];
static struct tunnel t;

static int start(void **state)
{
	int err = gateway_start(state);

	strcpy(interfaces[GATEWAY_LAN].name, "lan");
	strcpy(interfaces[GATEWAY_WAN].name, "wan");
	return err;
}

static int setup(void **state)
{
	(void)state;
	gateway_open(w, 8);
	gateway_tunnel(&t, &esp_algorithms[0], 2, true, false);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	interfaces[GATEWAY_WAN].mtu = GATEWAY_MTU;
	gateway_close(w);
	return 0;
}

static const struct trace *ask(const char *text)
{
	struct trace_flow flow;
	char error[128];

	assert_int_equal(trace_flow_parse(&flow, text, error, sizeof(error)), 0);
	return trace_run(&flow);
}

/* @param reason  DROP_NONE: none */
static void expect(const char *text, const char *verdict, enum drop_reason reason)
{
	const struct trace *trace = ask(text);

	assert_string_equal(trace->verdict, verdict);
	assert_int_equal(trace->reason, reason);
}

/* ESP of the tunnel, with a packet in it. */
static const char *inbound(void)
{
	static char text[128];

	snprintf(text, sizeof(text), "spi %u dst 192.0.2.1 inner src 10.2.0.1 dst 10.1.0.1",
		 rte_be_to_cpu_32(t.in->spi));
	return text;
}

static void expect_unmarked(const char *text, struct cygnet_sa *sa, const char *verdict,
			    enum drop_reason reason)
{
	const struct cygnet_sa before = *sa;
	const struct stats counted = *w->stats;
	struct cygnet_event event;

	for (unsigned int i = 0; i < 3; i++)
		expect(text, verdict, reason);
	assert_memory_equal(sa, &before, sizeof(before));
	assert_memory_equal(w->stats, &counted, sizeof(counted));
	events_post();
	assert_int_not_equal(cygnet_event_wait(sadb, &event, 0), 0);
}

static void usual(void **state)
{
	(void)state;
	expect_unmarked(OUT, t.out, "sent", DROP_NONE);
	expect_unmarked(inbound(), t.in, "sent", DROP_NONE);
}

/* The soft limit is reached, but not reported. */
static void soft_limit(void **state)
{
	(void)state;
	t.out->lifetime.soft_packets = t.in->lifetime.soft_packets = 5;
	t.out->packets = t.in->packets = 5;
	expect_unmarked(OUT, t.out, "sent", DROP_NONE);
	expect_unmarked(inbound(), t.in, "sent", DROP_NONE);
}

static void hard_limit(void **state)
{
	(void)state;
	t.out->lifetime.hard_bytes = t.in->lifetime.hard_bytes = 1000;
	t.out->bytes = t.in->bytes = 1000;
	expect_unmarked(OUT, t.out, "dropped", DROP_SA_EXPIRED);
	expect_unmarked(inbound(), t.in, "dropped", DROP_SA_EXPIRED);
}

static void last_number(void **state)
{
	(void)state;
	t.out->seq = UINT64_MAX - 1;
	expect_unmarked(OUT, t.out, "sent", DROP_NONE);
	t.out->seq = UINT64_MAX;
	expect_unmarked(OUT, t.out, "dropped", DROP_SEQ_EXHAUSTED);
}

/* An SA of another worker is as good as one's own. */
static void moved(void **state)
{
	(void)state;
	sa_owners[cygnet_sa_index(sadb, t.out)] = OWNED_BY(t.out->generation, 2);
	sa_owners[cygnet_sa_index(sadb, t.in)] = OWNED_BY(t.in->generation, 2);
	expect_unmarked(OUT, t.out, "sent", DROP_NONE);
	expect_unmarked(inbound(), t.in, "sent", DROP_NONE);
}

/* The longest packet, and the longest one with protection around it. */
static void longest(void **state)
{
	(void)state;
	expect_unmarked(OUT " size 64000", t.out, "sent", DROP_NONE);
	expect_unmarked(OUT " size 64000 df yes", t.out, "dropped", DROP_TOO_BIG);
	interfaces[GATEWAY_WAN].mtu = UINT16_MAX;
	expect_unmarked(OUT " size 64000", t.out, "sent", DROP_NONE);
}

/* Neither parts of a key nor a nonce are in what is left. */
static void wiped(void **state)
{
	static const struct session no_session;
	static const struct cygnet_sa no_sa;
	const struct trace *trace;

	(void)state;
	trace = ask(OUT);
	assert_memory_equal(&trace->sa, &no_sa, sizeof(no_sa));
	assert_memory_equal(&trace->session, &no_session, sizeof(no_session));
}

static void expect_wrong(const char *text, const char *want)
{
	struct trace_flow flow;
	char error[128];

	assert_int_equal(trace_flow_parse(&flow, text, error, sizeof(error)), -EINVAL);
	assert_string_equal(error, want);
}

/* Protocol 0 is not what is taken where none is given. */
static void protocol(void **state)
{
	struct trace_flow flow;
	char error[128];

	(void)state;
	assert_int_equal(trace_flow_parse(&flow, OUT " proto 0", error, sizeof(error)), 0);
	assert_int_equal(flow.packet.proto, 0);
	assert_int_equal(trace_flow_parse(&flow, OUT, error, sizeof(error)), 0);
	assert_int_equal(flow.packet.proto, IPPROTO_UDP);
	expect_unmarked(OUT " proto 0", t.out, "sent", DROP_NONE);
	expect_wrong("spi 1 dst 192.0.2.1 proto 0", "with spi, proto is esp or ah");
}

/* Only ESP goes in UDP. */
static void encapsulation(void **state)
{
	static const char wrong[] = "encap: udp is for spi with proto esp";

	(void)state;
	expect_wrong("spi 1 dst 192.0.2.1 proto ah encap udp", wrong);
	expect_wrong("spi 1 dst 192.0.2.1 encap udp proto ah", wrong);
	expect_wrong(OUT " encap udp", wrong);
	ask("spi 1 dst 192.0.2.1 encap udp");
	ask("spi 1 dst 192.0.2.1 proto ah encap none");
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, clean)
	const struct CMUnitTest tests[] = {
		TEST(usual),   TEST(soft_limit), TEST(hard_limit), TEST(last_number),	TEST(moved),
		TEST(longest), TEST(wiped),	 TEST(protocol),   TEST(encapsulation),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests_name("trace", tests, start, gateway_stop);
}
