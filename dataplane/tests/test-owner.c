/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SAs that move between workers under traffic: workers take their turns in random order, packets arrive at
 * workers that may or may not own their SA, and SAs move at random. Every packet leaves once, in order, and
 * no sequence number is used twice. */
#include <stdlib.h>
#include <string.h>

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
#define SLOTS	  300u /* of the tests that need no SAD */
#define LEN	  100u
#define UNDER_WAY 48u /* packets of a direction: all of them fit into the worker's tx at once */
#define PACKETS	  300u
#define ROUNDS	  40u
#define STEPS	  100000u /* of a round, more than are needed */

static struct tunnel tunnel;

/* A direction of the tunnel: its packets come in at one worker and leave by one port. */
static struct direction {
	unsigned int receiver, port;
	unsigned int sent, left;
} out = {.receiver = 0, .port = GATEWAY_WAN}, in = {.receiver = 1, .port = GATEWAY_LAN};

static int setup(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < WORKERS; i++)
		gateway_open_one(i, WORKERS, 16);
	gateway_tunnel(&tunnel, &esp_algorithms[esp_algorithm_count - 1], 2, false, false);
	out.sent = out.left = in.sent = in.left = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	owners_reset(SLOTS);
	for (unsigned int i = WORKERS; i--;) {
		rte_ring_free(workers[i].inbox);
		if (i) {
			sessions_free(workers[i].sessions);
			fast_free(&workers[i]);
		} else {
			gateway_close(&workers[i]);
		}
		workers[i] = (struct worker){0};
	}
	return 0;
}

/* The owner of an SA of which a worker has received a packet. @param from  the last byte of its source */
static unsigned int owner_by(unsigned int asks, uint32_t sa, uint32_t generation, uint8_t from)
{
	struct rte_mbuf *m = gateway_frame((uint8_t[20]){0x45, 0}, 20, GATEWAY_WAN);
	unsigned int owner;

	rte_pktmbuf_adj(m, 14);
	packet_begin(m, GATEWAY_WAN, 1);
	packet(m)->sa = sa;
	packet(m)->generation = generation;
	packet(m)->src = cygnet_sa_path(tunnel.in)->src;
	((uint8_t *)&packet(m)->src)[3] = from;
	owner = owner_of(&workers[asks], m);
	rte_pktmbuf_free(m);
	return owner;
}

#define PEER 2 /* 192.0.2.2 */

static unsigned int owner_for(unsigned int asks, uint32_t sa, uint32_t generation)
{
	return owner_by(asks, sa, generation, PEER);
}

/* Packets that have left are the next ones. */
static void collect(struct direction *d)
{
	/* The port's queue is that worker's. */
	struct mbuf_batch *tx = &workers[d->port].tx[d->port];

	for (unsigned int i = 0; i < tx->n; i++, d->left++) {
		if (d == &out)
			gateway_check_out(tx->m[i], &tunnel, false, LEN, d->left, d->left + 1);
		else
			gateway_check_in(tx->m[i], &tunnel, false, LEN, d->left);
	}
	rte_pktmbuf_free_bulk(tx->m, tx->n);
	tx->n = 0;
}

static void begin_turn(struct worker *w)
{
	move_turn(w);
	refresh_turn(w);
	w->stats->turns++;
}

static void end_turn(struct worker *w)
{
	worker_poll(w);
	handoff_flush(w);
	collect(&out);
	collect(&in);
}

static void turn(struct worker *w)
{
	begin_turn(w);
	inbox_poll(w);
	end_turn(w);
}

static struct rte_mbuf *packet_of(const struct direction *d)
{
	uint8_t ip[GATEWAY_FRAME];

	if (d == &in)
		return gateway_frame(ip,
				     gateway_sealed(ip, &tunnel, false, LEN, d->sent, d->sent + 1),
				     GATEWAY_WAN);
	gateway_inner(ip, &tunnel, false, true, LEN, d->sent, 64);
	return gateway_frame(ip, LEN, GATEWAY_LAN);
}

static void receive(struct direction *d)
{
	struct worker *w = &workers[d->receiver];
	struct rte_mbuf *m[8];
	unsigned int n = 0;

	for (; n < RTE_DIM(m) && d->sent < PACKETS && d->sent - d->left < UNDER_WAY; n++, d->sent++)
		m[n] = packet_of(d);
	worker_receive(w, m, n, d == &in ? GATEWAY_WAN : GATEWAY_LAN);
}

static void receive_in_turn(struct direction *d)
{
	receive(d);
	turn(&workers[d->receiver]);
}

