/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file crypto_core.h
 * Cores that do nothing but crypto, for all workers: `crypto_cores` in cygnetd.conf. A worker
 * collects packets in batches, whichever of these cores is free takes the next one, and the worker
 * has its batches back in the order in which it sent them. All that needs an SA's order
 * (numbers, replay window, counters) stays with the worker that owns the SA, so that one SA
 * may have as many cores as there are.
 */
#ifndef CYGNETD_CRYPTO_CORE_H
#define CYGNETD_CRYPTO_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "conf/conf.h"
#include "esp/esp.h"

struct rte_mbuf;
struct session;
struct worker;

#define CRYPTO_BATCH 32u

/* What a core has to know beside the job. It reads nothing that the worker writes meanwhile. */
struct crypto_todo {
	struct rte_mbuf *m;
	uint8_t *data;		/* of the packet */
	void *crypto;		/* the SA's session on the device */
	uint8_t device;		/* index in engine_device[] */
	uint8_t form;		/* enum suite_form */
	bool alone;		/* nothing is gained by doing several side by side */
};

struct crypto_batch {
	unsigned int n;
	struct crypto_todo todo[CRYPTO_BATCH];
	struct esp_job job[CRYPTO_BATCH] __rte_cache_aligned;
	/* Written by the core: lines of their own. */
	unsigned int left __rte_cache_aligned;	/* packets that are not done */
	uint8_t status[CRYPTO_BATCH];		/* enum rte_crypto_op_status */
	bool done;				/* atomic: all of them are, and status is written */
};

/** A worker's batches, a ring: free-running positions of the oldest one that has been sent and of
 * the one that is being filled. */
struct crypto_lane {
	struct crypto_batch *batch;
	uint32_t size;		/* a power of two; 0: there are no such cores */
	uint32_t oldest, filling;
};

/**
 * Set up the cores and the workers' lanes. After the engines, which have a queue pair for each of
 * these cores behind those of the workers, and after the workers.
 * @return 0 or -errno, logged
 */
int crypto_cores_init(const struct conf *conf);
/** The main loop of one of them (for rte_eal_remote_launch); arg is its number. Returns after
 * crypto_cores_end(). */
int crypto_core_main(void *arg);
/** Have them end. Once no worker sends anything any more. */
void crypto_cores_end(void);
void crypto_cores_free(void);

/** One turn of a core: begin a batch, if one waits, and collect what is done.
 * @return what moved */
unsigned int crypto_core_turn(unsigned int core);

/**
 * Have a packet done by one of the cores as crypt_job() says. This and the rest are a worker's with
 * a lane.
 * @return false: not so; they have enough to do, or it is better done here, or by a device that
 *	   works elsewhere
 */
bool crypto_batch_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa,
		      unsigned int device);
/** Send off what has been collected. */
void crypto_batch_send(struct worker *w);
/** The oldest batch, if it is done. @return NULL if not */
struct crypto_batch *crypto_batch_back(struct worker *w);
/** It is not looked at any more. */
void crypto_batch_reuse(struct worker *w);

#endif
