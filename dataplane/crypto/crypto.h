/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file crypto.h
 * A worker's crypto: packets go in one by one, with a job each, and come back in the order of their
 * SA. Three executors do them:
 *  - the worker itself, in a batch (batch.h, sync_queue.h): devices of the CPU, when they are called.
 *    The packets are back when crypto_run() returns.
 *  - crypto cores (core.h), which take whole batches; `crypto_cores` in cygnetd.conf.
 *  - devices with queues (queue.h), a GPU for one.
 * What comes back from the second and third is in crypto_ready(). Nothing in here calls the path.
 */
#ifndef CYGNETD_CRYPTO_H
#define CYGNETD_CRYPTO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stats.h"
#include "crypto/auto/offload.h"
#include "crypto/batch.h"
#include "crypto/device/engine.h"
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
	uint32_t size;		/* a power of two; 0: there are no crypto cores */
	uint32_t oldest, filling;
};

struct crypto_worker {
	unsigned int id;	/* of the worker, and its queue pair at each device */
	struct stats *stats;
	struct rte_mempool *ops;
	uint32_t in_flight;	/* packets at queues and crypto cores */
	uint32_t at[STATS_MAX_DEVICES];	/* packets in the op batch or the queue of each device */
	uint32_t going[STATS_MAX_DEVICES]; /* of these, packets that the device has begun */
	/* What keeps packets from a device: failover.h. */
	uint32_t late[STATS_MAX_DEVICES]; /* packets beside these that the worker has given up */
	uint32_t refusing;	/* bit mask: the device did not take all of the last op batch */
	uint32_t stalled;	/* bit mask: the device has long given no packet back */
	uint64_t answered[STATS_MAX_DEVICES]; /* TSC: it gave packets back, or got the first */
	uint8_t failures[STATS_MAX_DEVICES]; /* consecutive failures of packets that another device
					      * completed */
	struct offload offload;
	struct op_batch submit[STATS_MAX_DEVICES];
	struct crypto_lane lane;
	struct rte_mbuf *ready, *last_ready; /* by packet()->next */
	struct crypto_batch batch;
};

/** Set up a worker's crypto. After the engines. @return 0 or -ENOMEM */
int crypto_open(struct crypto_worker *c, unsigned int id, struct stats *counters);
void crypto_close(struct crypto_worker *c);

/* --- packets in --- */

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
	return s->form != SUITE_CHAIN || !c->at[device];
}

/** Where to describe the job of the next packet: until the next call. The batch is not full. */
static inline struct esp_job *crypto_job(struct crypto_worker *c)
{
	return &c->batch.job[c->batch.n];
}

/** Have a packet done as crypto_job() says, by the device that serves the session, or that the policy
 * chooses. Takes over the packet; drops it if no device does. */
void crypto_submit(struct crypto_worker *c, struct rte_mbuf *m, struct session *s,
		   const struct cygnet_sa *sa);

/* --- the batch --- */

/** Have devices do the packets of the batch. */
void crypto_run(struct crypto_worker *c);
/** The status of packet i of the batch. An error is counted, and the SA's next packets go elsewhere. */
enum rte_crypto_op_status crypto_batch_status(struct crypto_worker *c, unsigned int i);
/**
 * Packet i of the batch, which has a struct packet, is back.
 * @return whether it goes on now, with packet()->status; else it is, or will be, in crypto_ready()
 */
bool crypto_returned(struct crypto_worker *c, unsigned int i);

/** Count packets that a device has done. */
static inline void crypto_count(struct crypto_worker *c, unsigned int device, bool inbound,
				unsigned int packets, uint64_t bytes)
{
	struct stats_device *d = &c->stats->device[device];

	if (packets)
		c->failures[device] = 0;
	d->bytes += bytes;
	*(inbound ? &d->decrypted : &d->encrypted) += packets;
}

/* --- packets back --- */

/** The next packet whose turn it is, with packet()->status. @return NULL: there is none now */
struct rte_mbuf *crypto_ready(struct crypto_worker *c);
/** A received packet that a device has failed by call: another device does it, by its queue. It and
 * packets of its SA behind it come back in their order. Takes over the packet, of which struct
 * packet says everything. */
void crypto_retry(struct crypto_worker *c, struct rte_mbuf *m, const struct esp_job *job,
		  unsigned int device);
/** A packet has been done, and has to wait for one of its SA before it that crypto_retry() has. */
void crypto_wait(struct crypto_worker *c, struct rte_mbuf *m, enum rte_crypto_op_status status);

/** Where crypto_poll() is. Begin with zeros. */
struct crypto_poll {
	unsigned int device;
	bool begun;
	unsigned int back;	/* packets that the device has given back in this turn, late ones too */
	unsigned int moved;	/* packets that came back from all */
};
/**
 * Bring collected operations to the devices, and collect what crypto cores and devices give back. Call
 * until it returns false; after each call crypto_ready() may have packets.
 */
bool crypto_poll(struct crypto_worker *c, struct crypto_poll *poll);
/** Whether there is room for another burst of packets on their way to the devices. If not, packets
 * wait in the ports' queues. */
bool crypto_has_room(const struct crypto_worker *c);
/** Give up the packets that wait for a device: cygnetd ends. They are in crypto_ready(). */
void crypto_drain(struct crypto_worker *c);
/** Packets that the devices have, also those that no worker waits for. */
uint32_t crypto_at_devices(const struct crypto_worker *c);

#endif
