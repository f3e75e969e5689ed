/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measuring devices of known speed, which this test makes out of real ones. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>

#include "crypto/auto/auto.h"
#include "crypto/auto/measure.h"
#include "crypto/auto/measured.h"
#include "crypto/auto/offload.h"
#include "crypto/device/engine.h"
#include "eal_fixture.h"

#define DEPTH_US 400u
#define EACH_US	 4u
#define TRIES	 100u

/* --- a device that collects packets: each stays for a time, and one is completed after another
 * --- */

static struct {
	struct rte_crypto_op *op[MEASURE_PACKETS];
	uint64_t due[MEASURE_PACKETS], last;
	unsigned int in, out;
} tube;

static uint16_t tube_enqueue(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	uint64_t us = rte_get_tsc_hz() / 1000000, soonest = rte_get_tsc_cycles() + DEPTH_US * us;

	(void)qp;
	for (uint16_t i = 0; i < n; i++) {
		tube.last = RTE_MAX(soonest, tube.last + EACH_US * us);
		tube.due[tube.in % MEASURE_PACKETS] = tube.last;
		tube.op[tube.in++ % MEASURE_PACKETS] = ops[i];
	}
	return n;
}

static uint16_t tube_dequeue(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	uint64_t now = rte_get_tsc_cycles();
	uint16_t done = 0;

	(void)qp;
	while (done < n && tube.out != tube.in && tube.due[tube.out % MEASURE_PACKETS] <= now) {
		ops[done] = tube.op[tube.out++ % MEASURE_PACKETS];
		ops[done++]->status = RTE_CRYPTO_OP_STATUS_SUCCESS;
	}
	return done;
}

/* --- tests --- */

static struct rte_crypto_fp_ops good;
static unsigned int devices;

/* A device that supports AES-GCM and little else. */
static int start(void **state)
{
	struct conf conf;

	(void)state;
	conf_defaults(&conf);
	conf.engine = ENGINE_CPU;
	if (rte_vdev_init("crypto_aesni_gcm7", NULL) || engines_start(&conf, 2, 16))
		return -1;
	assert_string_equal(engine_device[0].name, "crypto_aesni_gcm7");
	/* There are no workers: their queue pairs are for measuring. */
	for (unsigned int d = 0; d < engine_devices; d++) {
		assert_int_equal(engine_device[d].measure_queues, 0);
		engine_device[d].measure_queue = 0;
		engine_device[d].measure_queues = 2;
	}
	return 0;
}

static int finish(void **state)
{
	(void)state;
	engines_stop();
	return rte_vdev_uninit("crypto_aesni_gcm7");
}

static int use_first(unsigned int n)
{
	devices = engine_devices;
	engine_devices = n;
	engine_device[0].at_once = false;
	good = rte_crypto_fp_ops[engine_device[0].id];
	return 0;
}

static int alone(void **state)
{
	(void)state;
	return use_first(1);
}

static int with_another(void **state)
{
	(void)state;
	return use_first(2);
}

static int clean(void **state)
{
	(void)state;
	rte_crypto_fp_ops[engine_device[0].id] = good;
	engine_devices = devices;
	return 0;
}

static bool about(float gbps, float truth)
{
	return gbps > truth * 0.9f && gbps < truth * 1.1f;
}

static int measure_for(unsigned int threads, unsigned int limit_ms)
{
	int err = measure_begin(threads);

	if (err)
		return err;
	err = measure_all(limit_ms);
	measure_end();
	return err;
}

/* A slow machine needs several starts. */
static void measure_to_the_end(void)
{
	int err;

	do
		err = measure_for(1, MEASURE_MS);
	while (err == -ETIME);
	assert_int_equal(err, 0);
}

/* The time that the device takes to collect packets does not count. */
static void full_tube(void **state)
{
	const unsigned int length = LENGTH_CLASSES - 1;
	const struct measured *m = &measured[0][0][length];
	const float truth = (float)length_class_bytes[length] * 8 / (EACH_US * 1000);
	bool right = false;

	(void)state;
	rte_crypto_fp_ops[engine_device[0].id].enqueue_burst = tube_enqueue;
	rte_crypto_fp_ops[engine_device[0].id].dequeue_burst = tube_dequeue;
	/* Other processes may have had the core. */
	for (unsigned int i = 0; i < TRIES && !right; i++) {
		measure_to_the_end();
		assert_true(m->latency_us >= DEPTH_US);
		right = about(m->gbps, truth);
	}
	assert_true(right);
}

/* A measurement that reaches the time limit differs from a complete one. */
static void late(void **state)
{
	static const struct measured none[LENGTH_CLASSES];

	(void)state;
	assert_int_equal(measure_for(1, 0), -ETIME);
	assert_memory_equal(measured[0][0], none, sizeof(none));
	measure_to_the_end();
	assert_true(measured[0][0][0].gbps > 0);
}

/* Algorithms measured by an earlier start are skipped. */
static void goes_on(void **state)
{
	const struct measured known = {7, 7, 7};

	(void)state;
	memset(measured, 0, sizeof(measured));
	measured[0][0][0] = known;
	measured_algorithms = 1;
	measure_to_the_end();
	assert_memory_equal(&measured[0][0][0], &known, sizeof(known));
	assert_true(measured[0][1][0].gbps > 0);
	measure_to_the_end(); /* all again */
	assert_memory_not_equal(&measured[0][0][0], &known, sizeof(known));
}

static uint16_t deny(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	uint16_t done = good.dequeue_burst(qp, ops, n);

	for (uint16_t i = 0; i < done; i++)
		ops[i]->status = RTE_CRYPTO_OP_STATUS_ERROR;
	return done;
}

