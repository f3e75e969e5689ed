/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports that do not take all they are given: DPDK's net_ring, with room for a few. */
#include <string.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "eal_fixture.h"
#include "neigh.h"
#include "pipeline.h"
#include "port.h"

#define ROOM 32u /* of a ring, less one that it does not use */
#define LENGTH 100u
#define PACKETS 512u

static struct rte_mempool *pool;
static struct rte_ring *wire, *tap;
static struct worker *w = &workers[0];

static struct rte_ring *start_port(const char *name, uint16_t *id)
{
	struct rte_ring *ring = rte_ring_create(name, ROOM, SOCKET_ID_ANY, 0);
	const struct rte_eth_conf conf = {0};
	int made = ring ? rte_eth_from_ring(ring) : -1;

	if (made < 0)
		return NULL;
	*id = (uint16_t)made;
	if (rte_eth_dev_configure(*id, 1, 1, &conf) ||
	    rte_eth_rx_queue_setup(*id, 0, ROOM, 0, NULL, pool) ||
	    rte_eth_tx_queue_setup(*id, 0, ROOM, 0, NULL) || rte_eth_dev_start(*id))
		return NULL;
	return ring;
}

static int start(void **state)
{
	(void)state;
	pool = rte_pktmbuf_pool_create("packets", PACKETS, 0, PACKET_PRIVATE,
				       RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!pool)
		return -1;
	wire = start_port("wire", &ports[0].id);
	tap = start_port("tap", &ports[0].tap_id);
	ports[0].queues = 1;
	ports[0].mtu = 1500;
	nports = 1;
	return wire && tap ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	rte_eth_dev_stop(ports[0].id);
	rte_eth_dev_close(ports[0].id);
	rte_eth_dev_stop(ports[0].tap_id);
	rte_eth_dev_close(ports[0].tap_id);
	nports = 0;
	rte_ring_free(wire);
	rte_ring_free(tap);
	rte_mempool_free(pool);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memset(stats, 0, 2 * sizeof(stats[0]));
	*w = (struct worker){.workers = 1, .packets = pool, .stats = &stats[0]};
	return 0;
}

/* Nothing leaks: what is not in a ring has gone back to the pool. */
static int teardown(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	while (rte_ring_dequeue(wire, (void **)&m) == 0 || rte_ring_dequeue(tap, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_avail_count(pool), PACKETS);
	return 0;
}

static struct rte_mbuf *frame(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	assert_non_null(rte_pktmbuf_append(m, LENGTH));
	memset(packet(m), 0, sizeof(struct packet));
	return m;
}

static void full_wire(void **state)
{
	struct rte_mbuf *m = NULL;

	(void)state;
	for (unsigned int i = 0; i < ROOM + 8; i++)
		transmit_frame(w, frame());
	transmit_flush(w);
	assert_int_equal(w->stats->drop[DROP_TX_FULL], 9);
	assert_int_equal(w->stats->port[0].tx_packets, ROOM - 1);
	assert_int_equal(w->stats->port[0].tx_bytes, (ROOM - 1) * LENGTH);
	assert_int_equal(rte_ring_count(wire), ROOM - 1);
	/* There is room again. */
	assert_int_equal(rte_ring_dequeue(wire, (void **)&m), 0);
	rte_pktmbuf_free(m);
	transmit_frame(w, frame());
	transmit_flush(w);
	assert_int_equal(w->stats->drop[DROP_TX_FULL], 9);
	assert_int_equal(w->stats->port[0].tx_packets, ROOM);
}

static void full_tap(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ROOM + 8; i++)
		transmit_to_kernel(w, frame());
	transmit_flush(w);
	assert_int_equal(w->stats->drop[DROP_TAP_FULL], 9);
	assert_int_equal(w->stats->drop[DROP_TX_FULL], 0);
	assert_int_equal(w->stats->port[0].to_kernel, ROOM - 1);
	assert_int_equal(rte_ring_count(tap), ROOM - 1);
}

/* A batch that is full does not wait for transmit_flush(). */
static void whole_batches(void **state)
{
	unsigned int batch = RTE_DIM(w->tx[0].m);

	(void)state;
	for (unsigned int i = 0; i < batch; i++)
		transmit_frame(w, frame());
	assert_int_equal(w->tx[0].n, 0);
	assert_int_equal(w->stats->port[0].tx_packets, ROOM - 1);
	assert_int_equal(w->stats->drop[DROP_TX_FULL], batch - (ROOM - 1));
}

/* Frames of a TAP that another worker serves, and that has no time. */
static void full_inbox(void **state)
{
	struct worker *other = &workers[1];
	struct rte_mbuf *m;

	(void)state;
	*other = (struct worker){.id = 1, .workers = 2, .packets = pool, .stats = &stats[1]};
	w->inbox = rte_ring_create("inbox", ROOM, SOCKET_ID_ANY, 0);
	assert_non_null(w->inbox);
	for (unsigned int i = 0; i < ROOM + 8; i++)
		transmit_to_kernel(other, frame());
	handover_flush(other);
	assert_int_equal(other->stats->drop[DROP_HANDOVER_FULL], 9);
	assert_int_equal(other->stats->handed_over, ROOM - 1);
	while (rte_ring_dequeue(w->inbox, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(w->inbox);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(full_wire), TEST(full_tap), TEST(whole_batches), TEST(full_inbox),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, stop);
}
