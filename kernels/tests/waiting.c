/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <pthread.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "dpdk_release.h"
#include "faults.h"
#include "operations.h"
#include "waiting.h"

#define ROUNDS	20
#define MOST	300 /* rounds: a machine so busy tells nothing */
#define WAKE_US 100 /* crypto_opencl(7), launches= */
#define NAP_US	20  /* as of the launching thread */

static uint64_t cycles(uint64_t us)
{
	return us * rte_get_tsc_hz() / 1000000;
}

/* Send an operation and poll until it is launched, at the latest by the first call after its
 * wait time, which may be the call that sends it. The delay of that call depends on the machine.
 * @return completed operations */
static unsigned int launch_within(const struct device *dev, struct rte_crypto_op *op,
				  unsigned int wait_us, struct rte_crypto_op **back,
				  unsigned int room)
{
	unsigned int before = launches, n = 0;
	uint64_t latest;

	CHECK(rte_cryptodev_enqueue_burst(dev->id, 0, &op, 1) == 1);
	latest = rte_get_tsc_cycles() + cycles(wait_us);
	while (launches == before) {
		uint64_t now = rte_get_tsc_cycles();

		n += rte_cryptodev_dequeue_burst(dev->id, 0, back + n, room - n);
		CHECK(launches > before || now < latest);
	}
	return n;
}

/* A single packet is launched on an idle device within its wait time, 50 us by default; with
 * another packet in flight within the time for a busy device. */
static void waits_no_longer(const char *args, unsigned int idle_us, unsigned int busy_us)
{
	struct suite suite = esp_template;
	struct rte_crypto_op *op[2], *back[2];
	struct device dev;
	unsigned int n;
	void *session;

	device_open(&dev, args, 1);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < 2; i++)
			op[i] = make_op(session);
		fault_hang = true; /* the first one stays in flight */
		n = launch_within(&dev, op[0], idle_us, back, 2);
		CHECK(n == 0);
		n += launch_within(&dev, op[1], busy_us, back + n, 2 - n);
		fault_hang = false;
		take_all(&dev, 0, back + n, 2 - n);
		for (unsigned int i = 0; i < 2; i++) {
			CHECK(back[i] == op[i] && back[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS);
			free_op(back[i]);
		}
	}
	session_free(&dev, session);
	device_close(&dev);
}

/* A thread with nothing to do but to answer, as late as the launching thread launches. */
static struct {
	unsigned int asked, answered, wait_us;
	bool over;
} control;

static dpdk_thread_result answer(void *arg)
{
	while (!__atomic_load_n(&control.over, __ATOMIC_ACQUIRE)) {
		unsigned int asked = __atomic_load_n(&control.asked, __ATOMIC_ACQUIRE);

		if (asked == control.answered) {
			rte_delay_us_sleep(NAP_US);
			continue;
		}
		rte_delay_us_block(control.wait_us);
		__atomic_store_n(&control.answered, asked, __ATOMIC_RELEASE);
	}
	(void)arg;
	return 0;
}

/* @return whether it is soon enough for a sleeping thread */
static bool is_soon(uint64_t begun, unsigned int wait_us)
{
	return rte_get_tsc_cycles() - begun <= cycles(wait_us + WAKE_US);
}

static bool control_answers(unsigned int wait_us)
{
	unsigned int asked = control.asked + 1;
	uint64_t begun = rte_get_tsc_cycles();

	control.wait_us = wait_us;
	__atomic_store_n(&control.asked, asked, __ATOMIC_RELEASE);
	while (__atomic_load_n(&control.answered, __ATOMIC_ACQUIRE) != asked)
		rte_pause();
	return is_soon(begun, wait_us);
}

static bool thread_launches(const struct device *dev, struct rte_crypto_op *op,
			    unsigned int wait_us)
{
	unsigned int before = __atomic_load_n(&launches, __ATOMIC_RELAXED);
	uint64_t begun = rte_get_tsc_cycles();

	CHECK(rte_cryptodev_enqueue_burst(dev->id, 0, &op, 1) == 1);
	while (__atomic_load_n(&launches, __ATOMIC_RELAXED) == before)
		CHECK(rte_cryptodev_dequeue_burst(dev->id, 0, &op, 1) == 0);
	return is_soon(begun, wait_us);
}

