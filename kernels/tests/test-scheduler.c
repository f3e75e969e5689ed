/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PIPSEA's scheduler alone: bins and their labels, the order of the work-items, and the measured
 * times. test-pmd.c tests queue pairs through the driver: a packet left over is the first of the
 * next launch, and packets are completed in order of arrival.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "args.h"
#include "chunk.h"
#include "cost.h"
#include "device.h"
#include "scheduler.h"

#define CBC_SHA1 OCL_LABEL(OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA1, 0)
#define CBC_SHA1_BACK \
	OCL_LABEL(OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA1, OCL_DECRYPT | OCL_AUTH_FIRST)
#define SHA1_BACK OCL_LABEL(OCL_CIPHER_NONE, OCL_AUTH_HMAC_SHA1, OCL_DECRYPT | OCL_AUTH_FIRST)
#define GCM	  OCL_LABEL(OCL_CIPHER_AES_GCM, OCL_AUTH_NONE, 0)
#define SHA256	  OCL_LABEL(OCL_CIPHER_NONE, OCL_AUTH_HMAC_SHA256, 0)
#define BIN	  4
#define BINS	  6
#define ITEMS	  (BIN * BINS)

static struct ocl_sched sched;
static struct ocl_bins bins;
static uint32_t order[ITEMS];

static void setup(enum ocl_level level, uint32_t lanes)
{
	memset(&sched, 0, sizeof(sched));
	sched.bins = BINS;
	sched.bin_size = BIN;
	sched.granularity = 256;
	sched.lanes = lanes;
	sched.items = ITEMS;
	sched.level = level;
	/* The first takes longer than the second, for all lengths up to 2,000 bytes. */
	sched.cost[ocl_kind(CBC_SHA1)] = (struct ocl_cost){1000, 1};
	sched.cost[ocl_kind(CBC_SHA1_BACK)] = (struct ocl_cost){1000, 2};
	sched.cost[ocl_kind(GCM)] = (struct ocl_cost){100, 0.25};
	sched.cost[ocl_kind(SHA256)] = (struct ocl_cost){10, 0.01};
	assert_int_equal(ocl_bins_init(&bins, &sched), 0);
}

static int teardown(void **state)
{
	(void)state;
	ocl_bins_free(&bins);
	return 0;
}

/* A packet; its record's offset is its number times 16. Returns its bin. */
static int put(uint32_t number, uint32_t label, uint32_t len)
{
	int bin = ocl_bins_find(&bins, label, len);

	if (bin >= 0)
		ocl_bins_put(&bins, bin, len, 16 * number);
	return bin;
}

