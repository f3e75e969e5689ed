/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several workers protect packets of one SA, which its owner has offered: they leave in the order of their numbers, each
 * number once, and the packets of a worker in the order in which it received them, also while workers join. In
 * one thread in random order, and in several (testing/tsan runs these under ThreadSanitizer). */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "base/sadb.h"
#include "gateway_fixture.h"
#include "host/interface.h"
#include "path/inbox.h"
#include "path/worker/handoff.h"
#include "path/worker/move.h"
#include "path/worker/owner.h"
#include "path/worker/send_order.h"
#include "path/worker/share.h"
#include "path/worker/tx.h"
#include "worker_fixture.h"

#define WORKERS		     3u
#define LEN		     100u
#define ETHER		     14u
#define UNDER_WAY	     40u /* packets of a receiver */
#define BURST_LEN	     8u
#define PACKETS		     1500u /* of a receiver */
#define ROUNDS		     20u
#define STEPS		     200000u /* of a round, more than are needed */
#define ROOM		     2048u
#define WINDOW		     4096u
#define ORDERS		     (SEND_PLACES / WINDOW)
#define ID(receiver, number) ((uint8_t)((number) << 2 | (receiver)))
#define FOREVER		     (UINT64_MAX / 2)
#define PORT		     (RTE_MAX_ETHPORTS - 1)

static struct tunnel tunnel;
static struct rte_mempool *buffers;
static bool ending, checks;	    /* ending is atomic */
static bool queued;		    /* packets are in a device's queue for some turns */
static unsigned int offered_behind; /* how often the SA was offered while packets of it were there */
static uint32_t left;		    /* frames that the port has sent; atomic */
static struct rte_mbuf *sent[16 * BURST_LEN]; /* without checks: what it has sent */
static unsigned int nsent;

/* Buffers of a receiver come back from the port: none is freed meanwhile, because ThreadSanitizer does not see
 * into the mempools. */
static struct receiver {
	struct rte_mbuf *idle[UNDER_WAY];
	unsigned int n_idle, received;
	unsigned int seen; /* packets that have left */
	struct rte_ring *back;
} receivers[WORKERS];

/* --- the port --- */

/* A frame that leaves is the next one of the SA, and of its receiver. */
static void check(struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, ETHER);
	unsigned int have = rte_pktmbuf_data_len(m) - ETHER;
	uint8_t text[PEER_TEXT_MAX], id;
	struct receiver *r;
	uint32_t seq;

	memcpy(&seq, ip + 24, sizeof(seq));
	if (rte_be_to_cpu_32(seq) != left + 1 ||
	    peer_open(&tunnel.peer, 0, ip + 20, have - 20, text) < (int)LEN)
		abort();
	id = (uint8_t)(text[LEN - 1] - 7 * (LEN - 1));
	r = &receivers[id & 3];
	if (id != ID(id & 3u, r->seen))
		abort();
	r->seen++;
	__atomic_store_n(&left, left + 1, __ATOMIC_RELEASE);
	if (rte_ring_mp_enqueue(r->back, m))
		abort();
}

/* One worker at a time sends by a queue, and here there is but one queue of the SA. */
static uint16_t leave(void *queue, struct rte_mbuf **m, uint16_t n)
{
	(void)queue;
	for (unsigned int i = 0; i < n; i++) {
		if (checks)
			check(m[i]);
		else
			sent[nsent++] = m[i];
	}
	return n;
}

static void open_port(void)
{
	static void *queues[WORKERS];

	devices[GATEWAY_WAN].queues = WORKERS;
	devices[GATEWAY_WAN].id = PORT;
	rte_eth_fp_ops[PORT].tx_pkt_burst = leave;
	rte_eth_fp_ops[PORT].txq.data = queues;
}

/* --- set-up --- */

static void open_worker(unsigned int id)
{
	gateway_open_thread(id, WORKERS, 8);
	workers[id].may_share = true;
	tx_init(&workers[id]);
}

