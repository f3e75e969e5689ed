/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports that do not accept all packets (DPDK's net_ring of small size), and neighbours that do
 * not answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "base/sadb.h"
#include "eal_fixture.h"
#include "host/interface.h"
#include "host/neigh.h"
#include "path/worker/handoff.h"
#include "path/worker/neigh_wait.h"
#include "path/worker/tx.h"
#include "path/worker/worker.h"

#define ROOM	32u /* of a ring, of which it uses one less */
#define LENGTH	100u
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

static int open_sadb(void)
{
	const struct cygnet_geometry geometry = {16, 16};
	char folder[] = "/tmp/cygnet-test-transmit-XXXXXX", path[sizeof(folder) + 8];
	int err;

	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/sadb", folder);
	err = cygnet_db_open_flags(path, &geometry, CYGNET_OPEN_ON_DISK, &sadb, NULL, 0);
	unlink(path);
	rmdir(folder);
	return err;
}

static int start(void **state)
{
	(void)state;
	if (open_sadb())
		return -1;
	pool = rte_pktmbuf_pool_create("packets", PACKETS, 0, PACKET_PRIVATE,
				       RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!pool)
		return -1;
	wire = start_port("wire", &interface_device(&interfaces[0])->id);
	tap = start_port("tap", &interfaces[0].tap.id);
	interface_device(&interfaces[0])->queues = 1;
	interfaces[0].mtu = 1500;
	interfaces[0].up = true;
	ninterfaces = 1;
	return wire && tap ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	rte_eth_dev_stop(interface_device(&interfaces[0])->id);
	rte_eth_dev_close(interface_device(&interfaces[0])->id);
	rte_eth_dev_stop(interfaces[0].tap.id);
	rte_eth_dev_close(interfaces[0].tap.id);
	ninterfaces = 0;
	rte_ring_free(wire);
	rte_ring_free(tap);
	rte_mempool_free(pool);
	cygnet_db_close(sadb);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memset(stats, 0, 2 * sizeof(stats[0]));
	*w = (struct worker){.workers = 1, .packets = pool, .stats = &stats[0]};
	tx_init(w);
	return 0;
}

/* No leaks: packets that are not in a ring are back in the mempool. */
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
	for (unsigned int i = 0; i < ROOM + 8; i++) {
		m = frame();
		packet(m)->interface = 1; /* came in by another one */
		tx_frame(w, m, 0);
	}
	tx_flush(w);
	assert_int_equal(w->stats->drop[DROP_TX_FULL], 9);
	/* A capture of the drop has shown the interface by which it was to leave. */
	assert_int_equal(packet(m)->interface, 0);
	assert_int_equal(w->stats->interface[0].tx_packets, ROOM - 1);
	assert_int_equal(w->stats->interface[0].tx_bytes, (ROOM - 1) * LENGTH);
	assert_int_equal(rte_ring_count(wire), ROOM - 1);
	/* The ring has room again. */
	assert_int_equal(rte_ring_dequeue(wire, (void **)&m), 0);
	rte_pktmbuf_free(m);
	tx_frame(w, frame(), 0);
	tx_flush(w);
	assert_int_equal(w->stats->drop[DROP_TX_FULL], 9);
	assert_int_equal(w->stats->interface[0].tx_packets, ROOM);
}

static void full_tap(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ROOM + 8; i++)
		tap_frame(w, frame());
	tx_flush(w);
	assert_int_equal(w->stats->drop[DROP_TAP_FULL], 9);
	assert_int_equal(w->stats->drop[DROP_TX_FULL], 0);
	assert_int_equal(w->stats->interface[0].to_kernel, ROOM - 1);
	assert_int_equal(rte_ring_count(tap), ROOM - 1);
}

static unsigned int slow_us; /* that the kernel takes for a batch */

static uint16_t be_slow(uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n, void *arg)
{
	(void)port;
	(void)queue;
	(void)m;
	(void)arg;
	rte_delay_us_block(slow_us);
	return n;
}

/* @return frames that the kernel has got */
static uint64_t give(bool bulk)
{
	uint64_t before = w->stats->interface[0].to_kernel;
	struct rte_mbuf *m = frame();

	packet(m)->bulk = bulk;
	tap_frame(w, m);
	tx_flush(w);
	return w->stats->interface[0].to_kernel - before;
}

/* The time that the kernel takes counts twice, and at most a four-hundredth of a second of it for each batch. Once that
 * is a hundredth of a second ahead of the clock, bulk is dropped until the clock has come after. */
