/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_string_fns.h>
#include <rte_version.h>

#include "base/changes.h"
#include "base/log.h"
#include "base/stats.h"
#include "crypto/device/build_id.h"
#include "crypto/device/engine.h"

#define QUEUE_DESCRIPTORS 2048
/* A device that collects packets has room for several times what it does at once, so that a port
 * need not wait when another queue's turn comes first. */
#define LAUNCH_DESCRIPTORS 8192
/* A launch takes the processor for so long. Queues launch one after another: with each of them
 * more packets have to go together. */
#define LAUNCH_US 50u
#define BUSY_LAUNCH_US 500u /* while others are in front of it */

/* A device that hangs is given up after that time, and until then nobody delivers the packets that
 * it has. */
#define OPENCL_TIMEOUT_MS 1000u
#define OPENCL_SESSIONS 65536u /* crypto_opencl has room for so many unless told otherwise, */
#define OPENCL_SESSIONS_MAX (1u << 21) /* and for so many at the most */

/* The drivers we start, in the order in which an SA is offered to them. The one
 * place that knows engines by name. */
static const struct known {
	const char *driver, *engine;
	const char *library; /* of those that come with cygnetd */
	const char *uses;    /* the library that does its work */
	/* Of a driver with pools of its own: rte_pmd_opencl.h has such functions. */
	const char *pool_create, *pool_free, *keeps;
} known[] = {
	{.driver = "crypto_ipsec_mb_gcm", .engine = "cpu", .uses = "libIPSec_MB.so",
	 .library = "librte_crypto_ipsec_mb_gcm.so"},
	{.driver = "crypto_ipsec_mb_chain", .engine = "cpu", .uses = "libIPSec_MB.so",
	 .library = "librte_crypto_ipsec_mb_chain.so"},
	{.driver = "crypto_aesni_gcm", .engine = "cpu", .uses = "libIPSec_MB.so"},
	{.driver = "crypto_aesni_mb", .engine = "cpu", .uses = "libIPSec_MB.so"},
	{.driver = "crypto_openssl", .engine = "cpu", .uses = "libcrypto.so"},
	{.driver = "crypto_opencl", .engine = "opencl", .library = "librte_crypto_opencl.so",
	 .pool_create = "rte_pmd_opencl_pktmbuf_pool_create",
	 .pool_free = "rte_pmd_opencl_pktmbuf_pool_free", .keeps = "rte_pmd_opencl_keeps_packets"},
};

/* @return NULL: one that we would not start */
static const struct known *find_known(const char *driver)
{
	for (unsigned int i = 0; i < RTE_DIM(known); i++)
		if (!strcmp(known[i].driver, driver))
			return &known[i];
	return NULL;
}

/* The functions of the first device with pools in which packets survive its failure. */
static struct {
	const struct engine_device *device;
	struct rte_mempool *(*create)(uint8_t id, const char *name, unsigned int n, uint16_t private,
				      uint16_t room, int socket);
	int (*free)(uint8_t id, struct rte_mempool *pool);
} memory;

struct engine_device engine_device[STATS_MAX_DEVICES];
unsigned int engine_devices;
uint32_t engines_lost;
static uint32_t reported_lost, reported_refusing; /* bit masks, of the control thread */

static int configure(struct engine_device *device, unsigned int queues, uint32_t sessions)
{
	struct rte_cryptodev_config conf = {
		.socket_id = (int)SOCKET_ID_ANY,
		.nb_queue_pairs = (uint16_t)queues,
		.ff_disable = RTE_CRYPTODEV_FF_ASYMMETRIC_CRYPTO,
	};
	struct rte_cryptodev_qp_conf qp = {
		.nb_descriptors = device->at_once ? QUEUE_DESCRIPTORS : LAUNCH_DESCRIPTORS,
	};
	uint32_t size = rte_cryptodev_sym_get_private_session_size(device->id);
	char name[RTE_MEMPOOL_NAMESIZE];
	int err;

	conf.socket_id = rte_cryptodev_socket_id(device->id);
	snprintf(name, sizeof(name), "sessions%u", device->id);
	device->sessions = rte_cryptodev_sym_session_pool_create(name, sessions, size, 0, 0,
								 SOCKET_ID_ANY);
	if (!device->sessions)
		return -ENOMEM;
	qp.mp_session = device->sessions;
	err = rte_cryptodev_configure(device->id, &conf);
	for (uint16_t q = 0; q < queues && !err; q++)
		err = rte_cryptodev_queue_pair_setup(device->id, q, &qp, conf.socket_id);
	return err ? err : rte_cryptodev_start(device->id);
}

