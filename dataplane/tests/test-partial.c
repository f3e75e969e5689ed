/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fragments in any order, contradicting fragments, and more fragments than a table keeps. */
#include <stdlib.h>
#include <string.h>

#include <rte_random.h>

#include "eal_fixture.h"
#include "ip/packet.h"
#include "ip/partial.h"

#define PACKETS 1024u
#define ROOM	2048u
#define FRONT	20u
#define MOST	256u
#define WAIT	1000u
#define LEN	6400u

static struct rte_mempool *pool;
static struct partial_table *table;
static uint64_t dropped, now;
static uint8_t text[LEN];

static int start(void **state)
{
	(void)state;
	rte_srand(1);
	for (unsigned int i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)rte_rand();
	pool = rte_pktmbuf_pool_create("parts", PACKETS, 0, PACKET_PRIVATE, ROOM, SOCKET_ID_ANY);
	return pool ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	rte_mempool_free(pool);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	dropped = 0;
	now = 5;
	table = partial_create(MOST, WAIT, &dropped);
	return table ? 0 : -1;
}

/* No leaks: remaining fragments are freed with their table. */
static int teardown(void **state)
{
	(void)state;
	partial_free(table);
	assert_int_equal(rte_mempool_avail_count(pool), PACKETS);
	return 0;
}

/* A fragment of packet id with text[offset .. offset + len]. */
static bool add_with(uint32_t id, unsigned int offset, unsigned int len, bool more, uint8_t tos,
		     struct partial_whole *whole)
{
	const struct partial_key key = {.id = id, .af = AF_INET, .proto = 50};
	const struct partial_part part = {.front = FRONT, .offset = offset, .more = more};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *to;

	assert_non_null(m);
	memset(packet(m), 0, sizeof(struct packet));
	assert_non_null(rte_pktmbuf_append(m, (uint16_t)(FRONT + len)));
	to = rte_pktmbuf_mtod(m, uint8_t *);
	memset(to, 0, FRONT);
	to[0] = 0x45;
	to[1] = tos;
	memcpy(to + FRONT, text + offset, len);
	return partial_add(table, &key, m, &part, now, whole);
}

static bool add(uint32_t id, unsigned int offset, unsigned int len, bool more)
{
	struct partial_whole whole;
	bool is_whole = add_with(id, offset, len, more, 0, &whole);

	if (is_whole)
		partial_release(whole.parts);
	return is_whole;
}

struct cut {
	unsigned int offset, len;
};

/* LEN bytes in pieces of many lengths. @return number of pieces */
static unsigned int cut_up(struct cut *cut)
{
	unsigned int n = 0;

	for (unsigned int offset = 0; offset < LEN; offset += cut[n++].len) {
		cut[n].offset = offset;
		cut[n].len = RTE_MIN(LEN - offset, 8 * (8 + (unsigned int)rte_rand_max(100)));
	}
	return n;
}

static void shuffle(struct cut *cut, unsigned int n)
{
	for (unsigned int i = n; i > 1; i--) {
		unsigned int with = (unsigned int)rte_rand_max(i);
		struct cut other = cut[with];

		cut[with] = cut[i - 1];
		cut[i - 1] = other;
	}
}

static void check_whole(const struct partial_whole *whole, unsigned int parts)
{
	unsigned int offset = 0;

	assert_int_equal(whole->len, LEN);
	assert_int_equal(whole->front, FRONT);
	for (struct rte_mbuf *m = whole->parts; m; m = packet(m)->next) {
		assert_int_equal(packet(m)->part_at, offset);
		assert_memory_equal(rte_pktmbuf_mtod(m, void *), text + offset,
				    rte_pktmbuf_data_len(m));
		offset += rte_pktmbuf_data_len(m);
	}
	assert_int_equal(offset, LEN);
	assert_int_equal(partial_release(whole->parts), parts);
}

/* Fragments in any order, some of them duplicated. */
static void any_order(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		struct cut cut[LEN / 64 + 1];
		unsigned int n = cut_up(cut), longest = 0, twice = (unsigned int)rte_rand_max(n);
		struct partial_whole whole;

		shuffle(cut, n);
		dropped = 0;
		for (unsigned int i = 0; i < n; i++) {
			bool more = cut[i].offset + cut[i].len < LEN;

			longest = RTE_MAX(longest, cut[i].len + FRONT);
			assert_int_equal(add_with(round, cut[i].offset, cut[i].len, more, 0,
						  &whole),
					 i == n - 1);
			if (i == twice && i < n - 1)
				assert_false(add(round, cut[i].offset, cut[i].len, more));
		}
		assert_int_equal(whole.longest, longest);
		assert_int_equal(dropped, twice < n - 1);
		check_whole(&whole, n);
	}
}

struct fragment {
	unsigned int offset, len;
	bool more;
};