/* Records by number, -1: none; no others follow. */
static void expect(const int *numbers, uint32_t n)
{
	memset(order, 0x55, sizeof(order));
	assert_int_equal(ocl_bins_order(&bins, order), n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(order[i], numbers[i] < 0 ? OCL_NO_RECORD : 16u * numbers[i]);
	for (uint32_t i = n; i < ITEMS; i++)
		assert_int_equal(order[i], 0x55555555);
}

#define EXPECT(...) \
	do { \
		const int numbers[] = {__VA_ARGS__}; \
		expect(numbers, sizeof(numbers) / sizeof(numbers[0])); \
	} while (0)

static void kinds_are_numbered_without_gaps(void **state)
{
	bool seen[OCL_KINDS] = {false};

	(void)state;
	for (uint32_t cipher = 0; cipher < OCL_CIPHERS; cipher++) {
		for (uint32_t auth = 0; auth < OCL_AUTHS; auth++) {
			for (uint32_t flags = 0; flags < OCL_FLAGS; flags++) {
				uint32_t kind = ocl_kind(OCL_LABEL(cipher, auth, flags));

				assert_true(kind < OCL_KINDS);
				assert_false(seen[kind]);
				seen[kind] = true;
			}
		}
	}
}

static void nothing_is_no_work_group(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	memset(order, 0x55, sizeof(order));
	assert_int_equal(ocl_bins_order(&bins, order), 0);
	assert_int_equal(order[0], 0x55555555);
}

static void a_bin_is_a_work_group(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	put(0, SHA256, 64);
	EXPECT(0, -1, -1, -1);
}

/* Packets of one algorithm, direction and range of lengths share a bin until it is full. */
static void labels(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	assert_int_equal(put(0, CBC_SHA1, 0), 0);
	assert_int_equal(put(1, CBC_SHA1, 255), 0);
	assert_int_equal(put(2, CBC_SHA1, 256), 1);
	assert_int_equal(put(3, CBC_SHA1_BACK, 255), 2);
	assert_int_equal(put(4, GCM, 255), 3);
	assert_int_equal(put(5, CBC_SHA1, 511), 1);
	assert_int_equal(put(6, CBC_SHA1, 17), 0);
	assert_int_equal(put(7, CBC_SHA1, 18), 0); /* full */
	assert_int_equal(put(8, CBC_SHA1, 19), 4);
	assert_int_equal(put(9, GCM, 0), 3);
}

/* All lengths from 16 KiB on share a range; no length is too long. */
static void longest_range(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	assert_int_equal(put(0, GCM, 16383), 0);
	assert_int_equal(put(1, GCM, 16384), 1);
	assert_int_equal(put(2, GCM, 65535), 1);
	assert_int_equal(put(3, GCM, UINT32_MAX), 1);
	/* The highest label. */
	assert_int_equal(put(4, OCL_LABEL(OCL_CIPHERS - 1, OCL_AUTHS - 1, OCL_FLAGS - 1),
			     UINT32_MAX),
			 2);
}

static void full(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	for (uint32_t i = 0; i < ITEMS; i++)
		assert_int_equal(put(i, SHA256, 64), i / BIN);
	assert_int_equal(put(ITEMS, SHA256, 64), -1);
	assert_int_equal(put(ITEMS, GCM, 64), -1);
	assert_int_equal(ocl_bins_order(&bins, order), ITEMS);
	for (uint32_t i = 0; i < ITEMS; i++)
		assert_int_equal(order[i], 16 * i);
}

/* Each bin has a different label: a packet with a new label is left over, one with the label of
 * a bin is not. */
static void no_bin_for_another_label(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	for (uint32_t i = 0; i < BINS; i++)
		assert_int_equal(put(i, GCM, 256 * i), i);
	assert_int_equal(put(6, GCM, 256 * BINS), -1);
	assert_int_equal(put(7, SHA256, 0), -1);
	assert_int_equal(put(8, GCM, 256 * 3 + 1), 3);
}

static void reset_empties(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	for (uint32_t i = 0; i < ITEMS - 1; i++)
		put(i, SHA256, 64);
	put(ITEMS - 1, GCM, 64);
	ocl_bins_reset(&bins);
	assert_int_equal(ocl_bins_order(&bins, order), 0);
	assert_int_equal(put(7, CBC_SHA1, 64), 0);
	assert_int_equal(put(8, SHA256, 64), 1);
	assert_int_equal(put(9, GCM, 64), 2);
	EXPECT(7, -1, -1, -1, 9, -1, -1, -1, 8, -1, -1, -1);
}

/* Bins are sorted by the time that their longest packet takes: not by arrival, and not by length. */
static void longest_first(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	put(0, SHA256, 1400); /* 24 */
	put(1, GCM, 1400);    /* 450 */
	put(2, CBC_SHA1, 64); /* 1,064, and after the next 1,200 */
	put(3, CBC_SHA1, 200);
	put(4, CBC_SHA1_BACK, 90);  /* 1,180 */
	put(5, CBC_SHA1_BACK, 700); /* 2,400 */
	EXPECT(5, -1, -1, -1, 2, 3, -1, -1, 4, -1, -1, -1, 1, -1, -1, -1, 0, -1, -1, -1);
}

/* Bins that take as long stay in order of arrival. */
static void equals_keep_their_order(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	for (uint32_t i = 0; i < 9; i++)
		put(i, SHA256, 64);
	EXPECT(0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1);
}

/* The levels of figure 9, with the same packets. */
static void some_packets(void)
{
	put(0, SHA256, 64);
	put(1, CBC_SHA1, 1400);
	put(2, SHA256, 1400);
	put(3, CBC_SHA1, 64);
	put(4, SHA256, 70);
}

static void level_none(void **state)
{
	(void)state;
	setup(OCL_SCHED_NONE, 1);
	some_packets();
	EXPECT(0, 1, 2, 3, 4, -1, -1, -1);
}

static void level_algorithm(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALGORITHM, 1);
	some_packets();
	EXPECT(0, 2, 4, -1, 1, 3, -1, -1);
}

