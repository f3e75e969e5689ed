/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measuring devices whose speed is known, as this test makes them out of others. */
#include <rte_bus_vdev.h>
#include <rte_cycles.h>

#include "eal_fixture.h"
#include "engine.h"
#include "measure.h"
#include "offload.h"
#include "../pool.h"

#define DEPTH_US 400u
#define EACH_US 1u
#define TRIES 20u

static struct rte_mempool *packets;

/* --- a device that collects: packets spend a time in it, and leave it one after another --- */

static struct {
	struct rte_crypto_op *op[MEASURE_PACKETS];
	uint64_t due[MEASURE_PACKETS], last;
	unsigned int in, out;
} pipe;

static uint16_t pipe_enqueue(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	uint64_t us = rte_get_tsc_hz() / 1000000, soonest = rte_get_tsc_cycles() + DEPTH_US * us;

	(void)qp;
	for (uint16_t i = 0; i < n; i++) {
		pipe.last = RTE_MAX(soonest, pipe.last + EACH_US * us);
		pipe.due[pipe.in % MEASURE_PACKETS] = pipe.last;
		pipe.op[pipe.in++ % MEASURE_PACKETS] = ops[i];
	}
	return n;
}

static uint16_t pipe_dequeue(void *qp, struct rte_crypto_op **ops, uint16_t n)
{
	uint64_t now = rte_get_tsc_cycles();
	uint16_t done = 0;

	(void)qp;
	while (done < n && pipe.out != pipe.in && pipe.due[pipe.out % MEASURE_PACKETS] <= now) {
		ops[done] = pipe.op[pipe.out++ % MEASURE_PACKETS];
		ops[done++]->status = RTE_CRYPTO_OP_STATUS_SUCCESS;
	}
	return done;
}

/* --- tests --- */

static struct rte_crypto_fp_ops good;
static unsigned int devices;

/* One that does AES-GCM and little else. */
static int start(void **state)
{
	struct conf conf;

	(void)state;
	conf_defaults(&conf);
	conf.engine = ENGINE_CPU;
	if (rte_vdev_init("crypto_aesni_gcm7", NULL) || engines_start(&conf, 1, 16))
		return -1;
	assert_string_equal(engine_device[0].name, "crypto_aesni_gcm7");
	packets = packet_pool_create("packets", MEASURE_PACKETS);
	return packets ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	packet_pool_free(packets);
	engines_stop();
	return rte_vdev_uninit("crypto_aesni_gcm7");
}

/* It is alone, and will be somebody else's. */
static int alone(void **state)
{
	(void)state;
	devices = engine_devices;
	engine_devices = 1;
	engine_device[0].at_once = false;
	good = rte_crypto_fp_ops[engine_device[0].id];
	return 0;
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

/* That it has to fill is not held against a device. */
static void full_pipe(void **state)
{
	const unsigned int length = LENGTH_CLASSES - 1;
	const struct measured *m = &measured[0][0][length];
	const float truth = (float)length_class_bytes[length] * 8 / (EACH_US * 1000);
	bool right = false;

	(void)state;
	rte_crypto_fp_ops[engine_device[0].id].enqueue_burst = pipe_enqueue;
	rte_crypto_fp_ops[engine_device[0].id].dequeue_burst = pipe_dequeue;
	/* Others may have had the core. */
	for (unsigned int i = 0; i < TRIES && !right; i++) {
		assert_int_equal(measure_all(&packets, 1), 0);
		assert_true(m->latency_us >= DEPTH_US);
		right = about(m->gbps[1], truth) && about(m->gbps[2], truth);
	}
	assert_true(right);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full_pipe, alone, clean),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, stop);
}
