/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include <rte_bus_vdev.h>
#include <rte_errno.h>

#include "failing.h"
#include "faults.h"
#include "operations.h"
#include "pmd/launcher.h"

/* Operations of a queue pair, each a chunk: OPERATIONS of two queue pairs are one more than the
 * launching thread has room for. Each takes a command queue of the device and pinned memory. */
#define CHUNKS (3 * OCL_LAUNCHER_CHUNKS / 2)

/* After a device has been given up all operations complete with an error, and no memory that the
 * device may still read is written. The failure is logged once. */
static void check_lost(const struct device *dev, void *session)
{
	struct suite suite = esp_template;
	uint64_t deadline = 0, sum;

	/* The device may only be late: wait until it writes nothing more. */
	while (is_at_work())
		expect_progress(0, &deadline);
	sum = shared_sum();
	suite_keys(&suite);
	round_trip(dev, 0, session, 64, RTE_CRYPTO_OP_STATUS_ERROR);
	round_trip(dev, 0, session, 3, RTE_CRYPTO_OP_STATUS_ERROR);
	CHECK(shared_sum() == sum);
	CHECK(suite_session(dev, &suite, true) == NULL && rte_errno == EIO);
	CHECK(log_end("is given up") == 1);
}

/* All operations of the failed device complete with an error, also later ones. Other devices are
 * not affected. */
static void failing_device(const struct device *sound, const char *what, bool *fault,
			   const char *args)
{
	struct suite suite = esp_template;
	struct device dev;
	void *session, *sound_session;

	printf("  %s, %s\n", what, args);
	device_open(&dev, args, 1);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	sound_session = suite_session(sound, &suite, true);
	round_trip(&dev, 0, session, 4, RTE_CRYPTO_OP_STATUS_SUCCESS);
	log_begin();
	*fault = true;
	round_trip(&dev, 0, session, 64, RTE_CRYPTO_OP_STATUS_ERROR);
	*fault = false;
	check_lost(&dev, session);
	round_trip(sound, 0, sound_session, 4, RTE_CRYPTO_OP_STATUS_SUCCESS);
	session_free(&dev, session);
	session_free(sound, sound_session);
	device_close(&dev);
}

/* The device accepts n more commands of any kind and then none: operations launched before are
 * completed, all others fail. */
static void failing_after(const struct device *sound, const char *args, int n)
{
	struct suite suite = esp_template;
	struct rte_crypto_op *op[64], *back[64];
	bool failed = false;
	struct device dev;
	void *session, *sound_session;

	device_open(&dev, args, 1);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	sound_session = suite_session(sound, &suite, true);
	log_begin();
	fault_after = n;
	for (unsigned int round = 0; round <= (unsigned int)n; round++) {
		for (unsigned int i = 0; i < RTE_DIM(op); i++)
			op[i] = make_op(session);
		CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op, RTE_DIM(op)) == RTE_DIM(op));
		take_all(&dev, 0, back, RTE_DIM(op));
		for (unsigned int i = 0; i < RTE_DIM(op); i++) {
			CHECK(back[i] == op[i]);
			CHECK(back[i]->status == RTE_CRYPTO_OP_STATUS_ERROR ||
			      (!failed && back[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS));
			failed = failed || back[i]->status == RTE_CRYPTO_OP_STATUS_ERROR;
			free_op(back[i]);
		}
	}
	fault_after = -1;
	CHECK(failed);
	check_lost(&dev, session);
	round_trip(sound, 0, sound_session, 4, RTE_CRYPTO_OP_STATUS_SUCCESS);
	session_free(&dev, session);
	session_free(sound, sound_session);
	device_close(&dev);
}

/* More chunks than the launching thread has room for, on a device that never answers: chunks
 * that were never launched are completed too. None is completed before the time limit. */