static bool thread_launches_both(const struct device *dev, void *session)
{
	struct rte_crypto_op *op[2] = {make_op(session), make_op(session)}, *back[2];
	bool soon;

	fault_hang = true;
	soon = thread_launches(dev, op[0], 50);
	soon &= thread_launches(dev, op[1], 80);
	fault_hang = false;
	take_all(dev, 0, back, 2);
	for (unsigned int i = 0; i < 2; i++)
		free_op(back[i]);
	return soon;
}

/* The same with a launching thread, which sleeps before the first operation and is awake for the
 * second. It is in time in one of five rounds in which another thread is. */
static void thread_waits_no_longer(void)
{
	unsigned int good = 0, fair = 0, rounds = 0;
	bool soon;
	struct suite suite = esp_template;
	struct device dev;
	pthread_t thread;
	void *session;

	device_open(&dev, "launches=thread,wait_us=50,busy_wait_us=80", 1);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	control.over = false;
	CHECK(dpdk_control_thread(&thread, "control", answer, NULL) == 0);
	for (; good < ROUNDS && rounds < MOST; rounds++) {
		rte_delay_us_sleep(2000);
		soon = control_answers(50);
		soon &= control_answers(80);
		fair += soon;
		rte_delay_us_sleep(2000);
		good += thread_launches_both(&dev, session);
		CHECK(fair < 5 * (good + ROUNDS));
	}
	__atomic_store_n(&control.over, true, __ATOMIC_RELEASE);
	CHECK(pthread_join(thread, NULL) == 0);
	printf("  %u of %u rounds, the control %u\n", good, rounds, fair);
	session_free(&dev, session);
	device_close(&dev);
}

/* Whether a wait of a second that began then may be over, as on a busy machine. */
static bool waited(uint64_t start)
{
	return rte_get_tsc_cycles() - start >= rte_get_tsc_hz();
}

/* A full chunk is launched at once, another one after its wait time. */
static void bounded_wait(void)
{
	struct suite suite = esp_template;
	struct rte_crypto_op *op[8], *back[8];
	unsigned int before, n;
	struct device dev;
	uint64_t start;
	void *session;

	device_open(&dev, "chunk=8,wait_us=1000000", 1);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	before = launches;
	for (unsigned int i = 0; i < 7; i++)
		op[i] = make_op(session);
	start = rte_get_tsc_cycles();
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op, 7) == 7);
	n = rte_cryptodev_dequeue_burst(dev.id, 0, back, 8);
	CHECK((n == 0 && launches == before) || waited(start));
	op[7] = make_op(session);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op + 7, 1) == 1);
	CHECK(launches == before + 1 || waited(start));
	take_all(&dev, 0, back + n, 8 - n);
	CHECK(launches == before + 1 || waited(start));
	for (unsigned int i = 0; i < 8; i++)
		free_op(back[i]);
	before = launches;
	start = rte_get_tsc_cycles();
	round_trip(&dev, 0, session, 3, RTE_CRYPTO_OP_STATUS_SUCCESS);
	CHECK(waited(start));
	CHECK(launches == before + 1);
	session_free(&dev, session);
	device_close(&dev);
}

/* A busy device delays launches, but not without limit. */
static void bounded_wait_when_busy(void)
{
	struct suite suite = esp_template;
	struct rte_crypto_op *op[11], *back[11];
	struct device dev;
	uint64_t start, deadline = 0;
	unsigned int before;
	void *session;

	device_open(&dev, "chunk=8,wait_us=100000,busy_wait_us=1000000,timeout_ms=60000", 1);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	for (unsigned int i = 0; i < RTE_DIM(op); i++)
		op[i] = make_op(session);
	before = launches;
	fault_hang = true;
	start = rte_get_tsc_cycles();
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op, RTE_DIM(op)) == RTE_DIM(op));
	CHECK(launches == before + 1 || waited(start));
	while (launches == before + 1) {
		CHECK(rte_cryptodev_dequeue_burst(dev.id, 0, back, RTE_DIM(back)) == 0);
		expect_progress(0, &deadline);
	}
	CHECK(waited(start));
	fault_hang = false;
	take_all(&dev, 0, back, RTE_DIM(op));
	CHECK(launches == before + 2);
	for (unsigned int i = 0; i < RTE_DIM(op); i++)
		free_op(back[i]);
	session_free(&dev, session);
	device_close(&dev);
}