static void open_receiver(unsigned int id)
{
	struct receiver *r = &receivers[id];
	char name[16];

	*r = (struct receiver){.n_idle = UNDER_WAY};
	assert_int_equal(rte_pktmbuf_alloc_bulk(buffers, r->idle, UNDER_WAY), 0);
	snprintf(name, sizeof(name), "back%u", id);
	r->back = rte_ring_create(name, rte_align32pow2(2 * UNDER_WAY), SOCKET_ID_ANY,
				  RING_F_SC_DEQ);
	assert_non_null(r->back);
}

static int setup(void **state)
{
	(void)state;
	open_port();
	assert_int_equal(send_orders_init(esp_sas, (struct send_bounds){WINDOW, 0}), 0);
	buffers = rte_pktmbuf_pool_create("buffers", WORKERS * UNDER_WAY, 0, PACKET_PRIVATE, ROOM,
					  SOCKET_ID_ANY);
	assert_true(buffers);
	for (unsigned int i = 0; i < WORKERS; i++) {
		open_worker(i);
		open_receiver(i);
	}
	send_wait = FOREVER;
	gateway_tunnel(&tunnel, &esp_gcm, 2, false, false);
	left = nsent = 0;
	ending = queued = false;
	checks = true;
	return 0;
}

static void take_back(struct receiver *r)
{
	r->n_idle += rte_ring_sc_dequeue_burst(r->back, (void **)(r->idle + r->n_idle),
					       UNDER_WAY - r->n_idle, NULL);
}

static void close_worker(unsigned int id)
{
	struct worker *w = &workers[id];
	struct rte_mempool *ops = w->crypto.ops;

	owner_drop(w);
	share_end(w);
	rte_ring_free(w->inbox);
	if (id) {
		cygnet_reader_offline(sadb, id);
		gateway_forget(w);
		sessions_free(w->sessions);
		fast_free(w);
	} else {
		gateway_close(w);
	}
	rte_mempool_free(ops);
	*w = (struct worker){0};
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned int i = WORKERS; i--;) {
		struct receiver *r = &receivers[i];

		take_back(r);
		rte_pktmbuf_free_bulk(r->idle, r->n_idle);
		rte_ring_free(r->back);
		close_worker(i);
	}
	rte_pktmbuf_free_bulk(sent, nsent);
	assert_int_equal(rte_mempool_in_use_count(buffers), 0);
	rte_mempool_free(buffers);
	send_orders_free();
	return 0;
}

/* --- turns --- */

static uint32_t slot(void)
{
	return cygnet_sa_index(sadb, tunnel.out);
}

static struct session *session_of(unsigned int worker)
{
	return session_peek(workers[worker].sessions, slot(), tunnel.out->generation);
}

static void receive(struct worker *w)
{
	struct receiver *r = &receivers[w->id];
	struct rte_mbuf *m[BURST_LEN];
	uint8_t ip[GATEWAY_FRAME];
	unsigned int n = 0;

	take_back(r);
	for (; n < BURST_LEN && r->n_idle && r->received < PACKETS; n++, r->received++) {
		uint8_t *frame;

		m[n] = r->idle[--r->n_idle];
		rte_pktmbuf_reset(m[n]);
		frame = (uint8_t *)rte_pktmbuf_append(m[n], ETHER + LEN);
		memcpy(frame, (uint8_t[]){2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 8, 0}, ETHER);
		gateway_inner(ip, &tunnel, false, true, LEN, ID(w->id, r->received), 64);
		memcpy(frame + ETHER, ip, LEN);
	}
	worker_receive(w, m, n, GATEWAY_LAN);
}

static void begin_turn(struct worker *w)
{
	const struct session *s = session_of(w->id);
	bool behind = s && !s->shared && s->in_flight;

	move_turn(w);
	share_turn(w);
	offered_behind += behind && s->shared;
	refresh_turn(w);
	__atomic_store_n(&w->stats->turns, w->stats->turns + 1, __ATOMIC_RELEASE);
	send_order_turn(w);
	inbox_poll(w);
}