static void level_length(void **state)
{
	(void)state;
	setup(OCL_SCHED_LENGTH, 1);
	some_packets();
	EXPECT(0, 4, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1);
}

static void level_all(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	some_packets();
	EXPECT(1, -1, -1, -1, 3, -1, -1, -1, 2, -1, -1, -1, 0, 4, -1, -1);
}

/* One bin of three packets and spare groups: each packet gets all lanes, one after another. */
static void lanes_when_few(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 4);
	put(0, GCM, 64);
	put(1, GCM, 64);
	put(2, GCM, 64);
	assert_int_equal(ocl_bins_order(&bins, order), 3 * BIN);
	for (uint32_t i = 0; i < 12; i++) {
		assert_int_equal(OCL_ENTRY_RECORD(order[i]), 16 * (i / 4));
		assert_int_equal(OCL_ENTRY_LANE(order[i]), i % 4);
		assert_int_equal(OCL_ENTRY_LANES(order[i]), 4);
	}
}

/* Two bins and room for three: two lanes for a parallel label, one for the other; with room for two, one
 * lane for both. */
static void lanes_of_a_mix(void **state)
{
	(void)state;
	setup(OCL_SCHED_LENGTH, 4);
	put(0, SHA256, 64);
	for (uint32_t i = 1; i <= 3; i++)
		put(i, GCM, 64);
	sched.items = 3 * BIN;
	assert_int_equal(ocl_bins_order(&bins, order), 3 * BIN);
	assert_int_equal(order[0], OCL_ENTRY(0, 0, 1));
	for (uint32_t i = 1; i < BIN; i++)
		assert_int_equal(order[i], OCL_NO_RECORD);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(order[BIN + i], OCL_ENTRY(16 * (1 + i / 2), i % 2, 2));
	assert_int_equal(order[BIN + 6], OCL_NO_RECORD);
	sched.items = 2 * BIN;
	assert_int_equal(ocl_bins_order(&bins, order), 2 * BIN);
	assert_int_equal(order[BIN], OCL_ENTRY(16, 0, 1));
}

/* Lanes never make a launch larger than sched.items. */
static void lanes_when_many(void **state)
{
	(void)state;
	for (uint32_t packets = 1; packets <= ITEMS; packets++) {
		uint32_t items;

		setup(OCL_SCHED_ALL, 4);
		for (uint32_t i = 0; i < packets; i++)
			assert_true(put(i, GCM, 64) >= 0);
		items = ocl_bins_order(&bins, order);
		assert_true(items <= ITEMS && items % BIN == 0 && items >= packets);
		ocl_bins_free(&bins);
	}
	setup(OCL_SCHED_ALL, 4);
	for (uint32_t i = 0; i < ITEMS; i++)
		put(i, GCM, 64);
	ocl_bins_order(&bins, order);
	for (uint32_t i = 0; i < ITEMS; i++)
		assert_int_equal(OCL_ENTRY_LANES(order[i]), 1);
}

/* Lanes shorten the time of a bin, and so change the order. */
static void lanes_count_as_time(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	sched.cost[ocl_kind(SHA256)] = (struct ocl_cost){300, 0};
	put(0, GCM, 1400);  /* 450, with two lanes 225 */
	put(1, SHA256, 64); /* 300 */
	EXPECT(0, -1, -1, -1, 1, -1, -1, -1);
	sched.lanes = 2;
	assert_int_equal(ocl_bins_order(&bins, order), 2 * BIN);
	assert_int_equal(order[0], 16);
	assert_int_equal(order[4], OCL_ENTRY(0, 0, 2));
}