static const struct fragment contradictory[][3] = {
	{{0, 80, true}, {72, 80, true}, {152, 8, false}}, /* some overlapping bytes */
	{{0, 80, true}, {0, 88, true}, {88, 8, false}},	  /* the same offset */
	{{8, 64, true}, {0, 80, true}, {80, 8, false}},	  /* one within the other */
	{{80, 8, false}, {72, 8, true}, {0, 80, true}},
	{{8, 72, true}, {80, 8, false}, {80, 16, false}}, /* two different ends */
	{{80, 8, false}, {88, 8, true}, {0, 80, true}},	  /* a fragment beyond the end */
	{{88, 8, true}, {80, 8, false}, {0, 80, true}},
	{{80, 8, false}, {80, 8, true}, {0, 80, true}}, /* the end is not an end */
	{{80, 8, true}, {80, 8, false}, {0, 80, true}},
};

static void contradictions(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < RTE_DIM(contradictory); i++) {
		dropped = 0;
		for (unsigned int j = 0; j < 3; j++)
			assert_false(add(i, contradictory[i][j].offset, contradictory[i][j].len,
					 contradictory[i][j].more));
		/* Nor is a complete packet accepted while the others wait. */
		assert_false(add(i, 0, 80, true));
		assert_false(add(i, 80, 8, false));
		assert_int_equal(dropped, 5);
		now += WAIT + 1;
		assert_false(add(i, 0, 80, true));
		assert_true(add(i, 80, 8, false));
		assert_int_equal(dropped, 5);
	}
}

static void other_bytes(void **state)
{
	(void)state;
	assert_false(add(1, 0, 80, true));
	text[3] ^= 1;
	assert_false(add(1, 0, 80, true));
	text[3] ^= 1;
	assert_false(add(1, 80, 8, false));
	assert_int_equal(dropped, 3);
}

static void too_many(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < PARTIAL_PARTS_MAX; i++)
		assert_int_equal(add(1, 8 * i, 8, i < PARTIAL_PARTS_MAX - 1),
				 i == PARTIAL_PARTS_MAX - 1);
	assert_int_equal(dropped, 0);
	for (unsigned int i = 0; i <= PARTIAL_PARTS_MAX; i++)
		assert_false(add(2, 8 * i, 8, i < PARTIAL_PARTS_MAX));
	assert_int_equal(dropped, PARTIAL_PARTS_MAX + 1);
}

/* The time limit starts again with each fragment. */
static void waiting(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++, now += WAIT)
		assert_int_equal(add(1, 8 * i, 8, i < 3), i == 3);
	assert_int_equal(dropped, 0);
	assert_false(add(2, 0, 8, true));
	now += WAIT + 1;
	assert_false(add(2, 8, 8, false));
	assert_int_equal(dropped, 1);
	partial_expire(table, now + WAIT);
	assert_int_equal(dropped, 1);
	partial_expire(table, now + WAIT + 1);
	assert_int_equal(dropped, 2);
}

/* However many fragments arrive, only a bounded number is kept, and a complete packet among them
 * is delivered. */
static void flood(void **state)
{
	unsigned int kept;

	(void)state;
	assert_false(add(0, 0, 8, true));
	for (uint32_t id = 1; id < 5000; id++) {
		assert_false(add(id, 8, 8, true));
		if (id % 4 == 0) {
			assert_false(add(id + 100000, 0, 800, true));
			assert_true(add(id + 100000, 800, 8, false));
		}
		kept = PACKETS - rte_mempool_avail_count(pool);
		assert_true(kept <= MOST && (id < MOST || kept >= MOST - 2));
	}
	assert_int_equal(dropped, 5000 - kept);
	/* Newer fragments evicted the oldest; the latest are there. */
	assert_false(add(0, 8, 8, false));
	assert_true(add(4999, 0, 8, true) || add(4999, 16, 8, false));
}

/* The bound is the same for few packets with many fragments and for many with few. */
static void flood_of_parts(void **state)
{
	(void)state;
	for (uint32_t id = 0; id < 20; id++)
		for (unsigned int i = 1; i <= PARTIAL_PARTS_MAX; i++) {
			assert_false(add(id, 8 * i, 8, true));
			assert_true(PACKETS - rte_mempool_avail_count(pool) <= MOST);
		}
	assert_int_equal(dropped, (20 - MOST / PARTIAL_PARTS_MAX) * PARTIAL_PARTS_MAX);
}

static void ecn_of_all(void **state)
{
	struct partial_whole whole;

	(void)state;
	assert_false(add_with(1, 0, 8, true, 2, &whole));
	assert_false(add_with(1, 8, 8, true, 0xb8 | 3, &whole));
	assert_true(add_with(1, 16, 8, false, 2, &whole));
	assert_int_equal(whole.ecn, 1 << 2 | 1 << 3);
	partial_release(whole.parts);
}

int main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(any_order), TEST(contradictions), TEST(other_bytes),    TEST(too_many),
		TEST(waiting),	 TEST(flood),	       TEST(flood_of_parts), TEST(ecn_of_all),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}