/* All operations are completed and freed. */
static void take_back(const struct device *dev, unsigned int taken)
{
	struct rte_crypto_op *back[64];
	uint64_t deadline = 0;

	for (unsigned int returned = 0, n; returned < taken; returned += n) {
		n = rte_cryptodev_dequeue_burst(dev->id, 0, back, RTE_DIM(back));
		for (unsigned int i = 0; i < n; i++)
			free_op(back[i]);
		expect_progress(n, &deadline);
	}
}

/* No more operations are accepted than there are chunks, and all accepted ones are completed.
 * They are in one burst, because between bursts a partly filled chunk may be launched. */
static void back_pressure(void)
{
	static struct rte_crypto_op *op[DESCRIPTORS + 1];
	struct suite suite = esp_template;
	struct device dev;
	void *session;

	device_open(&dev, "chunk=512,wait_us=1000000", 1);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	for (unsigned int i = 0; i < RTE_DIM(op); i++)
		op[i] = make_op(session);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op, RTE_DIM(op)) == DESCRIPTORS);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op + DESCRIPTORS, 1) == 0);
	free_op(op[DESCRIPTORS]);
	take_back(&dev, DESCRIPTORS);
	session_free(&dev, session);
	device_close(&dev);
}

/* Operations that are enqueued one by one, with nothing dequeued meanwhile, fill the last chunk: its wait
 * time ends only when another chunk can follow. The pauses let an idle device finish each chunk. */
static void last_chunk_stays_open(void)
{
	struct suite suite = esp_template;
	struct rte_crypto_op *op[1 + 1 + 8 + 1],
		*back[RTE_DIM(op)]; /* three chunks, and one more */
	const unsigned int fit = RTE_DIM(op) - 1;
	struct device dev;
	void *session;

	device_open_sized(&dev, "chunk=8,wait_us=0", 1, 3 * 8);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	for (unsigned int i = 0; i < RTE_DIM(op); i++) {
		op[i] = make_op(session);
		CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op + i, 1) == (i < fit));
		rte_delay_us_sleep(2000);
	}
	take_all(&dev, 0, back, fit);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op + fit, 1) == 1);
	take_all(&dev, 0, back + fit, 1);
	for (unsigned int i = 0; i < RTE_DIM(op); i++) {
		CHECK(back[i] == op[i] && back[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS);
		free_op(back[i]);
	}
	session_free(&dev, session);
	device_close(&dev);
}

/* Nor are more bytes accepted, in chunks or left over for lack of a bin. An idle device then
 * launches at once. */
static void back_pressure_of_bytes(const char *args)
{
	struct suite suite = esp_template, other = esp_template;
	struct rte_crypto_op *op;
	unsigned int taken = 0, before;
	uint64_t start;
	struct device dev;
	void *session, *first;

	device_open(&dev, args, 1);
	other.auth = OCL_AUTH_HMAC_SHA256;
	suite_keys(&suite);
	suite_keys(&other);
	session = suite_session(&dev, &suite, true);
	first = suite_session(&dev, &other, true);
	before = launches;
	fault_hang = true;
	start = rte_get_tsc_cycles();
	for (;;) {
		op = make_op(taken ? session : first);
		if (rte_cryptodev_enqueue_burst(dev.id, 0, &op, 1) == 0)
			break;
		taken++;
	}
	CHECK(taken > 64 && taken < 512);
	CHECK(launches == before + 1 || waited(start));
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, &op, 1) == 0);
	fault_hang = false;
	take_back(&dev, taken);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, &op, 1) == 1);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, NULL, 0) == 0);
	take_back(&dev, 1);
	session_free(&dev, first);
	session_free(&dev, session);
	device_close(&dev);
}

void waiting(bool two)
{
	RUN(waits_no_longer(NULL, 50, 50));
	RUN(waits_no_longer("wait_us=3000", 3000, 3000));
	RUN(waits_no_longer("wait_us=20,busy_wait_us=60", 20, 60));
	RUN(waits_no_longer("busy_wait_us=500", 50, 500));
	if (two) /* the launching thread needs a CPU of its own */
		RUN(thread_waits_no_longer());
	RUN(bounded_wait());
	RUN(bounded_wait_when_busy());
	RUN(back_pressure());
	RUN(last_chunk_stays_open());
	RUN(back_pressure_of_bytes("chunk=512,wait_us=1000000,under_way=64,timeout_ms=60000"));
	RUN(back_pressure_of_bytes(
		"chunk=512,bins=1,wait_us=1000000,under_way=64,timeout_ms=60000"));
}
