/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_pause.h>
#include <rte_ring.h>

#include "chunk.h"
#include "dpdk_release.h"
#include "launcher.h"
#include "log.h"
#include "pmd.h"

#define IDLE_MS 1 /* without chunks; then it sleeps between polls */
#define NAP_US	20
#define JOIN_S	5

struct ocl_launcher {
	struct ocl_device *dev;
	struct ocl_table *table;
	struct rte_ring *waiting;
	pthread_t thread;
	bool stop;     /* atomic */
	uint64_t last; /* TSC: when there was something to do */
	uint32_t n;
	struct ocl_chunk *chunk[OCL_LAUNCHER_CHUNKS]; /* with the device */
};

static int running; /* threads, each of which keeps a processor busy; control thread only */

/* @return whether the chunk stays with the thread; else it is the queue pair's again, and is not read
 * any more */
static bool keep(struct ocl_chunk *chunk, enum ocl_state state)
{
	if (state == OCL_LAUNCHED)
		return true;
	__atomic_store_n(&chunk->returned, state, __ATOMIC_RELEASE);
	return false;
}

static bool launch_next(struct ocl_launcher *l)
{
	void *chunk;

	if (l->n == OCL_LAUNCHER_CHUNKS || rte_ring_sc_dequeue(l->waiting, &chunk))
		return false;
	if (keep(chunk, ocl_chunk_launch(chunk, l->table, true)))
		l->chunk[l->n++] = chunk;
	return true;
}

static void poll_launched(struct ocl_launcher *l)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		if (keep(l->chunk[i], ocl_chunk_poll(l->chunk[i])))
			l->chunk[kept++] = l->chunk[i];
	}
	l->n = kept;
}

static void rest(struct ocl_launcher *l)
{
	uint64_t now = rte_get_tsc_cycles();

	if (l->n)
		l->last = now;
	if (now - l->last > rte_get_tsc_hz() / 1000 * IDLE_MS)
		usleep(NAP_US);
	else
		rte_pause();
}

/* It ends when the device is lost: queue pairs withdraw their chunks then. */
static dpdk_thread_result run(void *arg)
{
	struct ocl_launcher *l = arg;

	while (!__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE) && !ocl_device_lost(l->dev)) {
		if (launch_next(l))
			l->last = rte_get_tsc_cycles();
		poll_launched(l);
		rest(l);
	}
	return 0;
}

bool ocl_launcher_post(struct ocl_launcher *launcher, struct ocl_chunk *chunk)
{
	__atomic_store_n(&chunk->returned, OCL_LAUNCHED, __ATOMIC_RELAXED);
	return rte_ring_mp_enqueue(launcher->waiting, chunk) == 0;
}

static void release(struct ocl_launcher *l)
{
	rte_ring_free(l->waiting);
	rte_free(l);
}

/* Whether the thread has a processor that is no lcore's and no other launcher's. */
static bool has_processor(pthread_t thread)
{
	cpu_set_t own;
	unsigned int id;

	if (pthread_getaffinity_np(thread, sizeof(own), &own))
		return false;
	RTE_LCORE_FOREACH(id)
	{
		rte_cpuset_t lcore = rte_lcore_cpuset(id);

		CPU_AND(&lcore, &lcore, &own);
		CPU_XOR(&own, &own, &lcore);
	}
	return CPU_COUNT(&own) >= running;
}

static int start(struct ocl_pmd *pmd)
{
	struct ocl_launcher *l = rte_zmalloc("ocl launcher", sizeof(*l), RTE_CACHE_LINE_SIZE);
	char name[RTE_RING_NAMESIZE];
	int err = -ENOMEM;

	snprintf(name, sizeof(name), "ocl_launches%p", (void *)pmd);
	if (l)
		l->waiting = rte_ring_create(name, 2 * OCL_LAUNCHER_CHUNKS, SOCKET_ID_ANY,
					     RING_F_SC_DEQ);
	if (l && l->waiting) {
		l->dev = &pmd->device;
		l->table = &pmd->table;
		err = dpdk_control_thread(&l->thread, "ocl-launches", run, l);
		err = err > 0 ? -err : err;
	}
	if (err) {
		OCL_LOG(ERR, "no thread that launches: %s", strerror(-err));
		if (l)
			release(l);
		return err;
	}
	pmd->launcher = l;
	running++;
	return 0;
}

/* Any failure means that lcores launch. */
static void choose(struct ocl_pmd *pmd)
{
	if (!start(pmd) && !has_processor(pmd->launcher->thread))
		ocl_launcher_stop(pmd);
	OCL_LOG(NOTICE, "launches=auto: %s", pmd->launcher ? "a thread" : "the lcores");
}

int ocl_launcher_start(struct ocl_pmd *pmd)
{
	if (strcmp(pmd->args.launches, "auto"))
		return start(pmd);
	choose(pmd);
	return 0;
}

void ocl_launcher_stop(struct ocl_pmd *pmd)
{
	struct ocl_launcher *l = pmd->launcher;
	struct timespec until;

	if (l == NULL)
		return;
	__atomic_store_n(&l->stop, true, __ATOMIC_RELEASE);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_S;
	if (pthread_timedjoin_np(l->thread, NULL, &until)) {
		OCL_LOG(ERR, "the thread that launches is stuck in OpenCL");
		pmd->stuck = true;
	} else {
		release(l);
		running--;
	}
	pmd->launcher = NULL;
}
