/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file core.h
 * Cores that do nothing but crypto, for all workers: `crypto_cores` in cygnetd.conf. A worker
 * collects packets in batches, whichever core is free takes the next batch, and the worker has its
 * batches back in the order in which it sent them. All that needs an SA's order (numbers, replay
 * window, counters) stays with the worker that owns the SA, so that one SA may have as many cores
 * as there are.
 */
#ifndef CYGNETD_CORE_H
#define CYGNETD_CORE_H

#include "conf/conf.h"
#include "crypto/crypto_worker.h"

/** Packets of a batch that goes to a core: cores share the packets of one SA. */
#define CRYPTO_CORE_BATCH 32u

/**
 * Set up the cores. After the engines, which have a queue pair for each of them behind those of the
 * workers; before the workers.
 * @return 0 or -errno, logged
 */
int crypto_cores_init(const struct conf *conf);
/** The main loop of one of them (for rte_eal_remote_launch); arg is its number. Returns after
 * crypto_cores_end(). */
int crypto_core_main(void *arg);
/** Have them end. Once no worker sends anything any more. */
void crypto_cores_end(void);
/** Let crypto cores run again, before they are launched again after crypto_cores_end(). */
void crypto_cores_begin(void);
void crypto_cores_free(void);

/** One turn of a core: execute a batch, if one waits. @return batches executed */
unsigned int crypto_core_turn(unsigned int core);

/** What a core has done. */
struct crypto_core_load {
	uint64_t batches;
	uint64_t busy_cycles; /* of the time-stamp counter, while it had one */
};
/** Any thread. @return false: there is no such core */
bool crypto_core_load(unsigned int core, struct crypto_core_load *load);

/** Give a worker batches for the cores, if there are any. @return 0 or -ENOMEM */
int crypto_lane_init(struct crypto_worker *c);
void crypto_lane_free(struct crypto_worker *c);

/**
 * Have a packet done by one of the cores as crypto_job() says. A worker with a lane.
 * @return false: not added; the cores are busy, this worker is faster, or the packet's device is none of the
 *	   CPU
 */
bool crypto_core_add(struct crypto_worker *c, struct rte_mbuf *m, struct session *s,
		     const struct cygnet_sa *sa, unsigned int device);
/** crypto_poll() of the cores: send what has been collected, and collect one batch.
 * @return whether there was one */
bool crypto_core_poll(struct crypto_worker *c, struct crypto_poll *poll);

#endif
