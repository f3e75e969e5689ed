/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file qp.h
 * Queue pairs: an operation is done when it is enqueued, and waits in a ring until it is fetched.
 * One thread at a time enqueues, and one dequeues.
 */
#ifndef GCM_QP_H
#define GCM_QP_H

#include <cryptodev_pmd.h>
#include <rte_ring.h>

struct gcm_qp {
	struct rte_cryptodev_stats stats; /* first: qp_stats.h */
	struct rte_ring *done;
};

/** @return 0, -ENOMEM, or what rte_ring_create() says; not for more than 2^30 descriptors */
int gcm_qp_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
		 int socket);
int gcm_qp_release(struct rte_cryptodev *dev, uint16_t id);

/* cryptodev's burst functions. */
uint16_t gcm_qp_enqueue(void *qp, struct rte_crypto_op **ops, uint16_t n);
uint16_t gcm_qp_dequeue(void *qp, struct rte_crypto_op **ops, uint16_t n);

#endif
