/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chunk that the launcher's thread launches while its queue pair withdraws it, because the device is
 * given up: exactly one of them succeeds, and the device never sees a withdrawn chunk.
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
#define FEW	 10	   /* minimum number of rounds that each of the two threads wins */
#define MOST	 20000	   /* rounds in which FEW has to be reached */
#define FURTHEST (1 << 24) /* iterations of an empty loop */

static struct ocl_device dev;
static struct ocl_sched sched;
static struct ocl_table table;
static struct ocl_chunk_params params = {
	.dev = &dev,
	.sched = &sched,
	.records = 32,
	.bytes = 65536,
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

static int finish(void **state)
{
	(void)state;
	ocl_chunk_free(&chunk);
	ocl_table_free(&table);
	ocl_device_close(&dev);
	return 0;
}

/* An empty packet of a session without algorithms. */
static void fill(struct ocl_chunk *into)
{
	struct ocl_record *record;
	uint32_t result;

	if (into->state != OCL_EMPTY)
		ocl_chunk_reset(into);
	ocl_chunk_open(into, false);
	record = ocl_chunk_add(into, 0, 0, sizeof(*record));
	assert_non_null(record);
	result = record->result;
	memset(record, 0, sizeof(*record));
	record->result = result;
	ocl_chunk_close(into);
	launches = transfers = 0;
}

static void launch(struct ocl_chunk *closed, enum ocl_state expected)
{
	enum ocl_state state = ocl_chunk_launch(closed, NULL, true);

	assert_int_equal(state, expected);
	assert_true(ocl_state_move(&closed->state, state));
}

static void wait_for(struct ocl_chunk *sent)
{
	enum ocl_state state;

	while ((state = ocl_chunk_poll(sent)) == OCL_LAUNCHED)
		rte_pause();
	assert_int_equal(state, OCL_DONE);
	assert_true(ocl_state_move(&sent->state, state));
	assert_int_equal(ocl_chunk_result(sent, 0), OCL_STATUS_DONE);
}

static void launched(void **state)
{
	(void)state;
	fill(&chunk);
	launch(&chunk, OCL_LAUNCHED);
	assert_int_equal(ocl_chunk_withdraw(&chunk), OCL_LOST);
	assert_int_equal(launches, 1);
	wait_for(&chunk);
}

/* A chunk without packets needs no launch. */
static void empty(void **state)
{
	(void)state;
	ocl_chunk_reset(&chunk);
	ocl_chunk_open(&chunk, false);
	ocl_chunk_close(&chunk);
	launches = transfers = 0;
	launch(&chunk, OCL_DONE);
	assert_int_equal(launches + transfers, 0);
}

static void withdrawn(void **state)
{
	(void)state;
	fill(&chunk);
	assert_int_equal(ocl_chunk_withdraw(&chunk), OCL_UNSENT);
	launch(&chunk, OCL_UNSENT);
	assert_int_equal(ocl_chunk_withdraw(&chunk), OCL_LOST);
	assert_int_equal(ocl_chunk_result(&chunk, 0), OCL_STATUS_PENDING);
	assert_int_equal(launches + transfers, 0);
	assert_false(ocl_device_lost(&dev));
}

/* Polling posts a chunk that found no room in the persistent kernel's mailbox; a withdrawn one is not
 * posted. */
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
	launch(&letter, OCL_LAUNCHED);
	wait_for(&letter);
	fill(&letter);
	assert_int_equal(ocl_chunk_withdraw(&letter), OCL_UNSENT);
	launch(&letter, OCL_UNSENT);
	assert_int_equal(letter.letter, 0); /* that of the first launch */
	ocl_chunk_free(&letter);
	(memory->stop)(&dev); /* stop() is a macro of cmocka since 2.0 */
	assert_false(ocl_device_lost(&dev));
}

static const struct ocl_memory *sound;
static struct ocl_chunk waiting;
static enum ocl_state impatient, patient;

static void *launch_waiting(void *arg)
{
	(void)arg;
	patient = ocl_chunk_launch(&waiting, NULL, true);
	return NULL;
}

/* In the middle of a launch, with the lock held: another chunk is not launched without patience; with
 * patience its thread waits, and when it has waited the device is lost. */
static cl_int lose(struct ocl_chunk *launching, size_t items, const cl_event *after)
{
	cl_int err = sound->launch(launching, items, after);
	pthread_t thread;

	impatient = ocl_chunk_launch(&waiting, NULL, false);
	ocl_device_fail(&dev, "a test", 0);
	if (pthread_create(&thread, NULL, launch_waiting, NULL) || pthread_join(thread, NULL))
		return CL_OUT_OF_HOST_MEMORY;
	return err;
}

/* Another thread gives the device up while this one waits for the lock around OpenCL: the device sees
 * nothing of the chunk, and it is not claimed. */
static void lost_meanwhile(void **state)
{
	struct ocl_memory losing = *chunk.memory;

	(void)state;
	assert_int_equal(ocl_chunk_init(&waiting, &params), 0);
	sound = chunk.memory;
	losing.launch = lose;
	fill(&waiting);
	fill(&chunk);
	chunk.memory = &losing;
	launch(&chunk, OCL_LAUNCHED);
	chunk.memory = sound;
	assert_int_equal(launches, 1);
	assert_int_equal(impatient, OCL_CLOSED);
	assert_int_equal(patient, OCL_UNSENT);
	assert_int_equal(ocl_chunk_withdraw(&waiting), OCL_UNSENT);
	dev.lost = false; /* the test only pretended it: the device has to be closed */
	wait_for(&chunk);
	ocl_chunk_free(&waiting);
}

static uint32_t round_ready; /* atomic: threads that have entered the round */

static void meet(uint32_t round)
{
	__atomic_fetch_add(&round_ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&round_ready, __ATOMIC_ACQUIRE) < 2 * round)
		sched_yield();
}

static struct {
	int32_t delay; /* delay of the withdrawal; negative: of the launch */
	bool over;
	enum ocl_state launched; /* result of the launching thread */
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
		race.launched = ocl_chunk_launch(&chunk, NULL, true);
		meet(2 * round);
	}
}

/* The winner is delayed in the next round, by twice as much each time it wins again. */
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

/* Exactly one of launch and withdrawal succeeds, both threads agree which, and each wins some rounds. */
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
		mine = ocl_chunk_withdraw(&chunk) == OCL_UNSENT;
		meet(2 * round);
		assert_int_equal(launches, !mine);
		assert_int_equal(race.launched, mine ? OCL_UNSENT : OCL_LAUNCHED);
		assert_true(ocl_state_move(&chunk.state, race.launched));
		taken_back += mine;
		sent += !mine;
		if (!mine)
			wait_for(&chunk);
		handicap(mine);
		race.over = round == MOST || (round >= ROUNDS && RTE_MIN(taken_back, sent) >= FEW);
	}
	__atomic_fetch_add(&round_ready, 1,
			   __ATOMIC_ACQ_REL); /* the thread waits for the next round */
	assert_int_equal(pthread_join(thread, NULL), 0);
	print_message("%u taken back, %u sent\n", taken_back, sent);
	assert_true(taken_back >= FEW && sent >= FEW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launched),	  cmocka_unit_test(empty),
		cmocka_unit_test(withdrawn),	  cmocka_unit_test(withdrawn_letter),
		cmocka_unit_test(lost_meanwhile), cmocka_unit_test(either),
	};

	return cmocka_run_group_tests(tests, start, finish);
}
