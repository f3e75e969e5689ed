/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#include "base/log.h"
#include "crypto/auto/auto.h"
#include "crypto/auto/measure.h"
#include "crypto/auto/measured.h"
#include "crypto/auto/offload.h"
#include "crypto/device/engine.h"

/* The thread that measures while the workers serve. While it is there only it changes measurements. */
static struct {
	char path[PATH_MAX + 16];
	pthread_t thread;
	bool there;
	bool begun;
	sem_t begin;
	bool ended; /* atomic */
} background;

static const char *reason(int err)
{
	if (err == -EINVAL)
		return "damaged";
	return err == -ESTALE ? "of other devices or versions" : strerror(-err);
}

void auto_read(const struct conf *conf)
{
	int err;

	offload_enabled = conf->engine == ENGINE_AUTO && !engines_only_cpu() && engine_devices > 1;
	measured_algorithms = 0;
	if (!offload_enabled)
		return;
	snprintf(background.path, sizeof(background.path), "%s/engines", conf->state);
	err = measured_read(background.path);
	if (!err)
		log_info("%s: throughput of the engines read from this file", background.path);
	else if (err != -ENOENT)
		log_info("%s: not used, because it is %s: measuring the engines again",
			 background.path, reason(err));
	offload_choose_all();
}

bool auto_memory_pays(void)
{
	const struct engine_device *with_memory = engine_with_memory();
	unsigned int device = with_memory ? (unsigned int)(with_memory - engine_device) : 0;

	if (!with_memory || engine_lost(device))
		return false;
	/* Who has such a device has it for the packets: until it is measured it pays. */
	return !offload_enabled || measured_algorithms < algorithm_count ? true
									 : offload_uses(device);
}

/* --- in the background --- */

/* The CPUs that no worker and no crypto core has, or all where there are none. */
static void free_cpus(cpu_set_t *cpus)
{
	cpu_set_t all;
	unsigned int lcore;

	CPU_ZERO(&all);
	sched_getaffinity(0, sizeof(all), &all);
	*cpus = all;
	RTE_LCORE_FOREACH_WORKER(lcore)
	{
		cpu_set_t busy = rte_lcore_cpuset(lcore);

		CPU_AND(&busy, &busy, cpus);
		CPU_XOR(cpus, cpus, &busy);
	}
	if (!CPU_COUNT(cpus))
		*cpus = all;
}

/* Threads that would take each other's time measure nothing together. */
static unsigned int threads_of(unsigned int workers)
{
	unsigned int cpus;
	cpu_set_t set;

	free_cpus(&set);
	cpus = (unsigned int)CPU_COUNT(&set);
	return cpus < workers ? RTE_MAX(cpus, 1u) : workers;
}

/* Save the measurements for the next start. They are not saved if a device failed, because all later
 * starts would read that it serves no algorithm, even once it works again. */
static void keep(int err)
{
	if (err != -EAGAIN)
		err = measured_write(background.path);
	if (err == -EAGAIN)
		log_warn("%s: not written: the engines will be measured again at the next start",
			 background.path);
	else if (err)
		log_warn("%s: %s: the engines will be measured again at the next start",
			 background.path, strerror(-err));
}

static void measure(void)
{
	uint64_t began = rte_get_tsc_cycles();

	keep(measure_all(MEASURE_MS));
	log_info("engines measured in %u ms: %u of %u algorithms%s",
		 (unsigned int)((rte_get_tsc_cycles() - began) * 1000 / rte_get_tsc_hz()),
		 measured_algorithms, algorithm_count,
		 measured_algorithms < algorithm_count ? ", the others at the next start" : "");
}

/* It waits for auto_begin(), or for auto_stop() without. */
static void *run(void *unused)
{
	cpu_set_t cpus;

	(void)unused;
	pthread_setname_np(pthread_self(), "measure");
	free_cpus(&cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	while (sem_wait(&background.begin) && errno == EINTR)
		;
	if (background.begun)
		measure();
	measure_end();
	__atomic_store_n(&background.ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/* With fewer threads it is less known what workers get that use a device at once. */
static bool allocate(unsigned int threads)
{
	while (threads && measure_begin(threads))
		threads /= 2;
	return threads;
}

void auto_prepare(const struct conf *conf)
{
	int err;

	if (!offload_enabled || measured_algorithms == algorithm_count)
		return;
	/* If there is none, keep() says so. */
	(void)!mkdir(conf->state, 0755);
	if (!allocate(threads_of(conf->workers))) {
		log_warn("no memory to measure the engines (vm.nr_hugepages): "
			 "the first one that supports an SA serves it");
		return;
	}
	sem_init(&background.begin, 0, 0);
	background.begun = background.ended = false;
	err = pthread_create(&background.thread, NULL, run, NULL);
	background.there = !err;
	if (!err)
		return;
	measure_end();
	log_warn("the engines cannot be measured: %s", strerror(err));
}

void auto_begin(void)
{
	if (!background.there || background.begun)
		return;
	log_info("measuring the engines: until then the first one that supports an SA serves it");
	background.begun = true;
	sem_post(&background.begin);
}

static void join(void)
{
	pthread_join(background.thread, NULL);
	sem_destroy(&background.begin);
	background.there = false;
}

bool auto_report(void)
{
	if (!background.there || !__atomic_load_n(&background.ended, __ATOMIC_ACQUIRE))
		return false;
	join();
	return true;
}

void auto_stop(void)
{
	if (background.there) {
		measure_stop();
		sem_post(&background.begin);
		join();
	}
	offload_enabled = false;
}
