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
#include "crypto/device/engine.h"
#include "crypto/device/library_build.h"
#include "crypto/device/selftest.h"

#define QUEUE_DESCRIPTORS 2048
/* A device that collects packets has queues for several launches, so that a worker can still enqueue
 * packets while the device serves another queue. */
#define LAUNCH_DESCRIPTORS 8192
/* CPU time of a launch. Launches of different queues follow one another, so a queue waits for packets in
 * proportion to the number of queues (opencl_arguments()). */
#define LAUNCH_US      50u
#define BUSY_LAUNCH_US 500u /* the same while the device is busy with earlier launches */

/* A device that hangs is given up after this time. Until then its packets are delayed. */
#define OPENCL_TIMEOUT_MS   1000u
#define OPENCL_SESSIONS	    65536u     /* sessions of crypto_opencl by default */
#define OPENCL_SESSIONS_MAX (1u << 21) /* its maximum */

/* The drivers that cygnetd starts, in the order in which an SA is offered to them. No other file knows
 * engines by name. */
static const struct known {
	const char *driver, *engine;
	const char *library;  /* file name of a driver that is part of Cygnet */
	const char *uses;     /* the crypto library that it calls */
	const char *provider; /* of OpenSSL, without which it crashes when sessions are set up */
	/* Function names of a driver with mempools in device memory (rte_pmd_opencl.h). */
	const char *pool_create, *pool_free, *keeps;
} known[] = {
	{.driver = "crypto_ipsec_mb_gcm",
	 .engine = "cpu",
	 .uses = "libIPSec_MB.so",
	 .library = "librte_crypto_ipsec_mb_gcm.so"},
	{.driver = "crypto_ipsec_mb_chain",
	 .engine = "cpu",
	 .uses = "libIPSec_MB.so",
	 .library = "librte_crypto_ipsec_mb_chain.so"},
	{.driver = "crypto_aesni_gcm", .engine = "cpu", .uses = "libIPSec_MB.so"},
	{.driver = "crypto_aesni_mb", .engine = "cpu", .uses = "libIPSec_MB.so"},
	{.driver = "crypto_openssl", .engine = "cpu", .uses = "libcrypto.so", .provider = "legacy"},
	{.driver = "crypto_opencl",
	 .engine = "opencl",
	 .library = "librte_crypto_opencl.so",
	 .pool_create = "rte_pmd_opencl_pktmbuf_pool_create",
	 .pool_free = "rte_pmd_opencl_pktmbuf_pool_free",
	 .keeps = "rte_pmd_opencl_keeps_packets"},
};

/* @return NULL: not one of known[] */
static const struct known *find_known(const char *driver)
{
	for (unsigned int i = 0; i < RTE_DIM(known); i++)
		if (!strcmp(known[i].driver, driver))
			return &known[i];
	return NULL;
}

/* Whether OpenSSL has a provider. Its library is loaded if the driver is. */
static bool has_provider(const char *name)
{
	void *openssl = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_NOLOAD), *provider = NULL;
	void *(*try_load)(void *context, const char *provider, int retain_fallbacks) = NULL;
	int (*unload)(void *provider) = NULL;

	if (!openssl)
		return true; /* so there is no driver */
	*(void **)&try_load = dlsym(openssl, "OSSL_PROVIDER_try_load");
	*(void **)&unload = dlsym(openssl, "OSSL_PROVIDER_unload");
	if (try_load && unload)
		provider = try_load(NULL, name, 1);
	if (provider)
		unload(provider);
	dlclose(openssl);
	return provider != NULL;
}

/* @return false, logged: the driver must not be used */
static bool is_usable(const char *driver)
{
	const struct known *k = find_known(driver);

	if (!k || !k->provider || has_provider(k->provider))
		return true;
	log_warn("engine %s: %s is not used: OpenSSL has no %s provider. In Debian it is in the package openssl-provider-%s",
		 k->engine, driver, k->provider, k->provider);
	return false;
}

/* The first device with mempools of its own in which packets survive its failure, and its functions. */
static struct {
	const struct engine_device *device;
	struct rte_mempool *(*create)(uint8_t id, const char *name, unsigned int n,
				      uint16_t private, uint16_t room, int socket);
	int (*free)(uint8_t id, struct rte_mempool *pool);
} memory;