static void slow_tap(void **state)
{
	const struct rte_eth_rxtx_callback *callback;
	uint64_t second = rte_get_tsc_hz();

	(void)state;
	callback = rte_eth_add_tx_callback(interfaces[0].tap.id, 0, be_slow, NULL);
	assert_non_null(callback);
	w->now = rte_rdtsc();
	slow_us = 20000;
	for (unsigned int batch = 1; batch <= 2; batch++) {
		assert_int_equal(give(true), 1);
		assert_int_equal(w->tap_until - w->now, batch * (second / 400 * 2));
	}
	slow_us = 1000;
	assert_int_equal(give(true), 1);
	assert_in_range(w->tap_until - w->now, second / 100 + second / 500,
			second / 100 + second / 200);
	assert_int_equal(give(true), 0);
	assert_int_equal(w->stats->drop[DROP_TAP_FULL], 1);
	assert_int_equal(give(false), 1);
	/* The clock comes after. */
	w->now = w->tap_until - second / 100;
	assert_int_equal(give(true), 1);
	/* Time in which the TAP was idle is not saved. */
	slow_us = 0;
	w->now += 10 * second;
	assert_int_equal(give(true), 1);
	assert_in_range(w->tap_until - w->now, 1, second / 200);
	assert_int_equal(rte_eth_remove_tx_callback(interfaces[0].tap.id, 0, callback), 0);
}

/* The kernel takes nothing from a TAP that is down. */
static void tap_is_down(void **state)
{
	(void)state;
	interfaces[0].up = false;
	for (unsigned int i = 0; i < ROOM + 8; i++)
		tap_frame(w, frame());
	tx_flush(w);
	interfaces[0].up = true;
	assert_int_equal(w->stats->drop[DROP_TAP_DOWN], 9);
	assert_int_equal(w->stats->drop[DROP_TAP_FULL], 0);
}

/* Packets for a port that has been removed are transmitted neither to its device nor to its TAP. */
static void removed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		tx_frame(w, frame(), 0);
	tap_frame(w, frame());
	interfaces[0].removed = true;
	tx_init(w);
	tx_flush(w);
	assert_int_equal(w->stats->drop[DROP_PORT_REMOVED], 4);
	assert_int_equal(w->stats->interface[0].tx_packets, 0);
	assert_int_equal(rte_ring_count(wire) + rte_ring_count(tap), 0);
	interfaces[0].removed = false;
	tx_init(w);
	tx_frame(w, frame(), 0);
	tx_flush(w);
	assert_int_equal(w->stats->interface[0].tx_packets, 1);
}

/* Another worker has seen a port that was added in this turn of this worker, and hands off frames of it. */
static void just_added(void **state)
{
	(void)state;
	interfaces[0].removed = true;
	tx_init(w);
	interfaces[0].removed = false;
	tx_frame(w, frame(), 0);
	tx_flush(w);
	assert_int_equal(w->stats->drop[DROP_PORT_REMOVED], 0);
	assert_int_equal(w->stats->interface[0].tx_packets, 1);
	interfaces[0].removed = true;
	tx_init(w);
	interfaces[0].removed = false;
	tap_frame(w, frame());
	tx_flush(w);
	assert_int_equal(w->stats->drop[DROP_PORT_REMOVED], 0);
	assert_int_equal(w->stats->interface[0].to_kernel, 1);
}

/* An interface that lies on no device has a TAP, but sends no frame. */
static void on_no_device(void **state)
{
	(void)state;
	interfaces[0].device = DEVICE_NONE;
	tx_init(w);
	assert_int_equal(w->devices, 0);
	tx_frame(w, frame(), 0);
	tap_frame(w, frame());
	tx_flush(w);
	assert_int_equal(w->stats->drop[DROP_PORT_REMOVED], 1);
	assert_int_equal(w->stats->interface[0].tx_packets, 0);
	assert_int_equal(w->stats->interface[0].to_kernel, 1);
	interfaces[0].device = 0;
	tx_init(w);
}

/* The device of a frame's port has been closed, and another one has got its place: the frame does not leave by that. */
static void another_device(void **state)
{
	(void)state;
	tx_frame(w, frame(), 0);
	interfaces[0].device = 1;
	tx_flush(w);
	assert_int_equal(w->stats->drop[DROP_PORT_REMOVED], 1);
	assert_int_equal(rte_ring_count(wire), 0);
	interfaces[0].device = 0;
}

/* A full batch is transmitted without tx_flush(). */
static void whole_batches(void **state)
{
	unsigned int batch = RTE_DIM(w->tx[0].m);

	(void)state;
	for (unsigned int i = 0; i < batch; i++)
		tx_frame(w, frame(), 0);
	assert_int_equal(w->tx[0].n, 0);
	assert_int_equal(w->stats->interface[0].tx_packets, ROOM - 1);
	assert_int_equal(w->stats->drop[DROP_TX_FULL], batch - (ROOM - 1));
}