/* The turns of several workers overlap: each has begun one and ends it after steps of others. Not in every
 * turn are all packets taken out of the inbox. */
static void advance(struct worker *w)
{
	static bool begun[WORKERS];

	if (begun[w->id]) {
		end_turn(w);
	} else {
		begin_turn(w);
		if (rand() % 2)
			inbox_poll(w);
	}
	begun[w->id] = !begun[w->id];
}

static void start_move(void)
{
	const struct cygnet_sa *sa = rand() % 2 ? tunnel.out : tunnel.in;

	move_begin(cygnet_sa_index(sadb, sa), (unsigned int)rand() % WORKERS);
}

static void step(void)
{
	switch (rand() % 8) {
	case 0:
		receive(&out);
		break;
	case 1:
		receive(&in);
		break;
	case 2:
		start_move();
		break;
	default:
		advance(&workers[(unsigned int)rand() % WORKERS]);
	}
}

static uint64_t sum_moved(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < WORKERS; i++)
		sum += stats[i].sas_moved;
	return sum;
}

static void run(unsigned int seed)
{
	srand(seed);
	for (unsigned int i = 0; i < STEPS && (out.left < PACKETS || in.left < PACKETS); i++)
		step();
	for (unsigned int i = 0; i < 10 * WORKERS; i++)
		turn(&workers[i % WORKERS]);
	assert_false(move_is_under_way());
	assert_int_equal(out.left, PACKETS);
	assert_int_equal(in.left, PACKETS);
	assert_true(sum_moved() > 3);
}

static void at_random(void **state)
{
	for (unsigned int seed = 1; seed <= ROUNDS; seed++) {
		run(seed);
		teardown(state);
		setup(state);
	}
}

/* The old owner releases its session, and the new one takes over the known flow. */
static void known_flow(void **state)
{
	uint32_t sa = cygnet_sa_index(sadb, tunnel.out);
	unsigned int from = owner_for(0, sa, tunnel.out->generation), to = (from + 1) % WORKERS;
	uint64_t known;

	(void)state;
	out.receiver = to;
	for (unsigned int i = 0; i < 2; i++)
		for (receive_in_turn(&out); out.left < out.sent;)
			turn(&workers[i ? from : 0]), turn(&workers[from]), turn(&workers[to]);
	assert_non_null(session_peek(workers[from].sessions, sa, tunnel.out->generation));
	assert_true(move_begin(sa, to));
	assert_false(move_begin(sa, from)); /* one at a time */
	for (unsigned int i = 0; i < 10 * WORKERS; i++)
		turn(&workers[i % WORKERS]);
	assert_false(move_is_under_way());
	assert_int_equal(owner_for(0, sa, tunnel.out->generation), to);
	assert_null(session_peek(workers[from].sessions, sa, tunnel.out->generation));
	receive_in_turn(&out);
	known = workers[to].stats->shortcut;
	receive_in_turn(&out);
	assert_true(workers[to].stats->shortcut >= known + 8);
	for (unsigned int i = 0; i < 2 * WORKERS; i++)
		turn(&workers[i % WORKERS]);
	assert_int_equal(out.left, out.sent);
	out.receiver = 0;
}

/* A worker that takes nothing out of its inbox costs the packets that do not fit, and is well again once it does. */
static void full_inbox(void **state)
{
	uint32_t sa = cygnet_sa_index(sadb, tunnel.out);
	unsigned int owner = owner_for(0, sa, tunnel.out->generation),
		     other = (owner + 1) % WORKERS;
	unsigned int room = rte_ring_get_capacity(workers[owner].inbox), kept;
	const uint64_t *dropped = &workers[other].stats->drop[DROP_HANDOFF_FULL];
	struct rte_mbuf *m[8];

	(void)state;
	for (unsigned int sent = 0; sent < room + 64; sent += RTE_DIM(m)) {
		for (unsigned int i = 0; i < RTE_DIM(m); i++) {
			uint8_t ip[GATEWAY_FRAME];

			gateway_inner(ip, &tunnel, false, true, LEN, 0, 64);
			m[i] = gateway_frame(ip, LEN, GATEWAY_LAN);
		}
		worker_receive(&workers[other], m, RTE_DIM(m), GATEWAY_LAN);
		handoff_flush(&workers[other]);
	}
	assert_int_equal(rte_ring_count(workers[owner].inbox), room);
	assert_int_equal(*dropped + room, workers[other].stats->handed_off + *dropped);
	assert_in_range(*dropped, 1, 64 + RTE_DIM(m));
	/* None of those that fit is lost. What its SA sends fills the worker's batch, which no device takes here. */
	for (kept = 0; kept < room;) {
		struct mbuf_batch *tx = &workers[out.port].tx[out.port];

		for (unsigned int i = 0; i < WORKERS; i++) {
			begin_turn(&workers[i]);
			inbox_poll(&workers[i]);
			worker_poll(&workers[i]);
			handoff_flush(&workers[i]);
		}
		kept += tx->n;
		rte_pktmbuf_free_bulk(tx->m, tx->n);
		tx->n = 0;
	}
	assert_int_equal(kept, room);
	assert_int_equal(workers[owner].stats->encapsulated, room);
}