static void end_turn(struct worker *w)
{
	if (!queued || rand() % 4 == 0)
		worker_poll(w);
	send_order_flush(w);
	tx_flush(w);
	handoff_flush(w);
}

static void turn(struct worker *w)
{
	begin_turn(w);
	receive(w);
	end_turn(w);
}

/* --- packets of several workers --- */

/* The turns of several workers overlap. */
static void advance(struct worker *w)
{
	static bool begun[WORKERS];
	struct session *s = session_of(w->id);

	if (s)
		s->by_queue = queued;
	if (begun[w->id]) {
		end_turn(w);
	} else {
		begin_turn(w);
		if (rand() % 2)
			receive(w);
	}
	begun[w->id] = !begun[w->id];
}

static void all_have_left(void)
{
	uint64_t encapsulated = 0, gaps = 0, shared = 0;

	assert_int_equal(left, WORKERS * PACKETS);
	for (unsigned int i = 0; i < WORKERS; i++) {
		assert_int_equal(receivers[i].seen, PACKETS);
		assert_in_range(stats[i].encapsulated, PACKETS / 2, 2 * PACKETS);
		encapsulated += stats[i].encapsulated;
		gaps += stats[i].order_gaps;
		shared += stats[i].sas_shared;
	}
	assert_int_equal(encapsulated, WORKERS * PACKETS);
	assert_int_equal(gaps, 0);
	assert_int_equal(shared, 1);
	assert_int_equal(tunnel.out->seq, WORKERS * PACKETS);
	assert_int_equal(tunnel.out->packets, WORKERS * PACKETS);
	assert_int_equal(tunnel.out->bytes, WORKERS * PACKETS * LEN);
}

static void play(unsigned int seed)
{
	srand(seed);
	for (unsigned int i = 0; i < STEPS && left < WORKERS * PACKETS; i++)
		advance(&workers[(unsigned int)rand() % WORKERS]);
	all_have_left();
}

static void at_random(void **state)
{
	for (unsigned int seed = 1; seed <= ROUNDS; seed++) {
		play(seed);
		teardown(state);
		setup(state);
	}
}

/* The SA is offered while packets of it are in the owner's queue. */
static void at_random_by_queue(void **state)
{
	for (unsigned int seed = 1; seed <= ROUNDS; seed++) {
		queued = true;
		play(seed);
		teardown(state);
		setup(state);
	}
	assert_in_range(offered_behind, ROUNDS / 2, ROUNDS);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (!__atomic_load_n(&ending, __ATOMIC_ACQUIRE)) {
		turn(w);
		cygnet_reader_quiescent(sadb, w->id);
		sched_yield();
	}
	return NULL;
}

static void in_threads(void **state)
{
	pthread_t thread[WORKERS];

	(void)state;
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, work, &workers[i]), 0);
	while (__atomic_load_n(&left, __ATOMIC_ACQUIRE) < WORKERS * PACKETS)
		sched_yield();
	__atomic_store_n(&ending, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	all_have_left();
}

/* --- an order --- */

/* All workers protect packets of the SA. */
static void have_all_join(void)
{
	while (!session_of(0) || !session_of(0)->shared || !session_of(1) || !session_of(2))
		for (unsigned int i = 0; i < WORKERS; i++)
			turn(&workers[i]);
	for (unsigned int i = 0; i < WORKERS; i++)
		while (workers[i].nwaiting)
			turn(&workers[i]);
	take_back(&receivers[2]);
	checks = false;
}

static struct rte_mbuf *frame(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(receivers[2].idle[0]->pool);

	if (!m)
		m = receivers[2].idle[--receivers[2].n_idle];
	rte_pktmbuf_reset(m);
	assert_non_null(rte_pktmbuf_append(m, 60));
	return m;
}

static void put(unsigned int worker, uint64_t seq)
{
	send_in_order(&workers[worker], frame(), GATEWAY_WAN, session_of(worker), seq);
	send_order_flush(&workers[worker]);
}

