/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file crypto_worker.h
 * What a worker's crypto consists of. crypto.h says what it does.
 */
#ifndef CYGNETD_CRYPTO_WORKER_H
#define CYGNETD_CRYPTO_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stats.h"
#include "crypto/auto/offload.h"
#include "crypto/batch.h"
#include "crypto/device/engine.h"
#include "crypto/failover.h"
#include "ip/packet.h"

/** Packets that a device gives back in a burst. */
#define CRYPTO_BURST 64u

/** Operations that are collected for a device's queue. */
struct op_batch {
	unsigned int n;
	struct rte_crypto_op *op[2 * CRYPTO_BURST];
};

/** A worker's batches for crypto cores, a ring: free-running positions of the oldest one that has been
 * sent and of the one that is being filled. */
struct crypto_lane {
	struct crypto_batch *batch;
	uint32_t size; /* a power of two; 0: there are no crypto cores */
	uint32_t oldest, filling;
};

struct crypto_worker {
	unsigned int id;    /* of the worker, and its queue pair at each device */
	bool many_sessions; /* sessions_are_many() */
	struct stats *stats;
	struct rte_mempool *ops;
	uint32_t in_flight;		     /* packets at queues and crypto cores */
	uint32_t pending[STATS_MAX_DEVICES]; /* packets in the op batch or queue of each device */
	uint32_t going[STATS_MAX_DEVICES];   /* of these, packets that the device has begun */
	uint32_t refusing; /* bit mask: the device did not take all of the last op batch */
	struct failover failover;
	struct offload offload;
	struct op_batch submit[STATS_MAX_DEVICES];
	struct crypto_lane lane;
	struct rte_mbuf *ready, *last_ready; /* by packet()->next */
	struct crypto_batch batch;
};

/** Where crypto_poll() is. Begin with zeros. */
struct crypto_poll {
	unsigned int device;
	bool begun;
	unsigned int back;  /* packets that the device has given back in this turn */
	unsigned int moved; /* packets that came back from all */
};
/** Whether packets go into the batch whatever their device: there are neither crypto cores nor a policy
 * that chooses a device for each. */
static inline bool crypto_is_direct(const struct crypto_worker *c)
{
	return !offload_enabled && !c->lane.size;
}

/** Whether a device may be called for packets of a session: packets of a chain in the device's queue
 * would come back with them. */
static inline bool crypto_may_call(const struct crypto_worker *c, const struct session *s,
				   unsigned int device)
{
	return s->form != SUITE_CHAIN || !c->pending[device];
}

/** Where to describe the job of the next packet: until the next call. The batch is not full. */
static inline struct esp_job *crypto_job(struct crypto_worker *c)
{
	return &c->batch.job[c->batch.n];
}

/** Count packets that a device has done. */
static inline void crypto_count(struct crypto_worker *c, unsigned int device, bool inbound,
				unsigned int packets, uint64_t bytes)
{
	struct stats_device *d = &c->stats->device[device];

	if (packets)
		failover_worked(&c->failover, device);
	d->bytes += bytes;
	*(inbound ? &d->decrypted : &d->encrypted) += packets;
}

#endif