/* Whether a worker knows the flow of a packet from the wire. */
static bool knows(struct worker *w, const uint8_t *ip, unsigned int len)
{
	struct flow_key key;

	assert_true(flow_of(ip, len, PACKET_FROM_INTERFACE(GATEWAY_WAN), &key));
	return flow_find(&w->fast->flows, &key, flow_place(&w->fast->flows, &key));
}

/* A worker that hands packets of an SA off remembers those from the peer's address alone: anybody can send
 * others with the SPI, from any number of addresses. */
static void other_source(void **state)
{
	unsigned int owner = owner_for(0, cygnet_sa_index(sadb, tunnel.in), tunnel.in->generation);
	struct worker *w = &workers[(owner + 1) % WORKERS];

	(void)state;
	for (uint8_t forged = 0; forged < 2; forged++) {
		uint8_t ip[GATEWAY_FRAME];
		unsigned int len = gateway_sealed(ip, &tunnel, false, LEN, 0, 1);
		struct rte_mbuf *m;
		uint16_t sum;

		ip[15] ^= forged;
		memset(ip + 10, 0, sizeof(sum));
		sum = peer_checksum(ip, 20);
		memcpy(ip + 10, &sum, sizeof(sum));
		m = gateway_frame(ip, len, GATEWAY_WAN);
		worker_receive(w, &m, 1, GATEWAY_WAN);
		assert_int_equal(w->handoff[owner].n, 1);
		rte_pktmbuf_free(w->handoff[owner].m[0]);
		w->handoff[owner].n = 0;
		assert_int_equal(knows(w, ip, len), !forged);
	}
}

/* The worker with the first packet of an SA owns it, and no SA in the slot before that or behind it does so. */
static void first_come(void **state)
{
	unsigned int worker;

	(void)state;
	assert_false(owner_known(7, &worker));
	assert_false(move_begin(7, 1)); /* nothing to move */
	assert_int_equal(owner_for(2, 7, 5), 2);
	assert_int_equal(owner_for(1, 7, 5), 2);
	assert_true(owner_known(7, &worker));
	assert_int_equal(worker, 2);
	assert_int_equal(owner_for(1, 7, 6), 1); /* the next SA in the slot */
	assert_int_equal(owner_for(2, 7, 5),
			 1); /* a late packet of the one before changes nothing */
	assert_int_equal(owner_for(2, 7, 6), 1);
	/* Generations go on from 1 after the highest; a few billion SAs of one slot. */
	assert_int_equal(owner_for(0, 8, UINT32_MAX), 0);
	assert_int_equal(owner_for(2, 8, 1), 2);
	assert_int_equal(owner_for(0, 8, UINT32_MAX), 2);
}

/* An outbound SA for one CPU is at the worker that this stands for, whichever has the first packet. */
static void for_one_cpu(void **state)
{
	uint32_t out_sa = cygnet_sa_index(sadb, tunnel.out);
	uint32_t in_sa = cygnet_sa_index(sadb, tunnel.in);

	(void)state;
	tunnel.out->flags |= cygnet_sa_cpu_flags(2 + 5 * WORKERS);
	tunnel.in->flags |= cygnet_sa_cpu_flags(2);
	assert_int_equal(owner_for(0, out_sa, tunnel.out->generation), 2);
	assert_int_equal(owner_for(1, out_sa, tunnel.out->generation), 2);
	/* The peer's packets come in where they come in. */
	assert_int_equal(owner_for(1, in_sa, tunnel.in->generation), 1);
}

/* Anybody can send a packet with an inbound SA's SPI, by any queue, before its peer does. */
static void forged_first(void **state)
{
	uint32_t in_sa = cygnet_sa_index(sadb, tunnel.in), generation = tunnel.in->generation;
	unsigned int other = (in_sa + 1) % WORKERS;

	(void)state;
	assert_int_equal(owner_by(other, in_sa, generation, PEER + 1), in_sa % WORKERS);
	owners_reset(SLOTS);
	assert_int_equal(owner_by(other, in_sa, generation, PEER), other);
	assert_int_equal(owner_by(in_sa % WORKERS, in_sa, generation, PEER + 1), other);
}