static uint64_t take_numbers(uint32_t n)
{
	uint64_t first;

	assert_int_equal(cygnet_sa_reserve_seq_shared(tunnel.out, n, &first), n);
	return first;
}

static void look_again(unsigned int worker)
{
	refresh_turn(&workers[worker]);
	send_order_turn(&workers[worker]);
}

/* A number that does not come holds later ones up for a while. The frame with it leaves whenever it comes. */
static void missing(void **state)
{
	uint64_t first;

	(void)state;
	have_all_join();
	first = take_numbers(5);
	put(0, first + 3);
	put(1, first + 1);
	put(2, first + 2);
	look_again(0);
	assert_int_equal(nsent, 0);
	assert_int_equal(workers[0].nwaiting, 1);
	send_wait = 0;
	look_again(0);
	assert_int_equal(nsent, 3);
	assert_int_equal(stats[0].order_gaps, 1);
	look_again(0);
	assert_int_equal(workers[0].nwaiting, 0);
	put(1, first);
	assert_int_equal(nsent, 4);
	/* Several that are missing are given up at once. */
	first = take_numbers(5);
	put(0, first + 4);
	look_again(0);
	assert_int_equal(nsent, 5);
	assert_int_equal(stats[0].order_gaps, 6); /* and one of before */
	put(1, first + 2);
	put(2, first);
	assert_int_equal(nsent, 7);
	first = take_numbers(1) - 4;
	/* One that is announced not to come holds up nothing. */
	send_wait = FOREVER;
	send_nothing(&workers[1], session_of(1), first + 4);
	send_order_flush(&workers[1]);
	put(2, take_numbers(1));
	assert_int_equal(nsent, 8);
	look_again(1);
	assert_int_equal(workers[1].nwaiting, 0);
}

/* What waits is bounded, in numbers and in SAs. */
static void too_many(void **state)
{
	struct worker *w = &workers[1];
	uint64_t first;

	(void)state;
	have_all_join();
	first = take_numbers(20000);
	put(0, first + 2);
	put(0, first + WINDOW - 1);
	assert_int_equal(nsent, 0);
	put(0, first + WINDOW); /* one is given up, and it fits */
	assert_int_equal(nsent, 0);
	assert_int_equal(stats[0].order_gaps, 1);
	put(0, first + WINDOW + 2); /* two more */
	assert_int_equal(nsent, 1);
	assert_int_equal(stats[0].order_gaps, 2);
	put(2, first + 1); /* late */
	assert_int_equal(nsent, 2);
	put(2, first + WINDOW + 1);
	assert_int_equal(nsent, 2);
	put(0, first + 10000);
	assert_int_equal(nsent, 6);
	w->nwaiting = FRAMES_WAITING;
	for (unsigned int i = 0; i < FRAMES_WAITING; i++)
		w->waiting[i].order = NULL;
	put(1, first + 10002);
	assert_int_equal(nsent, 8);
	w->nwaiting = 0;
}

/* A number that comes late does not stand in the place of one that is a window later, nor takes it away. */
static void late_behind_a_window(void **state)
{
	uint64_t first;

	(void)state;
	have_all_join();
	first = take_numbers(2 * WINDOW);
	put(0, first + 1);
	send_wait = 0;
	look_again(0);
	assert_int_equal(nsent, 1);
	send_wait = FOREVER;
	put(1, first + WINDOW);
	put(2, first);
	assert_int_equal(nsent, 2);
	for (unsigned int i = 2; i < WINDOW; i++)
		send_nothing(&workers[0], session_of(0), first + i);
	assert_int_equal(nsent, 2);
	send_order_flush(&workers[0]);
	for (unsigned int i = 0; workers[1].nwaiting; i++) {
		assert_in_range(i, 0, WINDOW);
		look_again(1);
	}
	assert_int_equal(nsent, 3);
	assert_int_equal(stats[0].order_gaps, 1);
}