/* "model name" of the first CPU */
static void cpu_model(char *model, size_t size)
{
	FILE *info = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(model, size, "unknown CPU");
	while (info && fgets(line, sizeof(line), info)) {
		char *at = strstr(line, ": ");

		if (strncmp(line, "model name", 10) || !at)
			continue;
		snprintf(model, size, "%.*s", (int)strcspn(at + 2, "\n|"), at + 2);
		break;
	}
	if (info)
		fclose(info);
}

/* How fast it is depends on this: what was measured with another version, or
 * on another machine, says nothing. */
static void set_version(struct engine_device *device, const struct rte_device *dev)
{
	const struct known *driver = find_known(device->driver);
	const struct rte_devargs *args = dev ? rte_dev_devargs(dev) : NULL;
	const char *bus = dev ? rte_dev_bus_info(dev) : NULL;
	char model[96], build[BUILD_ID] = "", used[BUILD_ID] = "";

	cpu_model(model, sizeof(model));
	if (dev) /* what describes the driver lies in it */
		build_id_at(rte_dev_driver(dev), build);
	if (driver && driver->uses)
		build_id_of(driver->uses, used);
	snprintf(device->version, sizeof(device->version), "%s, %s, build %s%s%s, %.250s, %.400s",
		 rte_version(), model, build, used[0] ? " " : "", used, bus ? bus : "",
		 args && args->args ? args->args : "");
	for (char *c = device->version; *c; c++)
		if (*c == '|' || (unsigned char)*c < ' ')
			*c = '_';
}

/* What a driver of EAL's choice belongs to. */
static const char *engine_of(const struct rte_cryptodev_info *info)
{
	const struct known *driver = find_known(info->driver_name);

	if (driver)
		return driver->engine;
	return info->feature_flags & RTE_CRYPTODEV_FF_HW_ACCELERATED ? "hardware" : "cpu";
}

/* Whoever has loaded the driver, we or the EAL, has the library open. */
static void find_memory(struct engine_device *device)
{
	const struct known *driver = find_known(device->driver);
	int (*keeps)(uint8_t id) = NULL;
	void *library;
	int kept;

	if (!driver || !driver->pool_create)
		return;
	library = dlopen(driver->library, RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		return;
	*(void **)&keeps = dlsym(library, driver->keeps);
	kept = keeps ? keeps(device->id) : -ENOTSUP;
	/* Packets that are in no pool of its own it copies. */
	device->keeps = kept >= 0;
	/* A packet that is worked on where it is would be lost if the device failed. */
	if (!memory.device && kept > 0) {
		*(void **)&memory.create = dlsym(library, driver->pool_create);
		*(void **)&memory.free = dlsym(library, driver->pool_free);
		memory.device = memory.create && memory.free ? device : NULL;
	}
	dlclose(library); /* it stays: it is still open elsewhere */
}

/* Take a cryptodev into the list. It is closed if that fails. */
static int add_device(uint8_t id, unsigned int queues, uint32_t sessions)
{
	struct engine_device *device = &engine_device[engine_devices];
	struct rte_cryptodev_info info = {0};
	int err;

	rte_cryptodev_info_get(id, &info);
	*device = (struct engine_device){
		.driver = info.driver_name,
		.engine = engine_of(&info),
		.id = id,
		.at_once = info.feature_flags & RTE_CRYPTODEV_FF_SYM_CPU_CRYPTO,
	};
	rte_strscpy(device->name, rte_cryptodev_name_get(id), sizeof(device->name));
	set_version(device, info.device);
	err = configure(device, queues, sessions);
	if (err) {
		log_error("engine %s: %s cannot be set up with %u queues and %u sessions: %s",
			  device->engine, device->name, queues, sessions, strerror(-err));
		rte_cryptodev_close(id); /* its queue pairs have the pool */
		rte_mempool_free(device->sessions);
		return err;
	}
	engine_devices++;
	find_memory(device);
	log_info("engine %s: %s", device->engine, device->name);
	return 0;
}

static int start_device(const char *driver, const char *args, unsigned int queues,
			uint32_t sessions)
{
	char name[sizeof(engine_device[0].name)];
	unsigned int number = 0;
	int err, id;

	if (engine_devices == STATS_MAX_DEVICES)
		return -ENOSPC;
	/* One of EAL's that is not used has its name all the same. */
	do
		snprintf(name, sizeof(name), "%s%u", driver, number++);
	while (rte_cryptodev_get_dev_id(name) >= 0);
	err = rte_vdev_init(name, args);
	if (err)
		return err;
	id = rte_cryptodev_get_dev_id(name);
	err = id < 0 ? -ENODEV : add_device((uint8_t)id, queues, sessions);
	if (err)
		rte_vdev_uninit(name);
	else
		engine_device[engine_devices - 1].ours = true;
	return err;
}

/* One that was not built is done without. @return whether it is there */
static bool load_driver(const struct conf *conf, const char *library)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", conf->driver_path, library);
	if (access(path, F_OK) && errno == ENOENT) {
		log_info("%s: [cygnetd] driver_path: there is no %s", conf->path, path);
		return false;
	}
	if (!dlopen(path, RTLD_NOW))
		log_warn("%s: [cygnetd] driver_path: %s", conf->path, dlerror());
	return true;
}

