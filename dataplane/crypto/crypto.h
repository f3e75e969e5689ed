/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file crypto.h
 * A worker's crypto: packets go in one by one, with a job each, and come back in the order of their
 * SA. (Packets that are added to the batch with its vectors in place of a job are for devices that are called.) Three executors do them:
 *  - the worker itself, in a batch (batch.h, sync_queue.h): devices of the CPU, when they are called.
 *    The packets are back when crypto_run() returns.
 *  - crypto cores (core.h), which take whole batches; `crypto_cores` in cygnetd.conf.
 *  - devices with queues (queue.h), a GPU for one.
 * A packet without a job goes into the batch if crypto_is_direct() and no other packet of its SA is
 * in flight. A packet with a job goes to a crypto core if one has room and is worth the transfer; else
 * into the batch, if the device can be called and no packet of the SA is in a queue; else into a queue.
 * crypto_ready() gives the packets that come back from the second and third. No function of this folder
 * calls the path.
 */
#ifndef CYGNETD_CRYPTO_H
#define CYGNETD_CRYPTO_H

#include "crypto/crypto_worker.h"
#include "crypto/order.h"
#include "crypto/queue.h"

/** Set up a worker's crypto. After the engines. @return 0 or -ENOMEM */
int crypto_open(struct crypto_worker *c, unsigned int id, struct stats *counters);
void crypto_close(struct crypto_worker *c);

/* --- packets in --- */

/** Have a packet done as crypto_job() says, by the device that serves the session, or that the policy
 * chooses. @return DROP_NONE: the packet is taken over; else why no device does it */
enum drop_reason crypto_submit(struct crypto_worker *c, struct rte_mbuf *m, struct session *s,
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
/** A received packet that a device has failed by call: another device does it, by its queue. It and
 * packets of its SA behind it come back in their order. Takes over the packet, of which struct
 * packet says everything. */
void crypto_retry(struct crypto_worker *c, struct rte_mbuf *m, const struct esp_job *job,
		  unsigned int device);

/* --- packets back: also crypto_ready(), crypto_wait() in order.h --- */

/**
 * Bring collected operations to the devices, and collect what crypto cores and devices give back. Call
 * until it returns false; after each call crypto_ready() may have packets.
 */
bool crypto_poll(struct crypto_worker *c, struct crypto_poll *poll);
/** Whether there is room for another burst of packets on their way to the devices. If not, packets
 * wait in the ports' queues. */
bool crypto_has_room(const struct crypto_worker *c);

#endif