static void put_cut(unsigned int worker, struct rte_mbuf **parts, uint64_t seq)
{
	for (unsigned int i = 0; i < 3; i++)
		parts[i] = frame();
	send_cut_in_order(&workers[worker], parts, 3, GATEWAY_WAN, session_of(worker), seq);
	send_order_flush(&workers[worker]);
}

/* The frames of a packet that was cut have the place of its number. */
static void cut(void **state)
{
	struct rte_mbuf *parts[3];
	uint64_t first;

	(void)state;
	have_all_join();
	first = take_numbers(5);
	put_cut(1, parts, first + 1);
	put(0, first + 2);
	assert_int_equal(nsent, 0);
	put(2, first);
	assert_int_equal(nsent, 5);
	for (unsigned int i = 0; i < 3; i++)
		assert_ptr_equal(sent[1 + i], parts[i]);
	send_wait = 0;
	put(0, first + 4);
	look_again(0); /* that those before have left */
	look_again(0);
	assert_int_equal(nsent, 6);
	put_cut(1, parts, first + 3); /* late */
	assert_int_equal(nsent, 9);
	assert_ptr_equal(sent[8], parts[2]);
}

/* A packet that is too long for its route leaves in parts, and those of one worker keep their order. */
static void too_long(void **state)
{
	struct session *s;
	uint64_t first;
	uint16_t last = 0;

	(void)state;
	have_all_join();
	first = take_numbers(1);
	s = session_of(1);
	s->by_queue = true; /* not by the path where all packets fit */
	s->route.mtu = 100;
	s->front.copy_df = false;
	workers[1].packets = buffers;
	rte_pktmbuf_free_bulk(receivers[2].idle, receivers[2].n_idle);
	receivers[2].n_idle = 0;
	turn(&workers[1]);
	assert_int_equal(nsent, 0);
	send_nothing(&workers[2], session_of(2), first);
	send_order_flush(&workers[2]);
	assert_int_equal(nsent, 2 * BURST_LEN);
	for (unsigned int i = 0; i < nsent; i++) {
		const struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(sent[i], void *, ETHER);

		assert_int_equal(rte_be_to_cpu_16(ip->fragment_offset) > 0x1fff, i % 2 == 0);
		assert_true(i % 2 || i == 0 || ip->packet_id != last);
		last = ip->packet_id;
	}
}

/* An order ends with the last session. Whose session is released has no frame that waits. */
static void ends(void **state)
{
	struct send_order *order;
	uint64_t first;

	(void)state;
	have_all_join();
	first = take_numbers(3);
	put(0, first + 1);
	for (unsigned int i = 0; i < WORKERS; i++) {
		assert_true(send_order_exists(slot()));
		assert_true(session_leave(workers[i].sessions, slot()));
	}
	assert_int_equal(nsent, 1);
	assert_false(send_order_exists(slot()));
	assert_null(send_order_join(slot(), tunnel.out->generation));
	assert_int_equal(workers[0].nwaiting, 0);
	/* That of an SA is not another one's. */
	order = send_order_begin(slot(), 7, 1, 0);
	assert_non_null(order);
	assert_null(send_order_join(slot(), 8));
	assert_ptr_equal(send_order_join(slot(), 7), order);
	send_order_leave(&workers[0], order);
	send_order_leave(&workers[1], order);
	assert_false(send_order_exists(slot()));
}

/* There are only so many. */
static void no_order_left(void **state)
{
	struct send_order *orders[ORDERS];

	(void)state;
	for (unsigned int i = 0; i < ORDERS; i++)
		assert_non_null(orders[i] = send_order_begin(i % esp_sas, 1000 + i, 1, 0));
	assert_null(send_order_begin(0, 1, 1, 0));
	send_order_leave(&workers[0], orders[5]);
	assert_ptr_equal(send_order_begin(0, 1, 1, 0), orders[5]);
	for (unsigned int i = 0; i < ORDERS; i++)
		send_order_leave(&workers[0], orders[i]);
}

/* --- an SA --- */