struct engine_device engine_device[STATS_MAX_DEVICES];
unsigned int engine_devices;
uint32_t engines_lost;
static uint32_t reported_lost, reported_refusing; /* bit masks of devices; control thread only */

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
	/* And one for measuring. */
	device->sessions = rte_cryptodev_sym_session_pool_create(name, sessions + 1, size, 0, 0,
								 SOCKET_ID_ANY);
	if (!device->sessions)
		return -ENOMEM;
	qp.mp_session = device->sessions;
	err = rte_cryptodev_configure(device->id, &conf);
	for (uint16_t q = 0; q < queues && !err; q++)
		err = rte_cryptodev_queue_pair_setup(device->id, q, &qp, conf.socket_id);
	return err ? err : rte_cryptodev_start(device->id);
}

/* The "model name" of the first CPU. */
static void cpu_model(char *model, size_t size)
{
	FILE *info = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(model, size, "unknown CPU");
	while (info && fgets(line, sizeof(line), info)) {
		char *colon = strstr(line, ": ");

		if (strncmp(line, "model name", 10) || !colon)
			continue;
		snprintf(model, size, "%.*s", (int)strcspn(colon + 2, "\n|"), colon + 2);
		break;
	}
	if (info)
		fclose(info);
}

/* Describe all that the speed of a device depends on. Measurements with another description are not
 * used (measured.h). */
static void set_version(struct engine_device *device, const struct rte_device *dev)
{
	const struct known *driver = find_known(device->driver);
	const struct rte_devargs *args = dev ? rte_dev_devargs(dev) : NULL;
	const char *bus = dev ? rte_dev_bus_info(dev) : NULL;
	char model[96], build[LIBRARY_BUILD] = "", used[LIBRARY_BUILD] = "";

	cpu_model(model, sizeof(model));
	if (dev) /* struct rte_driver is in the driver's library */
		library_build_at(rte_dev_driver(dev), build);
	if (driver && driver->uses)
		library_build_of(driver->uses, used);
	snprintf(device->version, sizeof(device->version), "%s, %s, build %s%s%s, %.250s, %.400s",
		 rte_version(), model, build, used[0] ? " " : "", used, bus ? bus : "",
		 args && args->args ? args->args : "");
	for (char *c = device->version; *c; c++)
		if (*c == '|' || (unsigned char)*c < ' ')
			*c = '_';
}

/* The engine of a device, which may have been created by EAL's arguments. */
static const char *engine_of(const struct rte_cryptodev_info *info)
{
	const struct known *driver = find_known(info->driver_name);

	if (driver)
		return driver->engine;
	return info->feature_flags & RTE_CRYPTODEV_FF_HW_ACCELERATED ? "hardware" : "cpu";
}

/* Find out whether a device keeps packets that it fails, and has mempools. Its library is open already,
 * by load_driver() or by the EAL. */
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
	/* The device copies packets that are not in one of its mempools. */
	device->keeps = kept >= 0;
	/* If it processed packets of its mempools in place, a failure would destroy them. */
	if (!memory.device && kept > 0) {
		*(void **)&memory.create = dlsym(library, driver->pool_create);
		*(void **)&memory.free = dlsym(library, driver->pool_free);
		memory.device = memory.create && memory.free ? device : NULL;
	}
	dlclose(library); /* the library stays loaded, because it was open before */
}

/* The queue pairs of a device: those that it cannot do without, and those that measuring uses. */
struct queues {
	unsigned int needed, measuring;
};

