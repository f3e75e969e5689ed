/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meters of packets to the kernel, as ports and their queues change. */
#include <string.h>

#include <rte_cycles.h>

#include "base/settings.h"
#include "eal_fixture.h"
#include "host/interface.h"
#include "path/worker/police.h"
#include "path/worker/tx.h"

#define RATE  800u	  /* packets a second */
#define WHOLE (RATE / 2)  /* packets that a full meter passes at once */
#define SHARE (WHOLE / 2) /* the same, where two workers divide the rate */

static struct rte_mempool *pool;
static struct worker *w = &workers[0];

static int start(void **state)
{
	(void)state;
	pool = rte_pktmbuf_pool_create("packets", 8, 0, PACKET_PRIVATE, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	return pool ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	rte_mempool_free(pool);
	return 0;
}

/* Two workers and two ports of one queue. */
static int setup(void **state)
{
	(void)state;
	memset(stats, 0, sizeof(stats[0]));
	settings_police[POLICE_ICMP] = RATE;
	for (uint8_t i = 0; i < 3; i++) {
		interfaces[i].device = i;
		devices[i].queues = 1;
	}
	ninterfaces = 2;
	*w = (struct worker){.workers = 2, .packets = pool, .stats = &stats[0]};
	tx_init(w);
	police_init(w);
	/* No meter fills up during a test. */
	w->now = rte_get_tsc_cycles();
	return 0;
}

static int clean(void **state)
{
	(void)state;
	memset(interfaces, 0, 3 * sizeof(interfaces[0]));
	memset(devices, 0, 3 * sizeof(devices[0]));
	settings_police[POLICE_ICMP] = 0;
	ninterfaces = 0;
	return 0;
}

/* After a change, as a worker takes it over. */
static void look(void)
{
	tx_init(w);
	police_init(w);
}

/* @return how many packets of a port pass at once */
static unsigned int passing(uint8_t interface)
{
	unsigned int n = 0;
	bool passes;

	do {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		if (!m)
			return UINT32_MAX;
		memset(packet(m), 0, sizeof(struct packet));
		packet(m)->interface = interface;
		passes = police_passes(w, m, POLICE_ICMP, false);
		if (passes)
			rte_pktmbuf_free(m);
		n += passes;
	} while (passes && n < 10 * RATE);
	return n;
}

/* A change of something else does not fill the meters. */
static void unchanged(void **state)
{
	(void)state;
	assert_int_equal(passing(0), WHOLE);
	look();
	assert_int_equal(passing(0), 0);
	assert_int_equal(passing(1), WHOLE);
}

/* Between two looks of the worker a port was removed, and one with more queues was added in its place. */
static void other_queues(void **state)
{
	(void)state;
	assert_int_equal(passing(0), WHOLE);
	assert_int_equal(passing(1), WHOLE);
	devices[0].queues = 2;
	look();
	assert_int_equal(passing(0), SHARE);
	assert_int_equal(passing(1), 0);
	devices[0].queues = 1;
	look();
	assert_int_equal(passing(0), WHOLE);
}

/* The first packet of a port that is added may come before this worker has looked. */
static void added(void **state)
{
	(void)state;
	assert_int_equal(passing(0), WHOLE);
	ninterfaces = 3;
	devices[2].queues = 2;
	assert_int_equal(passing(2), WHOLE);
	look();
	assert_int_equal(passing(2), SHARE);
	assert_int_equal(passing(0), 0);
}

static void other_rate(void **state)
{
	(void)state;
	assert_int_equal(passing(0), WHOLE);
	settings_police[POLICE_ICMP] = 2 * RATE;
	look();
	assert_int_equal(passing(0), 2 * WHOLE);
	assert_int_equal(passing(1), 2 * WHOLE);
	settings_police[POLICE_ICMP] = 0;
	look();
	assert_int_equal(passing(0), 10 * RATE);
}

/* @return whether the TAP of interface 0 is to have a packet */
static bool is_taken(bool bulk)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	bool taken;

	assert_non_null(m);
	memset(packet(m), 0, sizeof(struct packet));
	packet(m)->bulk = bulk;
	tap_frame(w, m);
	taken = w->tap[0].n;
	if (taken)
		rte_pktmbuf_free(m);
	w->tap[0].n = 0;
	return taken;
}

/* While the kernel takes more than half of the worker's time, it gets no bulk, but the rest. */
static void busy_kernel(void **state)
{
	(void)state;
	assert_true(is_taken(true));
	w->tap_until = w->now + rte_get_tsc_hz();
	assert_false(is_taken(true));
	assert_int_equal(w->stats->drop[DROP_TAP_FULL], 1);
	assert_true(is_taken(false));
	w->now += rte_get_tsc_hz();
	assert_true(is_taken(true));
	w->now -= rte_get_tsc_hz();
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, clean)
	static const struct CMUnitTest tests[] = {
		TEST(unchanged),  TEST(other_queues), TEST(added),
		TEST(other_rate), TEST(busy_kernel),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}
