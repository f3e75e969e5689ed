/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three workers, each in a thread, that hand packets off to each other while SAs move between them: every packet leaves
 * once and in order. test-owner has the same in one thread and in every order; this one is for ThreadSanitizer
 * (testing/tsan), which sees the rings, the steps of a move and what workers read of each other. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <rte_ring.h>

#include "base/sadb.h"
#include "gateway_fixture.h"
#include "host/interface.h"
#include "path/inbox.h"
#include "path/worker/handoff.h"
#include "path/worker/move.h"
#include "path/worker/owner.h"
#include "worker_fixture.h"

#define WORKERS	  3u
#define LEN	  100u
#define ETHER	  14u
#define UNDER_WAY 48u /* packets of a direction: all of them fit into the worker's tx at once */
#define BURST_LEN 8u
#define PACKETS	  5000u
#define MOVES	  40u
#define ROOM	  2048u

/* A direction of the tunnel. Packets come in at one worker, which has all their buffers, and leave at the one that sends
 * by the port; that one gives the buffers back by a ring. No buffer is freed meanwhile: ThreadSanitizer does not see into
 * the mempools, and would take a buffer's next use for a race. */
static struct direction {
	unsigned int receiver, port;
	unsigned int wire_len;
	uint8_t (*wire)[ETHER + 2 * LEN]; /* PACKETS packets */
	struct rte_mbuf *idle[UNDER_WAY];
	unsigned int n_idle;   /* the receiver's */
	unsigned int received; /* likewise */
	unsigned int left;     /* of the sender; atomic */
	struct rte_ring *back;
} out = {.receiver = 0, .port = GATEWAY_WAN}, in = {.receiver = 1, .port = GATEWAY_LAN};

static struct tunnel tunnel;
static struct rte_mempool *buffers;
static bool ending; /* atomic */

/* --- packets --- */

static void make_wire(struct direction *d)
{
	static const uint8_t macs[2][12] = {{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1},
					    {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 1, 2}};

	d->wire = calloc(PACKETS, sizeof(*d->wire));
	assert_non_null(d->wire);
	for (unsigned int i = 0; i < PACKETS; i++) {
		uint8_t *frame = d->wire[i];

		memcpy(frame, macs[d == &out ? GATEWAY_LAN : GATEWAY_WAN], 12);
		frame[12] = 8;
		if (d == &in)
			d->wire_len = gateway_sealed(frame + ETHER, &tunnel, false, LEN, i, i + 1);
		else
			gateway_inner(frame + ETHER, &tunnel, false, true, LEN, i, 64);
		if (d == &out)
			d->wire_len = LEN;
	}
}

static struct rte_mbuf *packet_of(struct direction *d)
{
	struct rte_mbuf *m = d->idle[--d->n_idle];

	rte_pktmbuf_reset(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)(ETHER + d->wire_len)), d->wire[d->received++],
	       ETHER + d->wire_len);
	return m;
}

static void take_back(struct direction *d)
{
	d->n_idle += rte_ring_sc_dequeue_burst(d->back, (void **)(d->idle + d->n_idle),
					       UNDER_WAY - d->n_idle, NULL);
}

static void receive(struct worker *w, struct direction *d)
{
	struct rte_mbuf *m[BURST_LEN];
	unsigned int n = 0;

	take_back(d);
	while (n < BURST_LEN && d->n_idle && d->received < PACKETS)
		m[n++] = packet_of(d);
	worker_receive(w, m, n, d == &in ? GATEWAY_WAN : GATEWAY_LAN);
}

/* The number that the packet has: in ESP's header, or the id that gateway_inner() wrote. */
static void check(const struct direction *d, struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, ETHER);
	uint32_t seq;

	memcpy(&seq, ip + 24, sizeof(seq));
	if (d == &out && rte_be_to_cpu_32(seq) != d->left + 1)
		abort();
	if (d == &in && (uint8_t)(ip[LEN - 1] - 7 * (LEN - 1)) != (uint8_t)d->left)
		abort();
}