static void failing_queue(void)
{
	static struct rte_crypto_op *op[2 * CHUNKS];
	struct rte_crypto_op *back[64];
	struct suite suite = esp_template;
	unsigned int done = 0;
	uint64_t deadline = 0, begun;
	struct device dev;
	void *session;

	device_open_sized(&dev, "memory=staged,sched=none,chunk=1,launches=thread,timeout_ms=1000",
			  2, CHUNKS);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	for (unsigned int i = 0; i < RTE_DIM(op); i++)
		op[i] = make_op(session);
	log_begin();
	fault_hang = true;
	begun = rte_get_tsc_cycles();
	for (uint16_t qp = 0; qp < 2; qp++)
		CHECK(rte_cryptodev_enqueue_burst(dev.id, qp, op + qp * CHUNKS, CHUNKS) == CHUNKS);
	while (done < RTE_DIM(op)) {
		unsigned int n = rte_cryptodev_dequeue_burst(dev.id, done / CHUNKS, back,
							     RTE_DIM(back));

		expect_progress(n, &deadline);
		/* not before timeout_ms, less the rounding to cycles */
		CHECK(n == 0 || rte_get_tsc_cycles() - begun >= rte_get_tsc_hz() / 1000 * 1000);
		for (unsigned int i = 0; i < n; i++) {
			CHECK(back[i] == op[done++]);
			CHECK(back[i]->status == RTE_CRYPTO_OP_STATUS_ERROR);
			free_op(back[i]);
		}
	}
	fault_hang = false;
	CHECK(log_end("is given up") == 1);
	session_free(&dev, session);
	device_close(&dev);
}

/* The upload of a session fails, or its completion does. */
static void failing_upload(bool at_clear)
{
	struct suite suite = esp_template;
	struct device dev;
	void *session;

	device_open(&dev, NULL, 1);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	round_trip(&dev, 0, session, 1, RTE_CRYPTO_OP_STATUS_SUCCESS);
	log_begin();
	fault_after = 0;
	if (at_clear)
		session_free(&dev, session);
	else
		CHECK(suite_session(&dev, &suite, true) == NULL && rte_errno == EIO);
	fault_after = -1;
	CHECK(log_end("is given up") == 1);
	round_trip(&dev, 0, session, 2, RTE_CRYPTO_OP_STATUS_ERROR);
	if (!at_clear)
		session_free(&dev, session);
	device_close(&dev);
}

/* Probing fails without other effects. */
static void failing_start(const char *args)
{
	for (fault_after = 0; fault_after >= 0;) {
		int n = fault_after;

		if (rte_vdev_init(DRIVER "_bad", args) == 0) {
			CHECK(fault_after > 0 && rte_vdev_uninit(DRIVER "_bad") == 0);
			break;
		}
		CHECK(fault_after == 0);
		CHECK(rte_cryptodev_get_dev_id(DRIVER "_bad") < 0);
		fault_after = n ? 4 * n : 1;
	}
	fault_after = -1;
}

void failing_devices(const struct device *sound)
{
	static const char *const both[] = {"launches=lcore", "launches=thread"};
	static const char *const hung[] = {"launches=lcore,timeout_ms=2000",
					   "launches=thread,timeout_ms=2000"};

	for (unsigned int i = 0; i < RTE_DIM(both); i++) {
		failing_device(sound, "a launch is refused", &fault_launch, both[i]);
		failing_device(sound, "a command fails", &fault_error, both[i]);
		failing_device(sound, "nothing completes", &fault_hang, hung[i]);
	}
	printf("  after some commands\n");
	failing_after(sound, "chunk=32", 1);
	for (int n = 0; n < 4; n++)
		failing_after(sound, "memory=staged,chunk=32", n);
	printf("  with more than there is room for\n");
	failing_queue();
	printf("  at the start\n");
	failing_start("sched=length");
	failing_start("memory=staged");
}

void failing_uploads(void)
{
	failing_upload(false);
	failing_upload(true);
}