/* Frames for a TAP that another worker serves, which is busy. */
static void full_inbox(void **state)
{
	struct worker *other = &workers[1];
	struct rte_mbuf *m;

	(void)state;
	*other = (struct worker){.id = 1,
				 .workers = 2,
				 .packets = pool,
				 .stats = &stats[1],
				 .present = 1};
	w->inbox = rte_ring_create("inbox", ROOM, SOCKET_ID_ANY, 0);
	assert_non_null(w->inbox);
	for (unsigned int i = 0; i < ROOM + 8; i++)
		tap_frame(other, frame());
	handoff_flush(other);
	assert_int_equal(other->stats->drop[DROP_HANDOFF_FULL], 9);
	assert_int_equal(other->stats->handed_off, ROOM - 1);
	while (rte_ring_dequeue(w->inbox, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(w->inbox);
}

static struct neigh neighbour(uint8_t last)
{
	const uint8_t addr[4] = {10, 1, 0, last};
	struct neigh neigh = {.af = AF_INET};

	memcpy(&neigh.addr, addr, sizeof(addr));
	return neigh;
}

/* A numbered IPv4 packet that waits for a neighbour. */
static void wait_for(const struct neigh *neigh, uint8_t number)
{
	struct rte_mbuf *m = frame();
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);

	memset(ip, 0, LENGTH);
	ip[0] = 0x45;
	ip[1] = number;
	neigh_wait_add(w, m, neigh);
}

/* Check that transmitted packets are for that MAC address and numbered from 0 on. */
static void expect_sent(const struct rte_ether_addr *mac, unsigned int n)
{
	struct rte_mbuf *m = NULL;

	tx_flush(w);
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *eth;

		assert_int_equal(rte_ring_dequeue(wire, (void **)&m), 0);
		eth = rte_pktmbuf_mtod(m, uint8_t *);
		assert_memory_equal(eth, mac, sizeof(*mac));
		assert_int_equal(eth[sizeof(struct rte_ether_hdr) + 1], i);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(rte_ring_count(wire), 0);
}

/* Packets waiting for several neighbours. When a neighbour answers, its packets leave in order,
 * independent of others. An iteration alone does not look for answers. */
static void neighbours(void **state)
{
	const struct neigh dead = neighbour(1), slow = neighbour(2), here = neighbour(3);
	const struct rte_ether_addr slow_mac = {{2, 0, 0, 0, 0, 2}},
				    here_mac = {{2, 0, 0, 0, 0, 3}};
	struct rte_ether_addr mac;

	(void)state;
	assert_int_equal(neighs_init(), 0);
	for (unsigned int i = 0; i < NEIGH_WAIT_PACKETS + 3; i++)
		wait_for(&dead, (uint8_t)i);
	assert_int_equal(w->stats->drop[DROP_NO_NEIGHBOUR], 3);
	for (uint8_t i = 0; i < 5; i++) {
		wait_for(&slow, i);
		wait_for(&here, i);
	}
	assert_int_equal(w->neigh_wait.n, 3);
	neigh_set(&here, &here_mac, false);
	neigh_wait_expire(w);
	expect_sent(&here_mac, 0);
	neigh_wait_retry(w);
	expect_sent(&here_mac, 5);
	neigh_set(&slow, &slow_mac, false);
	assert_true(neigh_wait_resolve(w, &slow, &mac));
	assert_memory_equal(&mac, &slow_mac, sizeof(mac));
	expect_sent(&slow_mac, 5);
	assert_int_equal(w->neigh_wait.n, 1);
	assert_false(neigh_wait_resolve(w, &dead, &mac));
	assert_int_equal(w->neigh_wait.n, 1);
	assert_int_equal(w->stats->drop[DROP_NO_NEIGHBOUR], 3);
	neigh_wait_drop(w);
	assert_int_equal(w->neigh_wait.n, 0);
	assert_int_equal(w->stats->drop[DROP_NO_NEIGHBOUR], NEIGH_WAIT_PACKETS + 3);
	neighs_free();
}

static void expect_waiting(unsigned int neighbours, uint64_t dropped)
{
	neigh_wait_expire(w);
	assert_int_equal(w->neigh_wait.n, neighbours);
	assert_int_equal(w->stats->drop[DROP_NO_NEIGHBOUR], dropped);
}

/* Longer than the time in which the kernel repeats its question, from the first waiting packet of a
 * neighbour on. Then all packets waiting for that neighbour are dropped, but no others. */
static void overdue(void **state)
{
	const struct rte_ether_addr mac = {{2, 0, 0, 0, 0, 3}};
	const uint64_t second = rte_get_tsc_hz(), begin = 1000 * second;
	struct neigh neigh[4];

	(void)state;
	assert_int_equal(neighs_init(), 0);
	for (uint8_t i = 0; i < RTE_DIM(neigh); i++) {
		neigh[i] = neighbour(i);
		w->now = begin + i / 2 * second;
		wait_for(&neigh[i], 0);
		wait_for(&neigh[0], (uint8_t)(i + 1));
	}
	w->now = begin + 2 * second;
	expect_waiting(4, 0);
	w->now = begin + 3 * second - 1;
	expect_waiting(4, 0);
	w->now = begin + 3 * second;
	expect_waiting(2, 5 + 1);
	/* Packets whose time is not over still wait. */
	neigh_set(&neigh[3], &mac, false);
	neigh_wait_retry(w);
	expect_sent(&mac, 1);
	wait_for(&neigh[2], 1);
	w->now = begin + 4 * second - 1;
	expect_waiting(1, 6);
	w->now = begin + 4 * second;
	expect_waiting(0, 8);
	neighs_free();
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(full_wire),     TEST(full_tap),   TEST(slow_tap),	   TEST(tap_is_down),
		TEST(removed),	     TEST(just_added), TEST(on_no_device), TEST(another_device),
		TEST(whole_batches), TEST(full_inbox), TEST(neighbours),   TEST(overdue),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}