/* Configure a cryptodev and add it to engine_device[]. It is closed after a failure. */
static int add_device(uint8_t id, struct queues want, uint32_t sessions)
{
	struct engine_device *device = &engine_device[engine_devices];
	struct rte_cryptodev_info info = {0};
	unsigned int queues;
	int err;

	rte_cryptodev_info_get(id, &info);
	queues = RTE_MIN(want.needed + want.measuring, info.max_nb_queue_pairs);
	queues = RTE_MAX(queues, want.needed);
	*device = (struct engine_device){
		.driver = info.driver_name,
		.engine = engine_of(&info),
		.id = id,
		.measure_queue = (uint16_t)want.needed,
		.measure_queues = (uint16_t)(queues - want.needed),
		.at_once = info.feature_flags & RTE_CRYPTODEV_FF_SYM_CPU_CRYPTO,
	};
	rte_strscpy(device->name, rte_cryptodev_name_get(id), sizeof(device->name));
	set_version(device, info.device);
	err = configure(device, queues, sessions);
	if (err) {
		log_error("engine %s: %s cannot be set up with %u queues and %u sessions: %s",
			  device->engine, device->name, queues, sessions, strerror(-err));
		rte_cryptodev_close(id); /* its queue pairs refer to the mempool */
		rte_mempool_free(device->sessions);
		return err;
	}
	engine_devices++;
	log_info("engine %s: %s", device->engine, device->name);
	return 0;
}

static int start_device(const char *driver, const char *args, struct queues queues,
			uint32_t sessions)
{
	char name[sizeof(engine_device[0].name)];
	unsigned int number = 0;
	int err, id;

	if (engine_devices == STATS_MAX_DEVICES)
		return -ENOSPC;
	/* A device of EAL's arguments has its name even if cygnetd does not use it. */
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

/* Load a driver that is part of Cygnet. A driver that was not built is skipped.
 * @return whether the file exists */
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

	/* The EAL has loaded those of DPDK. */
	if (!conf->driver_path[0])
		return;
	for (unsigned int i = 0; i < RTE_DIM(known); i++)
		there += known[i].library && load_driver(conf, known[i].library);
	if (!there)
		log_warn("%s: [cygnetd] driver_path: there is no driver in %s", conf->path,
			 conf->driver_path);
}

/* Add the devices of an engine that EAL's arguments created, if they have enough queues. */
static void adopt_devices(const char *engine, struct queues queues, uint32_t sessions)
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
		if (info.max_nb_queue_pairs < queues.needed)
			log_warn("engine %s: %s is not used: it has %u queues, %u are needed",
				 engine, rte_cryptodev_name_get((uint8_t)id),
				 info.max_nb_queue_pairs, queues.needed);
		else if (is_usable(info.driver_name))
			add_device((uint8_t)id, queues, sessions);
	}
}

/* Whether EAL's arguments created a device of a driver; cygnetd then creates no other. */
static bool is_there(const char *driver, unsigned int from)
{
	for (unsigned int d = from; d < engine_devices; d++)
		if (!strcmp(engine_device[d].driver, driver))
			return true;
	return false;
}

/* The user's arguments come last, so that they override the others. */
static void opencl_arguments(const struct conf *conf, unsigned int workers, unsigned int queues,
			     uint32_t sessions, char *args, size_t size)
{
	char most[32] = "";

	if (sessions > OPENCL_SESSIONS)
		snprintf(most, sizeof(most), "max_sessions=%u,",
			 RTE_MIN(sessions, OPENCL_SESSIONS_MAX));
	snprintf(args, size, "max_nb_queue_pairs=%u,%stimeout_ms=%u,wait_us=%u,busy_wait_us=%u%s%s",
		 queues, most, OPENCL_TIMEOUT_MS, workers * LAUNCH_US, workers * BUSY_LAUNCH_US,
		 conf->opencl_args[0] ? "," : "", conf->opencl_args);
}

/* Start the devices of one engine. @param measured  they will be measured. @return number of started devices */
static unsigned int start_engine(const struct conf *conf, const char *engine, unsigned int workers,
				 uint32_t sessions, bool measured)
{
	unsigned int before = engine_devices;
	/* Crypto cores process packets with the same CPU devices as workers. */
	const struct queues queues = {workers + (strcmp(engine, "cpu") ? 0 : conf->ncrypto_cores),
				      measured ? workers : 0};
	unsigned int all = queues.needed + queues.measuring;
	char args[sizeof(conf->opencl_args) + 128];

	adopt_devices(engine, queues, sessions);
	for (unsigned int i = 0; i < RTE_DIM(known); i++) {
		int err;

		if (strcmp(known[i].engine, engine) || is_there(known[i].driver, before) ||
		    !is_usable(known[i].driver))
			continue;
		/* The default of the drivers is 8. */
		snprintf(args, sizeof(args), "max_nb_queue_pairs=%u", all);
		if (!strcmp(engine, "opencl"))
			opencl_arguments(conf, workers, all, sessions, args, sizeof(args));
		err = start_device(known[i].driver, args, queues, sessions);
		/* Of a driver that is not there the EAL says -1. */
		if (err)
			log_info("engine %s: no %s (%s)", engine, known[i].driver,
				 err == -1 ? "not installed" : strerror(-err));
	}
	return engine_devices - before;
}