/* Without a free session a worker hands off. */
static void no_session(void **state)
{
	struct cygnet_sa other = *tunnel.out;
	struct session *s;

	(void)state;
	for (uint32_t i = esp_sas; sessions_have_free(workers[2].sessions);)
		assert_int_equal(session_get(workers[2].sessions, &other, --i, true, &s),
				 DROP_NONE);
	for (unsigned int i = 0; i < STEPS && left < WORKERS * PACKETS; i++)
		turn(&workers[i % WORKERS]);
	assert_int_equal(left, WORKERS * PACKETS);
	assert_int_equal(stats[2].encapsulated, 0);
	assert_true(session_of(0)->shared && session_of(1)->shared);
}

/* A shared SA stays with its owner. */
static void stays(void **state)
{
	(void)state;
	have_all_join();
	checks = true;
	assert_true(move_begin(slot(), 1));
	for (unsigned int i = 0; i < STEPS && left < WORKERS * PACKETS; i++)
		turn(&workers[i % WORKERS]);
	assert_int_equal(left, WORKERS * PACKETS);
	assert_false(move_is_under_way());
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(stats[i].sas_moved, 0);
}

/* A packet that waits before its stages when the session that its worker shared goes to the owner. */
static void released_meanwhile(void **state)
{
	struct worker *w = &workers[1];
	struct rte_mbuf *m;
	uint64_t before;

	(void)state;
	have_all_join();
	m = frame();
	packet_begin(m, GATEWAY_LAN, w->seen);
	packet(m)->sa = slot();
	packet(m)->generation = tunnel.out->generation;
	assert_true(share_has_joined(w, m));
	stage_add(&w->stages, STAGE_FIT, m);
	assert_true(session_leave(w->sessions, slot()));
	assert_true(share_strays(w, m));
	before = stats[1].handed_off;
	dispatch(w);
	handoff_flush(w);
	assert_int_equal(stats[1].handed_off, before + 1);
	assert_null(session_of(1));
	assert_int_equal(rte_ring_dequeue(workers[0].inbox, (void **)&m), 0);
	rte_pktmbuf_free(m);
}

/* While an SA moves to a worker, its packets are kept there, also if the worker has shared the SA until just now. */
static void kept_while_moving(void **state)
{
	struct worker *w = &workers[1];
	struct rte_mbuf *m;

	(void)state;
	have_all_join();
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_true(session_leave(workers[i].sessions, slot()));
	m = frame();
	packet_begin(m, GATEWAY_LAN, w->seen);
	packet(m)->sa = slot();
	packet(m)->generation = tunnel.out->generation;
	stage_add(&w->stages, STAGE_FIT, m);
	assert_true(move_begin(slot(), 1));
	move_turn(w);		/* keep */
	move_turn(&workers[0]); /* switch: the other one has not finished */
	assert_int_equal(owner_of(w, m), 1);
	dispatch(w);
	assert_null(session_of(1));
	assert_int_equal(w->nkept, 1);
	move_cancel();
}

/* Packets of one worker cost no atomic operation, and neither do a few of others. */
static void alone(void **state)
{
	(void)state;
	while (left < PACKETS)
		turn(&workers[0]);
	for (unsigned int i = 0; i < SHARE_FROM / BURST_LEN / 2; i++) {
		turn(&workers[1]);
		begin_turn(&workers[0]);
		end_turn(&workers[0]);
	}
	assert_true(left > PACKETS);
	assert_false(session_of(0)->shared);
	assert_null(session_of(1));
	assert_int_equal(stats[0].sas_shared, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(at_random),
		TEST(at_random_by_queue),
		TEST(in_threads),
		TEST(missing),
		TEST(too_many),
		TEST(cut),
		TEST(too_long),
		TEST(ends),
		TEST(no_order_left),
		TEST(no_session),
		TEST(stays),
		TEST(alone),
		TEST(released_meanwhile),
		TEST(late_behind_a_window),
		TEST(kept_while_moving),
	};

	(void)argc;
	/* A queue pair of each device for each worker. */
	esp_crypto_cores = WORKERS - 1;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, gateway_start, gateway_stop);
}