/* A worker that receives everything does not own everything. */
static void share(void **state)
{
	unsigned int owned[WORKERS] = {0};

	(void)state;
	for (unsigned int i = 0; i < WORKERS; i++)
		workers[i].sas_most = esp_sas;
	for (uint32_t sa = 0; sa < SLOTS; sa++)
		owned[owner_for(0, sa, 1)]++;
	assert_in_range(owned[0], 150, 200);
	assert_in_range(owned[1], 50, 75);
	assert_in_range(owned[2], 50, 75);
	/* It owns no more than it can have sessions for, while others own fewer; then the share counts again. */
	for (unsigned int i = 0; i < WORKERS; i++)
		workers[i].sas_most = 50;
	owners_reset(SLOTS);
	memset(owned, 0, sizeof(owned));
	for (uint32_t sa = 0; sa < 3 * 50; sa++)
		owned[owner_for(0, sa, 1)]++;
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(owned[i], 50);
	for (uint32_t sa = 3 * 50; sa < SLOTS; sa++)
		owned[owner_for(0, sa, 1)]++;
	assert_in_range(owned[0], 150, 200);
}

/* An SA that comes or goes voids its own flows alone. */
static void others_flows(void **state)
{
	uint32_t sa = cygnet_sa_index(sadb, tunnel.out);
	struct worker *w = &workers[0];
	uint8_t ip[GATEWAY_FRAME];
	unsigned int len;

	(void)state;
	in.receiver = 0;
	for (unsigned int i = 0; i < 2; i++) {
		receive_in_turn(&out);
		receive_in_turn(&in);
	}
	len = gateway_sealed(ip, &tunnel, false, LEN, 0, 1);
	assert_int_equal(owner_for(1, sa, tunnel.out->generation), 0);
	assert_true(knows(w, ip, len));
	assert_true(move_begin(sa, 1));
	for (unsigned int i = 0; i < 10 * WORKERS; i++)
		turn(&workers[i % WORKERS]);
	assert_false(move_is_under_way());
	assert_true(knows(w, ip, len));
	assert_true(move_begin(cygnet_sa_index(sadb, tunnel.in), 1));
	for (unsigned int i = 0; i < 10 * WORKERS; i++)
		turn(&workers[i % WORKERS]);
	assert_false(knows(w, ip, len));
	in.receiver = 1;
}

/* The slot of an SA that is about to move is given to another SA, which another worker receives. */
static void slot_reused(void **state)
{
	uint32_t sa = cygnet_sa_index(sadb, tunnel.out), later = tunnel.out->generation + 1;

	(void)state;
	assert_int_equal(owner_for(0, sa, tunnel.out->generation), 0);
	assert_true(move_begin(sa, 1));
	turn(&workers[1]); /* keeps from now on */
	assert_int_equal(owner_for(2, sa, later), 2);
	for (unsigned int i = 0; i < 10 * WORKERS; i++)
		turn(&workers[i % WORKERS]);
	assert_false(move_is_under_way());
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(owner_for(i, sa, later), 2);
}

/* Workers that end in the middle of a move drop the packets that they keep. The SA stays with its old owner. */
static void ended(void **state)
{
	uint32_t sa = cygnet_sa_index(sadb, tunnel.out);
	unsigned int from = owner_for(2, sa, tunnel.out->generation);
	unsigned int to = (from + 1) % WORKERS;

	(void)state;
	out.receiver = to;
	assert_true(move_begin(sa, to));
	turn(&workers[to]);
	turn(&workers[from]);
	assert_int_equal(owner_for(0, sa, tunnel.out->generation), to);
	receive_in_turn(&out);
	assert_int_equal(workers[to].nkept, 8);
	for (unsigned int i = 0; i < WORKERS; i++)
		owner_drop(&workers[i]);
	move_cancel();
	assert_int_equal(owner_for(0, sa, tunnel.out->generation), from);
	assert_int_equal(workers[to].nkept, 0);
	assert_int_equal(workers[to].stats->drop[DROP_SA_GONE], 8);
	out.left = out.sent;
	out.receiver = 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {TEST(at_random),    TEST(known_flow),   TEST(ended),
					   TEST(full_inbox),   TEST(other_source), TEST(first_come),
					   TEST(for_one_cpu),  TEST(forged_first), TEST(share),
					   TEST(others_flows), TEST(slot_reused)};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, gateway_start, gateway_stop);
}
