/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting the crypto devices. */
#include <rte_bus_vdev.h>

#include "eal_fixture.h"
#include "engine.h"

static void start_with(unsigned int workers, unsigned int devices)
{
	struct conf conf;

	conf_defaults(&conf);
	conf.engine = ENGINE_CPU;
	assert_int_equal(engines_start(&conf, workers, 16), 0);
	if (devices)
		assert_int_equal(engine_devices, devices);
	for (unsigned int d = 0; d < engine_devices; d++)
		assert_int_equal(rte_cryptodev_queue_pair_count(engine_device[d].id), workers);
}

/* A queue pair for each worker, also beyond what the drivers have by themselves. */
static void many_workers(void **state)
{
	static const unsigned int workers[] = {8, 9, CONF_MAX_WORKERS};
	unsigned int devices;

	(void)state;
	start_with(1, 0);
	devices = engine_devices;
	engines_stop();
	for (unsigned int i = 0; i < RTE_DIM(workers); i++) {
		start_with(workers[i], devices);
		engines_stop();
	}
}

/* For AES-GCM the driver that comes with us is asked before DPDK's, unless EAL's arguments have
 * brought one of these. */
static void order(void **state)
{
	(void)state;
	if (!dlopen(BUILT_DRIVERS "/librte_crypto_ipsec_mb_gcm.so", RTLD_NOW | RTLD_NOLOAD))
		skip();
	start_with(1, 0);
	assert_string_equal(engine_device[0].driver, "crypto_ipsec_mb_gcm");
	assert_true(engine_device[0].at_once);
	engines_stop();
	assert_int_equal(rte_vdev_init("crypto_aesni_gcm7", NULL), 0);
	start_with(1, 0);
	assert_string_equal(engine_device[0].driver, "crypto_aesni_gcm");
	assert_string_equal(engine_device[1].driver, "crypto_ipsec_mb_gcm");
	engines_stop();
	assert_int_equal(rte_vdev_uninit("crypto_aesni_gcm7"), 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(many_workers),
					    cmocka_unit_test(order)};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
