/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting the crypto devices. */
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

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(many_workers)};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