static void load_drivers(const struct conf *conf)
{
	unsigned int there = 0;

	/* The EAL has loaded all there is in its own folder. */
	if (!conf->driver_path[0])
		return;
	for (unsigned int i = 0; i < RTE_DIM(known); i++)
		there += known[i].library && load_driver(conf, known[i].library);
	if (!there)
		log_warn("%s: [cygnetd] driver_path: there is no driver in %s", conf->path,
			 conf->driver_path);
}

/* Take those that are there already, by EAL's arguments: as many as we have queues
 * on, and whatever they can do. */
static void adopt_devices(const char *engine, unsigned int queues, uint32_t sessions)
{
	for (unsigned int id = 0; id < RTE_CRYPTO_MAX_DEVS; id++) {
		struct rte_cryptodev_info info = {0};

		if (!rte_cryptodev_is_valid_dev((uint8_t)id))
			continue;
		rte_cryptodev_info_get((uint8_t)id, &info);
		if (strcmp(engine_of(&info), engine) ||
		    !(info.feature_flags & RTE_CRYPTODEV_FF_SYMMETRIC_CRYPTO) ||
		    engine_devices == STATS_MAX_DEVICES)
			continue;
		if (info.max_nb_queue_pairs < queues)
			log_warn("engine %s: %s is not used: it has %u queues, %u are needed",
				 engine, rte_cryptodev_name_get((uint8_t)id),
				 info.max_nb_queue_pairs, queues);
		else
			add_device((uint8_t)id, queues, sessions);
	}
}

/* Whether EAL's arguments have brought a device of a driver: one is enough. */
static bool is_there(const char *driver, unsigned int from)
{
	for (unsigned int d = from; d < engine_devices; d++)
		if (!strcmp(engine_device[d].driver, driver))
			return true;
	return false;
}

/* The user's own come last, and win. */
static void opencl_arguments(const struct conf *conf, unsigned int workers, uint32_t sessions,
			     char *args, size_t size)
{
	char most[32] = "";

	if (sessions > OPENCL_SESSIONS)
		snprintf(most, sizeof(most), "max_sessions=%u,",
			 RTE_MIN(sessions, OPENCL_SESSIONS_MAX));
	snprintf(args, size, "max_nb_queue_pairs=%u,%stimeout_ms=%u,wait_us=%u,busy_wait_us=%u%s%s",
		 workers, most, OPENCL_TIMEOUT_MS, workers * LAUNCH_US, workers * BUSY_LAUNCH_US,
		 conf->opencl_args[0] ? "," : "", conf->opencl_args);
}