/* Packets that have left are the next ones. */
static void collect(struct worker *w, struct direction *d)
{
	struct mbuf_batch *tx = &w->tx[d->port];

	for (unsigned int i = 0; i < tx->n; i++) {
		check(d, tx->m[i]);
		__atomic_store_n(&d->left, d->left + 1, __ATOMIC_RELEASE);
	}
	if (rte_ring_mp_enqueue_burst(d->back, (void **)tx->m, tx->n, NULL) != tx->n)
		abort();
	tx->n = 0;
}

/* --- workers --- */

static void turn(struct worker *w)
{
	move_turn(w);
	refresh_turn(w);
	__atomic_store_n(&w->stats->turns, w->stats->turns + 1, __ATOMIC_RELEASE);
	inbox_poll(w);
	if (w->id == out.receiver)
		receive(w, &out);
	if (w->id == in.receiver)
		receive(w, &in);
	worker_poll(w);
	handoff_flush(w);
	if (w->tx[out.port].n)
		collect(w, &out);
	if (w->tx[in.port].n)
		collect(w, &in);
	cygnet_reader_quiescent(sadb, w->id);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (!__atomic_load_n(&ending, __ATOMIC_ACQUIRE)) {
		turn(w);
		sched_yield();
	}
	return NULL;
}

static void open_direction(struct direction *d, const char *name)
{
	make_wire(d);
	d->n_idle = UNDER_WAY;
	assert_int_equal(rte_pktmbuf_alloc_bulk(buffers, d->idle, UNDER_WAY), 0);
	d->back = rte_ring_create(name, rte_align32pow2(2 * UNDER_WAY), SOCKET_ID_ANY,
				  RING_F_SC_DEQ);
	assert_non_null(d->back);
}

static void close_direction(struct direction *d)
{
	take_back(d);
	assert_int_equal(d->n_idle, UNDER_WAY);
	rte_pktmbuf_free_bulk(d->idle, UNDER_WAY);
	rte_ring_free(d->back);
	free(d->wire);
}

static void close_worker(unsigned int id)
{
	struct worker *w = &workers[id];
	struct rte_mempool *ops = w->crypto.ops;

	assert_int_equal(rte_ring_count(w->inbox), 0);
	rte_ring_free(w->inbox);
	if (id) {
		cygnet_reader_offline(sadb, id);
		sessions_free(w->sessions);
		fast_free(w);
	} else {
		gateway_close(w);
	}
	rte_mempool_free(ops);
}

static bool has_left(const struct direction *d)
{
	return __atomic_load_n(&d->left, __ATOMIC_ACQUIRE) == PACKETS;
}

/* The control thread's part: moves, one after the other, until all packets have left. */
static unsigned int move_sas(void)
{
	unsigned int moves = 0;

	while (!has_left(&out) || !has_left(&in) || move_is_under_way() || moves < MOVES) {
		const struct cygnet_sa *sa = moves & 1 ? tunnel.out : tunnel.in;

		moves += move_begin(cygnet_sa_index(sadb, sa), (unsigned int)rand() % WORKERS);
		sched_yield();
	}
	return moves;
}

static void handoff_and_moves(void **state)
{
	unsigned int moves, moved = 0;
	pthread_t thread[WORKERS];

	(void)state;
	buffers = rte_pktmbuf_pool_create("buffers", 2 * UNDER_WAY, 0, PACKET_PRIVATE, ROOM,
					  SOCKET_ID_ANY);
	assert_non_null(buffers);
	for (unsigned int i = 0; i < WORKERS; i++)
		gateway_open_thread(i, WORKERS, 16);
	gateway_tunnel(&tunnel, &esp_gcm, 2, false, false);
	open_direction(&out, "back-out");
	open_direction(&in, "back-in");
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, work, &workers[i]), 0);
	moves = move_sas();
	__atomic_store_n(&ending, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < WORKERS; i++) {
		pthread_join(thread[i], NULL);
		moved += (unsigned int)stats[i].sas_moved;
	}
	assert_int_equal(moved, moves);
	close_direction(&out);
	close_direction(&in);
	for (unsigned int i = WORKERS; i--;)
		close_worker(i);
	rte_mempool_free(buffers);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(handoff_and_moves)};

	(void)argc;
	/* A queue pair of each device for each worker. */
	esp_crypto_cores = WORKERS - 1;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, gateway_start, gateway_stop);
}
