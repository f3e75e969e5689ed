/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chunk between the thread that launches it and the queue pair that takes it back from a device
 * that is given up: one of them has it, and what was taken back the device never sees.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <rte_pause.h>

#include "args.h"
#include "chunk.h"
#include "faults.h"

#define ROUNDS	 300
#define FEW	 10	   /* rounds that each comes first in, at least, */
#define MOST	 20000	   /* if there are so many */
#define FURTHEST (1 << 24) /* times round a loop that does nothing */

static struct ocl_device dev;
static struct ocl_sched sched;
static struct ocl_table table;
static struct ocl_chunk_params params = {
	.dev = &dev, .sched = &sched, .records = 32, .bytes = 65536,
};
static struct ocl_chunk chunk;

static int start(void **state)
{
	struct ocl_args args;

	(void)state;
	if (ocl_args_parse(&args, "sched=length,chunk=32") || ocl_device_open(&dev, "") ||
	    ocl_sched_init(&sched, &args, &dev) || ocl_device_build(&dev, sched.bin_size) ||
	    ocl_table_init(&table, &dev, 1))
		return -1;
	params.memory = ocl_memory_choose(&dev, "staged");
	params.sessions = table.buffer;
	return ocl_chunk_init(&chunk, &params);
}

static int stop(void **state)
{
	(void)state;
	ocl_chunk_free(&chunk);
	ocl_table_free(&table);
	ocl_device_close(&dev);
	return 0;
}

/* One packet of no bytes, of a session without algorithms. */
static void fill(struct ocl_chunk *into)
{
	struct ocl_record *record;
	uint32_t result;

	ocl_chunk_reset(into);
	record = ocl_chunk_add(into, 0, 0, sizeof(*record));
	assert_non_null(record);
	result = record->result;
	memset(record, 0, sizeof(*record));
	record->result = result;
	launches = transfers = 0;
}

static void wait_for(struct ocl_chunk *sent)
{
	while (!ocl_chunk_poll(sent))
		rte_pause();
	assert_false(sent->failed);
	assert_int_equal(ocl_chunk_result(sent, 0), OCL_STATUS_DONE);
}

static void launched(void **state)
{
	(void)state;
	fill(&chunk);
	assert_false(ocl_chunk_sent(&chunk));
	assert_true(ocl_chunk_launch(&chunk, NULL, true));
	assert_true(ocl_chunk_sent(&chunk));
	assert_false(ocl_chunk_withdraw(&chunk));
	assert_int_equal(launches, 1);
	wait_for(&chunk);
}

static void withdrawn(void **state)
{
	(void)state;
	fill(&chunk);
	assert_true(ocl_chunk_withdraw(&chunk));
	assert_true(ocl_chunk_launch(&chunk, NULL, true));
	assert_false(ocl_chunk_sent(&chunk));
	assert_false(ocl_chunk_withdraw(&chunk));
	/* The thread asks for it in the same turn. */
	assert_true(ocl_chunk_poll(&chunk));
	assert_true(chunk.failed);
	assert_int_equal(ocl_chunk_result(&chunk, 0), OCL_STATUS_PENDING);
	assert_int_equal(launches + transfers, 0);
	assert_false(ocl_device_lost(&dev));
}

/* To be asked for is what makes a chunk go that found no room in the persistent kernel's mailbox:
 * not one that was withdrawn. */
static void withdrawn_letter(void **state)
{
	const struct ocl_memory *memory = ocl_memory_choose(&dev, "persistent");
	struct ocl_chunk_params by_letter = params;
	struct ocl_chunk letter;

	(void)state;
	if (memory == NULL)
		skip();
	assert_int_equal(memory->start(&dev, table.buffer), CL_SUCCESS);
	by_letter.memory = memory;
	assert_int_equal(ocl_chunk_init(&letter, &by_letter), 0);
	fill(&letter);
	assert_true(ocl_chunk_launch(&letter, NULL, true));
	wait_for(&letter);
	fill(&letter);
	assert_true(ocl_chunk_withdraw(&letter));
	assert_true(ocl_chunk_launch(&letter, NULL, true));
	assert_true(ocl_chunk_poll(&letter));
	assert_true(letter.failed);
	assert_false(letter.posted);
	ocl_chunk_free(&letter);
	memory->stop(&dev);
	assert_false(ocl_device_lost(&dev));
}

static const struct ocl_memory *sound;

static void lose(struct ocl_chunk *claimed)
{
	sound->settle(claimed);
	ocl_device_fail(&dev, "a test", 0);
}

/* Another has given the device up before this one came to launch what it had claimed: nobody has
 * seen that. */
static void lost_meanwhile(void **state)
{
	struct ocl_memory losing = *chunk.memory;

	(void)state;
	sound = chunk.memory;
	losing.settle = lose;
	fill(&chunk);
	chunk.memory = &losing;
	assert_true(ocl_chunk_launch(&chunk, NULL, true));
	chunk.memory = sound;
	assert_true(ocl_chunk_poll(&chunk));
	assert_true(chunk.failed);
	assert_false(ocl_chunk_sent(&chunk));
	assert_int_equal(launches + transfers, 0);
	dev.lost = false; /* it is not, and has to be closed */
}

static uint32_t round_ready; /* atomic: how many are in a round */

static void meet(uint32_t round)
{
	__atomic_fetch_add(&round_ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&round_ready, __ATOMIC_ACQUIRE) < 2 * round)
		sched_yield();
}

static struct {
	int32_t delay; /* of who takes it back; negative: of who launches it */
	bool over;
} race;

static void spin(int32_t n)
{
	for (volatile int32_t i = 0; i < n; i++)
		;
}

static void *launch_always(void *arg)
{
	(void)arg;
	for (uint32_t round = 1;; round++) {
		meet(2 * round - 1);
		if (race.over)
			return NULL;
		spin(-race.delay);
		ocl_chunk_launch(&chunk, NULL, true);
		meet(2 * round);
	}
}

/* Who comes first waits longer: a little, and ever more as long as he still does. */
static void handicap(bool mine)
{
	static bool last;
	static int32_t step = 1;

	step = mine == last ? RTE_MIN(2 * step, FURTHEST) : 1;
	last = mine;
	race.delay += mine ? step : -step;
	race.delay = RTE_MIN(race.delay, FURTHEST);
	race.delay = RTE_MAX(race.delay, -FURTHEST);
}

/* Whoever comes first, both know who it was; and each does, now and then. */
static void either(void **state)
{
	unsigned int taken_back = 0, sent = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, launch_always, NULL), 0);
	for (uint32_t round = 1; !race.over; round++) {
		bool mine;

		fill(&chunk);
		meet(2 * round - 1);
		spin(race.delay);
		mine = ocl_chunk_withdraw(&chunk);
		meet(2 * round);
		assert_int_equal(launches, !mine);
		assert_int_equal(ocl_chunk_sent(&chunk), !mine);
		taken_back += mine;
		sent += !mine;
		if (!mine)
			wait_for(&chunk);
		handicap(mine);
		race.over = round == MOST || (round >= ROUNDS && RTE_MIN(taken_back, sent) >= FEW);
	}
	__atomic_fetch_add(&round_ready, 1, __ATOMIC_ACQ_REL); /* it waits for the next round to begin */
	assert_int_equal(pthread_join(thread, NULL), 0);
	print_message("%u taken back, %u sent\n", taken_back, sent);
	assert_true(taken_back >= FEW && sent >= FEW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launched),
		cmocka_unit_test(withdrawn),
		cmocka_unit_test(withdrawn_letter),
		cmocka_unit_test(lost_meanwhile),
		cmocka_unit_test(either),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
