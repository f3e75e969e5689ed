/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file queue.h
 * Through the queues of crypto devices and back. Operations are collected for each device, and go to
 * its queue once a turn.
 */
#ifndef CYGNETD_QUEUE_H
#define CYGNETD_QUEUE_H

#include "crypto/crypto_worker.h"

/** Have a device do a packet as crypto_job() says, or another one if the device does not take it.
 * @return DROP_NONE, or why no queue took the packet */
enum drop_reason queue_submit(struct crypto_worker *c, struct rte_mbuf *m, struct session *s,
			      const struct cygnet_sa *sa, unsigned int device);
/** Put a packet that a device has failed in a call, or on a crypto core, into the queue of another
 * device, as job describes it. @return false: no device may get it, or all refused it */
bool queue_retry(struct crypto_worker *c, struct rte_mbuf *m, const struct esp_job *job,
		 unsigned int device);
/** crypto_poll() of device poll->device: one burst.
 * @return whether to call again with the same device */
bool queue_poll(struct crypto_worker *c, struct crypto_poll *poll);
/** Give up the packets that wait for a device: cygnetd ends. They are in crypto_ready(). */
void crypto_drain(struct crypto_worker *c);

#endif