/* Lanes share a chain's cipher; one of them authenticates. */
static void lanes_of_a_chain(void **state)
{
	(void)state;
	setup(OCL_SCHED_ALL, 1);
	sched.cost[ocl_kind(CBC_SHA1_BACK)] = (struct ocl_cost){300, 0};
	sched.cost[ocl_kind(SHA1_BACK)] = (struct ocl_cost){200, 0};
	sched.cost[ocl_kind(SHA256)] = (struct ocl_cost){240, 0};
	put(0, CBC_SHA1_BACK, 64); /* with two lanes 250, with four 225 */
	put(1, SHA256, 64);
	sched.lanes = 2;
	assert_int_equal(ocl_bins_order(&bins, order), 2 * BIN);
	assert_int_equal(order[0], OCL_ENTRY(0, 0, 2));
	assert_int_equal(order[4], 16);
	sched.lanes = 4;
	assert_int_equal(ocl_bins_order(&bins, order), 2 * BIN);
	assert_int_equal(order[0], 16);
	assert_int_equal(order[4], OCL_ENTRY(0, 0, 4));
}

/* Bins mix labels, so packets have one lane. */
static void level_none_has_no_lanes(void **state)
{
	(void)state;
	setup(OCL_SCHED_NONE, 4);
	put(0, GCM, 64);
	put(1, SHA256, 64);
	EXPECT(0, 1, -1, -1);
}

/* Random packets: each one in a bin is in the order table once, in a work-group of its label. */
static void each_packet_once(void **state)
{
	static const uint32_t some[] = {CBC_SHA1, CBC_SHA1_BACK, GCM, SHA256};
	uint32_t label[ITEMS], len[ITEMS], seen[ITEMS];

	(void)state;
	srand(1);
	setup(OCL_SCHED_ALL, 1);
	for (unsigned int round = 0; round < 2000; round++) {
		uint32_t n = 0, packets = rand() % (2 * ITEMS), items;
		float last = 1e9;

		for (uint32_t i = 0; i < packets && n < ITEMS; i++) {
			label[n] = some[rand() % 4];
			len[n] = rand() % 600;
			n += put(n, label[n], len[n]) >= 0;
		}
		items = ocl_bins_order(&bins, order);
		assert_true(items % BIN == 0 && items <= ITEMS);
		memset(seen, 0, sizeof(seen));
		for (uint32_t group = 0; group < items; group += BIN) {
			const struct ocl_cost *cost = NULL;
			uint32_t first = order[group] / 16, longest = 0;

			for (uint32_t i = group; i < group + BIN && order[i] != OCL_NO_RECORD;
			     i++) {
				uint32_t packet = order[i] / 16;

				assert_true(packet < n);
				seen[packet]++;
				assert_int_equal(label[packet], label[first]);
				assert_int_equal(len[packet] / 256, len[first] / 256);
				longest = len[packet] > longest ? len[packet] : longest;
				cost = &sched.cost[ocl_kind(label[first])];
			}
			assert_non_null(cost);
			assert_true(cost->start + cost->byte * longest <= last);
			last = cost->start + cost->byte * longest;
		}
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(seen[i], 1);
		ocl_bins_reset(&bins);
	}
}

static const struct ocl_device gpu = {.group_multiple = 32, .max_group = 1024, .units = 132};
static const struct ocl_device cpu = {.cpu = true,
				      .group_multiple = 8,
				      .max_group = 4096,
				      .units = 64};

static struct ocl_args parse(const char *text)
{
	struct ocl_args args;

	assert_int_equal(ocl_args_parse(&args, text), 0);
	return args;
}

static void init(const char *text, const struct ocl_device *dev)
{
	struct ocl_args args = parse(text);

	assert_int_equal(ocl_sched_init(&sched, &args, dev), 0);
	assert_int_equal(sched.bin_size % dev->group_multiple, 0);
	assert_true(sched.bin_size <= dev->max_group);
	assert_true(sched.bins * sched.bin_size >= sched.chunk);
}