/* Start the devices of one engine. @return how many came up */
static unsigned int start_engine(const struct conf *conf, const char *engine,
				 unsigned int workers, uint32_t sessions)
{
	unsigned int before = engine_devices;
	/* What works on the core that calls works on the crypto cores, too. */
	unsigned int queues = workers + (strcmp(engine, "cpu") ? 0 : conf->ncrypto_cores);
	char args[sizeof(conf->opencl_args) + 128];

	adopt_devices(engine, queues, sessions);
	for (unsigned int i = 0; i < RTE_DIM(known); i++) {
		int err;

		if (strcmp(known[i].engine, engine) || is_there(known[i].driver, before))
			continue;
		/* The drivers' own default is 8. */
		snprintf(args, sizeof(args), "max_nb_queue_pairs=%u", queues);
		if (!strcmp(engine, "opencl"))
			opencl_arguments(conf, workers, sessions, args, sizeof(args));
		err = start_device(known[i].driver, args, queues, sessions);
		if (err)
			log_info("engine %s: no %s (%s)", engine, known[i].driver,
				 strerror(-err));
	}
	return engine_devices - before;
}

int engines_start(const struct conf *conf, unsigned int workers, uint32_t sessions)
{
	load_drivers(conf);
	engines_lost = reported_lost = reported_refusing = 0;
	/* An SA goes to the first device that can serve it. With `auto` that is a
	 * CPU driver, for packets about which nothing has been measured. */
	if (conf->engine == ENGINE_OPENCL &&
	    !start_engine(conf, "opencl", workers, sessions)) {
		log_error("%s: [cygnetd] engine: opencl asked for, but there is no OpenCL device "
			  "or no librte_crypto_opencl.so", conf->path);
		return -ENODEV;
	}
	start_engine(conf, "cpu", workers, sessions);
	if (conf->engine == ENGINE_AUTO) {
		start_engine(conf, "hardware", workers, sessions);
		start_engine(conf, "opencl", workers, sessions);
	}
	if (!engine_devices) {
		log_error("no crypto device at all: are DPDK's crypto drivers installed?");
		return -ENODEV;
	}
	return 0;
}

const struct engine_device *engine_with_memory(void)
{
	return memory.device;
}

struct rte_mempool *engine_pool_create(const char *name, unsigned int n, uint16_t private,
				       uint16_t room)
{
	return memory.create(memory.device->id, name, n, private, room, SOCKET_ID_ANY);
}

bool engine_pool_free(struct rte_mempool *pool)
{
	return memory.device && memory.free(memory.device->id, pool) == 0;
}

void engine_take_out(unsigned int device)
{
	uint32_t all = (1u << engine_devices) - 1, lost, now;

	lost = __atomic_load_n(&engines_lost, __ATOMIC_RELAXED);
	do {
		now = lost | 1u << device;
		if (now == all || now == lost)
			return;
	} while (!__atomic_compare_exchange_n(&engines_lost, &lost, now, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	changes_note();
}

bool engines_report(void)
{
	uint32_t lost = __atomic_load_n(&engines_lost, __ATOMIC_RELAXED);
	bool changed;

	for (unsigned int d = 0; d < engine_devices; d++) {
		const struct engine_device *e = &engine_device[d];

		if ((lost & ~reported_lost) >> d & 1)
			log_error("engine %s: %s fails: other engines take over its packets",
				  e->engine, e->name);
		if (__atomic_load_n(&e->refuses, __ATOMIC_RELAXED) && !(reported_refusing >> d & 1)) {
			log_error("engine %s: %s cannot set up an SA that it says it can: other "
				  "engines serve such", e->engine, e->name);
			reported_refusing |= 1u << d;
		}
	}
	changed = lost != reported_lost;
	reported_lost = lost;
	return changed;
}

void engines_stop(void)
{
	memory.device = NULL;
	while (engine_devices) {
		struct engine_device *device = &engine_device[--engine_devices];

		rte_cryptodev_stop(device->id);
		rte_cryptodev_close(device->id);
		if (device->ours)
			rte_vdev_uninit(device->name);
		rte_mempool_free(device->sessions);
	}
}
