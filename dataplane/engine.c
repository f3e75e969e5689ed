/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_string_fns.h>

#include "engine.h"
#include "log.h"
#include "stats.h"

#define QUEUE_DESCRIPTORS 2048
/* Sessions are of up to some KiB: a bound on what is set aside for them. */
#define MAX_SESSIONS 8192u

/* The drivers we start, in the order in which an SA is offered to them. The one
 * place that knows engines by name. */
static const struct known {
	const char *driver, *engine;
} known[] = {
	{"crypto_aesni_gcm", "cpu"},
	{"crypto_aesni_mb", "cpu"},
	{"crypto_openssl", "cpu"},
	{"crypto_opencl", "opencl"},
};

struct engine_device engine_device[STATS_MAX_DEVICES];
unsigned int engine_devices;

static int configure(struct engine_device *device, unsigned int workers, uint32_t nsas)
{
	struct rte_cryptodev_config conf = {
		.socket_id = (int)SOCKET_ID_ANY,
		.nb_queue_pairs = (uint16_t)workers,
		.ff_disable = RTE_CRYPTODEV_FF_ASYMMETRIC_CRYPTO,
	};
	struct rte_cryptodev_qp_conf qp = {.nb_descriptors = QUEUE_DESCRIPTORS};
	uint32_t size = rte_cryptodev_sym_get_private_session_size(device->id);
	char name[RTE_MEMPOOL_NAMESIZE];
	int err;

	conf.socket_id = rte_cryptodev_socket_id(device->id);
	snprintf(name, sizeof(name), "sessions%u", device->id);
	device->sessions = rte_cryptodev_sym_session_pool_create(
		name, nsas < MAX_SESSIONS ? nsas : MAX_SESSIONS, size, 0, 0, SOCKET_ID_ANY);
	if (!device->sessions)
		return -ENOMEM;
	qp.mp_session = device->sessions;
	err = rte_cryptodev_configure(device->id, &conf);
	for (uint16_t q = 0; q < workers && !err; q++)
		err = rte_cryptodev_queue_pair_setup(device->id, q, &qp, conf.socket_id);
	return err ? err : rte_cryptodev_start(device->id);
}

static int start_device(const struct known *k, const char *args, unsigned int workers,
			uint32_t nsas)
{
	struct engine_device *device = &engine_device[engine_devices];
	int err, id;

	snprintf(device->name, sizeof(device->name), "%s0", k->driver);
	err = rte_vdev_init(device->name, args);
	if (err)
		return err;
	id = rte_cryptodev_get_dev_id(device->name);
	if (id < 0)
		return -ENODEV;
	device->driver = k->driver;
	device->engine = k->engine;
	device->id = (uint8_t)id;
	err = configure(device, workers, nsas);
	if (err) {
		log_error("engine %s: %s cannot be set up with %u queues: %s", k->engine,
			  device->name, workers, strerror(-err));
		rte_vdev_uninit(device->name);
		rte_mempool_free(device->sessions);
		return err;
	}
	engine_devices++;
	log_info("engine %s: %s", k->engine, device->name);
	return 0;
}

static void load_driver(const struct conf *conf)
{
	char path[PATH_MAX + 64];

	if (!conf->driver_path[0])
		return; /* where the EAL has loaded all there is */
	snprintf(path, sizeof(path), "%s/librte_crypto_opencl.so", conf->driver_path);
	if (!dlopen(path, RTLD_NOW))
		log_warn("%s: [cygnetd] driver-path: %s", conf->path, dlerror());
}

/* Start the devices of one engine. @return how many came up */
static unsigned int start_engine(const struct conf *conf, const char *engine,
				 unsigned int workers, uint32_t nsas)
{
	unsigned int before = engine_devices;
	char args[sizeof(conf->opencl_args) + 64];

	for (unsigned int i = 0; i < RTE_DIM(known); i++) {
		bool opencl = !strcmp(known[i].engine, "opencl");
		int err;

		if (strcmp(known[i].engine, engine))
			continue;
		/* The drivers' own default is 8. */
		snprintf(args, sizeof(args), "max_nb_queue_pairs=%u%s%s", workers,
			 opencl && conf->opencl_args[0] ? "," : "",
			 opencl ? conf->opencl_args : "");
		err = start_device(&known[i], args, workers, nsas);
		if (err)
			log_info("engine %s: no %s (%s)", engine, known[i].driver,
				 strerror(-err));
	}
	return engine_devices - before;
}

int engines_start(const struct conf *conf, unsigned int workers, uint32_t nsas)
{
	load_driver(conf);
	/* An SA goes to the first device that can serve it. With `auto` that is a
	 * CPU driver: it is the faster one unless measured otherwise. */
	if (conf->engine == ENGINE_OPENCL &&
	    !start_engine(conf, "opencl", workers, nsas)) {
		log_error("%s: [cygnetd] engine: opencl asked for, but there is no OpenCL device "
			  "or no librte_crypto_opencl.so", conf->path);
		return -ENODEV;
	}
	start_engine(conf, "cpu", workers, nsas);
	if (conf->engine == ENGINE_AUTO)
		start_engine(conf, "opencl", workers, nsas);
	if (!engine_devices) {
		log_error("no crypto device at all: are DPDK's crypto drivers installed?");
		return -ENODEV;
	}
	return 0;
}

void engines_stop(void)
{
	while (engine_devices) {
		struct engine_device *device = &engine_device[--engine_devices];

		rte_cryptodev_stop(device->id);
		rte_cryptodev_close(device->id);
		rte_vdev_uninit(device->name);
		rte_mempool_free(device->sessions);
	}
}