/* Work-groups have the size that the device prefers; there is a bin to spare for each kind. */
static void defaults(void **state)
{
	(void)state;
	init(NULL, &gpu);
	assert_int_equal(sched.level, OCL_SCHED_AUTO);
	assert_int_equal(sched.chunk, 2048);
	assert_int_equal(sched.bin_size, 32);
	assert_int_equal(sched.bins, 64 + OCL_KINDS);
	assert_int_equal(sched.lanes, 8);
	assert_int_equal(sched.items, 132 * 128); /* more than bins have room for */
	init("sched=all", &gpu);
	assert_int_equal(sched.bins, 2 * 64);
	init("", &cpu);
	assert_int_equal(sched.chunk, 256);
	assert_int_equal(sched.bin_size, 32);
	assert_int_equal(sched.level, OCL_SCHED_NONE);
	assert_int_equal(sched.bins, 2 * 8);
	assert_int_equal(sched.lanes, 1);
	assert_int_equal(sched.items, 2 * 8 * sched.bin_size);
	init("lanes=2", &cpu);
	assert_int_equal(sched.level, OCL_SCHED_AUTO);
	assert_int_equal(sched.bins, 8 + OCL_KINDS);
	init("chunk=1", &gpu);
	assert_int_equal(sched.bins, 1);
}

static void tunables(void **state)
{
	struct ocl_args args;

	(void)state;
	init("chunk=1000,bins=10,granularity=64,lanes=5,sched=none", &gpu);
	assert_int_equal(sched.level, OCL_SCHED_NONE);
	assert_int_equal(sched.chunk, 1000);
	assert_int_equal(sched.bins, 10);
	assert_int_equal(sched.bin_size, 128); /* 100, in whole warps */
	assert_int_equal(sched.granularity, 64);
	assert_int_equal(sched.lanes, 4);
	init("sched=algorithm,chunk=1,bins=1", &gpu);
	assert_int_equal(sched.level, OCL_SCHED_ALGORITHM);
	assert_int_equal(sched.bin_size, 32);
	init("sched=length", &cpu);
	assert_int_equal(sched.level, OCL_SCHED_LENGTH);
	init("sched=all", &cpu);
	assert_int_equal(sched.level, OCL_SCHED_ALL);
	args = parse("chunk=16384,bins=8");
	assert_int_equal(ocl_sched_init(&sched, &args, &gpu), -EINVAL);
}

/* One packet of each label that exists fills no bin; the rest of the chunk has room, of whatever label. */
static void auto_leaves_none_over(void **state)
{
	static uint32_t table[16384 + 64 * OCL_KINDS];
	uint32_t n = 0;

	(void)state;
	init("", &gpu);
	assert_int_equal(ocl_bins_init(&bins, &sched), 0);
	for (uint32_t cipher = 0; cipher < OCL_CIPHERS; cipher++) {
		for (uint32_t auth = 0; auth < OCL_AUTHS; auth++) {
			for (uint32_t flags = 0; flags < OCL_FLAGS; flags++, n++)
				assert_true(put(n, OCL_LABEL(cipher, auth, flags), 64 * n) >= 0);
		}
	}
	for (; n < sched.chunk; n++)
		assert_true(put(n, n % 2 ? GCM : CBC_SHA1, n) >= 0);
	assert_true(ocl_sched_entries(&sched) <= sizeof(table) / sizeof(table[0]));
	assert_true(ocl_bins_order(&bins, table) <= ocl_sched_entries(&sched));
}