static uint16_t swallow(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	(void)qp;
	(void)ops;
	return n;
}

static uint16_t keep_all(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	(void)qp;
	(void)ops;
	(void)n;
	return 0;
}

/* With as many threads as there are workers. */
static void shared(void **state)
{
	(void)state;
	measured_algorithms = algorithm_count - 1;
	assert_int_equal(measure_for(2, MEASURE_MS), 0);
	assert_int_equal(measured_algorithms, algorithm_count);
}

static void use_folder(struct conf *conf, char path[])
{
	conf_defaults(conf);
	snprintf(conf->state, sizeof(conf->state), "/tmp/cyg-measure-XXXXXX");
	assert_non_null(mkdtemp(conf->state));
	sprintf(path, "%s/engines", conf->state);
}

static void measure_in_background(const struct conf *conf)
{
	auto_read(conf);
	assert_true(offload_enabled && measured_algorithms == 0);
	auto_prepare(conf);
	assert_false(auto_report());
	auto_begin();
	while (!auto_report())
		rte_delay_us_sleep(1000);
	offload_choose_all();
	assert_true(offload_enabled);
}

/* Measurements with a failed device are used, but not saved. */
static void kept(void **state)
{
	char path[sizeof(((struct conf *)0)->state) + 16];
	const char *engine = engine_device[1].engine;
	struct conf conf;

	(void)state;
	use_folder(&conf, path);
	engine_device[1].engine = "opencl";
	rte_crypto_fp_ops[engine_device[0].id].dequeue_burst = deny;
	measure_in_background(&conf);
	assert_int_equal(access(path, F_OK), -1);
	assert_true(measured[0][0][0].gbps == 0 && measured[1][0][0].gbps > 0);
	auto_stop();
	rte_crypto_fp_ops[engine_device[0].id] = good;
	measure_in_background(&conf);
	assert_int_equal(access(path, F_OK), 0);
	assert_true(measured[0][0][0].gbps > 0);
	auto_stop();
	assert_false(offload_enabled);
	engine_device[1].engine = engine;
	unlink(path);
	rmdir(conf.state);
}

static uint16_t slowly(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	rte_delay_us_sleep(1000);
	return good.dequeue_burst(qp, ops, n);
}

/* What has been measured until the end is not measured again, and an end before the beginning is none. */
static void ended(void **state)
{
	char path[sizeof(((struct conf *)0)->state) + 16];
	const char *engine = engine_device[1].engine;
	struct conf conf;

	(void)state;
	use_folder(&conf, path);
	engine_device[1].engine = "opencl";
	auto_read(&conf);
	auto_prepare(&conf);
	auto_stop();
	assert_int_equal(access(path, F_OK), -1);
	rte_crypto_fp_ops[engine_device[0].id].dequeue_burst = slowly;
	auto_read(&conf);
	auto_prepare(&conf);
	auto_begin();
	while (!__atomic_load_n(&measured_algorithms, __ATOMIC_ACQUIRE))
		rte_delay_us_sleep(100);
	auto_stop();
	assert_true(measured_algorithms < algorithm_count);
	auto_read(&conf);
	assert_true(measured_algorithms > 0 && measured[1][0][0].gbps > 0);
	auto_stop();
	engine_device[1].engine = engine;
	unlink(path);
	rmdir(conf.state);
}

/* Where all devices are the CPU's nothing is measured: the first one serves. */
static void only_cpu(void **state)
{
	char path[sizeof(((struct conf *)0)->state) + 16];
	struct conf conf;

	(void)state;
	use_folder(&conf, path);
	auto_read(&conf);
	assert_false(offload_enabled);
	auto_prepare(&conf);
	auto_begin();
	assert_false(auto_report());
	auto_stop();
	assert_int_equal(access(path, F_OK), -1);
	rmdir(conf.state);
}

/* Without a device that was lost before the others are measured, but the results are not for a start at which it
 * works. */
static void lost_before(void **state)
{
	int err;

	(void)state;
	measured_algorithms = 0;
	engines_lost = 1;
	do
		err = measure_for(1, MEASURE_MS);
	while (measured_algorithms < algorithm_count && err != -ENOMEM);
	engines_lost = 0;
	assert_int_equal(err, -EAGAIN);
	assert_true(measured[0][0][0].gbps == 0 && measured[1][0][0].gbps > 0);
}

/* What is behind a device that is lost counts as not measured. The last test: the operations are lost, too. */
static void lost(void **state)
{
	(void)state;
	measured_algorithms = 0;
	rte_crypto_fp_ops[engine_device[0].id].enqueue_burst = swallow;
	rte_crypto_fp_ops[engine_device[0].id].dequeue_burst = keep_all;
	assert_int_equal(measure_for(1, MEASURE_MS), -EAGAIN);
	assert_true(engine_lost(0));
	assert_int_equal(measured_algorithms, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full_tube, alone, clean),
		cmocka_unit_test_setup_teardown(late, alone, clean),
		cmocka_unit_test_setup_teardown(goes_on, alone, clean),
		cmocka_unit_test_setup_teardown(shared, alone, clean),
		cmocka_unit_test_setup_teardown(only_cpu, with_another, clean),
		cmocka_unit_test_setup_teardown(kept, with_another, clean),
		cmocka_unit_test_setup_teardown(ended, with_another, clean),
		cmocka_unit_test_setup_teardown(lost_before, with_another, clean),
		cmocka_unit_test_setup_teardown(lost, with_another, clean),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}