/* Devices of the CPU come first: they serve what has not been measured. They are only measured if there are others. */
static void start_all(const struct conf *conf, unsigned int workers, uint32_t sessions)
{
	struct engine_device others[STATS_MAX_DEVICES];
	unsigned int n;

	n = start_engine(conf, "hardware", workers, sessions, true);
	n += start_engine(conf, "opencl", workers, sessions, true);
	start_engine(conf, "cpu", workers, sessions, n > 0);
	memcpy(others, engine_device, n * sizeof(others[0]));
	memmove(engine_device, engine_device + n, (engine_devices - n) * sizeof(others[0]));
	memcpy(engine_device + engine_devices - n, others, n * sizeof(others[0]));
}

/* A device that fails its self-test is lost before any device has an SA. It serves again only after another
 * self-test: that of a restart, or of a cygnetd that takes over. */
static int test_all(void)
{
	for (unsigned int d = 0; d < engine_devices; d++) {
		if (selftest(d))
			continue;
		engines_lost |= 1u << d;
		if (memory.device == &engine_device[d])
			memory.device = NULL;
	}
	reported_lost = engines_lost;
	if (engines_lost != (1u << engine_devices) - 1)
		return 0;
	log_error("no crypto device passes its self-test");
	engines_stop();
	return -EIO;
}

int engines_start(const struct conf *conf, unsigned int workers, uint32_t sessions)
{
	load_drivers(conf);
	engines_lost = reported_lost = reported_refusing = 0;
	/* The first device that supports an SA serves it. */
	if (conf->engine == ENGINE_OPENCL &&
	    !start_engine(conf, "opencl", workers, sessions, false)) {
		log_error("%s: [cygnetd] engine: opencl is configured, but there is no OpenCL device "
			  "or no librte_crypto_opencl.so",
			  conf->path);
		return -ENODEV;
	}
	if (conf->engine == ENGINE_AUTO)
		start_all(conf, workers, sessions);
	else
		start_engine(conf, "cpu", workers, sessions, false);
	for (unsigned int d = 0; d < engine_devices; d++)
		find_memory(&engine_device[d]);
	if (!engine_devices) {
		log_error("no crypto device: are DPDK's crypto drivers installed?");
		return -ENODEV;
	}
	return test_all();
}

bool engines_only_cpu(void)
{
	for (unsigned int d = 0; d < engine_devices; d++)
		if (strcmp(engine_device[d].engine, "cpu"))
			return false;
	return true;
}

/* Platforms of OpenCL whose libraries have been run under the filter. Their names are in those of the devices. */
static const char *const known_platforms[] = {"Portable Computing Language", "NVIDIA CUDA"};

static bool is_foreign(const struct engine_device *device)
{
	bool run_before = strcmp(device->engine, "cpu") == 0;

	for (unsigned int i = 0; i < RTE_DIM(known_platforms); i++)
		run_before |= strstr(device->version, known_platforms[i]) != NULL;
	return !run_before;
}

bool engines_foreign(void)
{
	for (unsigned int d = 0; d < engine_devices; d++)
		if (is_foreign(&engine_device[d]))
			return true;
	return false;
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
		if (__atomic_load_n(&e->refuses, __ATOMIC_RELAXED) &&
		    !(reported_refusing >> d & 1)) {
			log_error("engine %s: %s cannot set up an SA of algorithms that it supports: "
				  "other engines serve such SAs",
				  e->engine, e->name);
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