/* Bins for an algorithm each, whatever the lengths; with heads one launch takes all. */
static void auto_goes_by_algorithm(void **state)
{
	(void)state;
	setup(OCL_SCHED_AUTO, 1);
	some_packets();
	EXPECT(0, 2, 4, -1, 1, 3, -1, -1);
	assert_int_equal(ocl_bins_heads_key(&bins, GCM, 64),
			 ocl_bins_heads_key(&bins, SHA256, 1400));
	ocl_bins_free(&bins);
	setup(OCL_SCHED_ALGORITHM, 1);
	assert_int_equal(ocl_bins_heads_key(&bins, GCM, 64), ocl_bins_heads_key(&bins, GCM, 1400));
	assert_int_not_equal(ocl_bins_heads_key(&bins, GCM, 64),
			     ocl_bins_heads_key(&bins, SHA256, 64));
	ocl_bins_free(&bins);
	setup(OCL_SCHED_ALL, 1);
	assert_int_not_equal(ocl_bins_heads_key(&bins, GCM, 64),
			     ocl_bins_heads_key(&bins, GCM, 1400));
}

/* All packets of a launch with heads have as many lanes, if all their labels allow that. */
static void lanes_with_heads(void **state)
{
	(void)state;
	init("", &gpu);
	assert_int_equal(ocl_sched_lanes(&sched, true, 256), 8);
	assert_int_equal(ocl_sched_lanes(&sched, true, 132 * 128 / 4), 4);
	assert_int_equal(ocl_sched_lanes(&sched, true, 132 * 128), 1);
	assert_int_equal(ocl_sched_lanes(&sched, false, 256), 1);
	init("sched=none", &gpu);
	assert_int_equal(ocl_sched_lanes(&sched, true, 256), 1);
}

/* Encrypting and authenticating takes longer than authenticating alone. */
static bool is_plausible(void)
{
	return sched.cost[ocl_kind(CBC_SHA1)].byte >
	       sched.cost[ocl_kind(OCL_LABEL(OCL_CIPHER_NONE, OCL_AUTH_HMAC_SHA1, 0))].byte;
}

/* Measure this machine's device. Other processes may use it, so a measurement may be repeated. */
static void measured(void **state)
{
	struct ocl_args args = parse("sched=all");
	const struct ocl_memory *memory;
	struct ocl_device dev;

	(void)state;
	assert_int_equal(ocl_device_open(&dev, ""), 0);
	assert_int_equal(ocl_sched_init(&sched, &args, &dev), 0);
	assert_int_equal(ocl_device_build(&dev, sched.bin_size), 0);
	memory = ocl_memory_choose(&dev, "auto");
	assert_non_null(memory);
	for (int i = 0; i < 20 && !is_plausible(); i++)
		assert_int_equal(ocl_cost_measure(&sched, &dev, memory), 0);
	assert_true(is_plausible());
	for (uint32_t kind = 0; kind < OCL_KINDS; kind++)
		assert_true(sched.cost[kind].start >= 0 && sched.cost[kind].byte >= 0);
	/* The other levels sort nothing, so nothing is measured. */
	args = parse("sched=length");
	assert_int_equal(ocl_sched_init(&sched, &args, &dev), 0);
	assert_int_equal(ocl_cost_measure(&sched, &dev, memory), 0);
	assert_true(sched.cost[ocl_kind(CBC_SHA1)].byte == 0);
	ocl_device_close(&dev);
}

#define TEST(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_numbered_without_gaps),
		TEST(nothing_is_no_work_group),
		TEST(a_bin_is_a_work_group),
		TEST(labels),
		TEST(longest_range),
		TEST(full),
		TEST(no_bin_for_another_label),
		TEST(reset_empties),
		TEST(longest_first),
		TEST(equals_keep_their_order),
		TEST(level_none),
		TEST(level_algorithm),
		TEST(level_length),
		TEST(level_all),
		TEST(lanes_when_few),
		TEST(lanes_of_a_mix),
		TEST(lanes_when_many),
		TEST(lanes_count_as_time),
		TEST(lanes_of_a_chain),
		TEST(level_none_has_no_lanes),
		TEST(each_packet_once),
		TEST(auto_leaves_none_over),
		TEST(auto_goes_by_algorithm),
		cmocka_unit_test(lanes_with_heads),
		cmocka_unit_test(defaults),
		cmocka_unit_test(tunables),
		cmocka_unit_test(measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
